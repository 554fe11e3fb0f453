"""The graph of a vault as a text in a format of RDF, given back or written to a file."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from wikimem.errors import Invalid, Refused
from wikimem.graph.serialize import masked, serialize
from wikimem.model.graph import ExportFormat
from wikimem.search.graphtriples import graph_triples
from wikimem.search.graphview import open_view
from wikimem.text.homepath import named_path

if TYPE_CHECKING:
    from wikimem.wiki import Wiki


class Exported(Struct, frozen=True):
    """How many triples; their text, or the file that it was written to."""

    count: int
    text: str | None
    path: str | None


def export_graph(
    wiki: Wiki,
    format: ExportFormat,
    moment: datetime,
    *,
    project: str | None = None,
    entity: str | None = None,
    out: str | None = None,
    keep_missing: bool = False,
) -> Exported:
    """The graph as `project` may see it, or the edges of one entity, with plain triples for what holds at `moment`.

    Raises NotFound or Invalid for an entity that is not one, Refused for a file in the vault, and as `write_atomically`
    does for one that cannot be written.
    """
    if entity is not None and not entity.strip():
        raise Invalid("entity: the name is empty", hint="Write type:name, such as library:jose.")
    file = _file(wiki, out) if out is not None else None
    with open_view(wiki, project, keep_missing=keep_missing) as view:
        about = view.find(entity) if entity is not None else None
        triples = set(masked(graph_triples(view, moment, about), wiki.redactor.mask))
    text = serialize(triples, format)
    if file is None:
        return Exported(len(triples), text, None)
    from wikimem.vault.files import write_atomically

    write_atomically(file, text.encode())
    return Exported(len(triples), None, str(file))


def _file(wiki: Wiki, out: str) -> Path:
    if not out.strip():
        raise Invalid("out: the name is empty", hint="Name a file, such as graph.ttl.")
    file = Path(os.path.normpath((wiki.caller.cwd or Path.cwd()) / named_path(out, "out")))
    if file.resolve().is_relative_to(wiki.root.resolve()):
        raise Refused(
            f"out: '{out}' is in the vault, which an export is a copy of", hint="Name a file outside of the vault."
        )
    if os.path.exists(file) and not os.path.isfile(file):
        raise Invalid(f"out: '{out}' is no file", hint="Name a file; without out, the text goes to standard output.")
    return file
