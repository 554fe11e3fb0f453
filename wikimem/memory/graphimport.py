"""Takes a graph that was written elsewhere into the vault: every edge stated by the file it stands in, in one commit.

Nobody is taken at their word here: neither the sources nor the people that a file names for its edges. An import is
`by` the import, so that an agent may end what it brought, and a person's word counts more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace

from wikimem.errors import Invalid, NotFound, Refused, Unavailable
from wikimem.graph.files import ATTRIBUTES, ATTRIBUTES_PATH, FOLDER, MOST_BYTES, with_triples
from wikimem.graph.incoming.edges import Incoming, Reading
from wikimem.graph.naming import Entity, page_id_of, parse_entity_iri
from wikimem.graph.statements import Assertion, Edge, Ending, digest, entity_triples, time_text
from wikimem.graph.validity import ends_before_start
from wikimem.memory.linksources import AGENT, SOURCE
from wikimem.model.graph import ImportHost
from wikimem.search.graphview import GraphView, open_view
from wikimem.text.homepath import named_path
from wikimem.text.triples import Literal as Value
from wikimem.text.triples import Term, Triple

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

IMPORT: Final = AGENT + "import"
"""Who states what an import brought: neither the person nor the agent who ran it."""
MOST_EDGES: Final = 250_000
"""Of one import: it is one commit."""
MOST_READ: Final = 500_000_000
"""Bytes of all files of one import."""
_EDGES_OF_A_FILE: Final = 20_000
SECRET: Final = "what looks like a secret in its name"


class Imported(Struct, frozen=True):
    """What was read, how many edges of it are `new`, how many were `known`, what was `skipped`, and the commit."""

    reading: Reading
    new: int
    known: int
    skipped: tuple[str, ...]
    commit: str | None


def import_graph(
    wiki: Wiki,
    host: ImportHost,
    path: str,
    *,
    project: str | None = None,
    observations: bool = False,
    dry_run: bool = False,
) -> Imported:
    """Read what lies at `path`, and add what is new of it. With `dry_run` nothing is written.

    Raises NotFound where nothing is there, Invalid where it cannot be read, and Refused for more than one commit can
    hold; nothing is written then.
    """
    place = (wiki.caller.cwd or Path.cwd()) / named_path(path, "path")
    if not path.strip() or not os.path.exists(place):
        raise NotFound(f"path: there is no '{path}'", hint="Name the file, or for basic-memory the folder of notes.")
    source = f"{SOURCE}import:"
    named = place.name.encode("utf-8", "replace").decode()
    reading = _read(host, place, source, project, observations=observations)
    if len(reading.edges) > MOST_EDGES:
        raise Refused(
            f"path: '{path}' has {len(reading.edges)} edges, more than the {MOST_EDGES} that one commit takes",
            hint="Import it in parts.",
        )
    with open_view(wiki) as view:
        skipped = list(reading.skipped)
        edges = list(_sound(wiki, view, reading.edges, skipped))
        if dry_run:
            fresh, known = _fresh(wiki, view, edges)
            return Imported(reading, len(fresh), known, tuple(skipped), None)
        with wiki.transaction("import") as draft:
            view.store.sync(wiki.root)
            fresh, known = _fresh(wiki, view, edges)
            for name, stated in _by_file(host, place.name, fresh).items():
                data = draft.read(name) if draft.exists(name) else b""
                new = with_triples(data, (triple for each in stated for triple in _triples(each)))
                if len(new) > MOST_BYTES:
                    raise Refused(f"'{name}' would be larger than is read", hint="Import it in parts.")
                draft.put(name, new)
            if fresh and not draft.exists(ATTRIBUTES_PATH):
                draft.put(ATTRIBUTES_PATH, ATTRIBUTES)
            draft.subject = f"import: {len(fresh)} edge{'s' if len(fresh) != 1 else ''} from {named} ({host})"
        view.store.sync(wiki.root)
    return Imported(reading, len(fresh), known, tuple(skipped), draft.committed.commit if draft.committed else None)


def _read(host: ImportHost, place: Path, source: str, project: str | None, *, observations: bool) -> Reading:
    if host == "basic-memory":
        from wikimem.graph.incoming.notes import read_notes

        root = place if place.is_dir() else place.parent
        files = _notes(place) if place.is_dir() else [place]
        notes = [(file.relative_to(root).as_posix(), data) for file, data in _bytes_of(files)]
        return read_notes(notes, f"{source}{_quoted(root.name)}/", project, observations=observations)
    if not place.is_file():
        raise Invalid(f"path: '{place}' is no file", hint=f"{host} reads one file.")
    ((_, data),) = _bytes_of([place])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Invalid(f"{place.name}:{line}: not UTF-8", hint="Save it as UTF-8. Nothing was written.") from error
    named = source + _quoted(place.name)
    if host == "nt":
        from wikimem.graph.incoming.ntriples import read_ntriples

        return read_ntriples(text, place.name, named)
    from wikimem.graph.incoming.agentmemory import read_agentmemory

    return read_agentmemory(text, place.name, named, project)


def _quoted(name: str) -> str:
    return quote(name, safe="", errors="surrogateescape")


def _notes(folder: Path) -> list[Path]:
    """The Markdown files of a folder; hidden folders and symbolic links are passed by."""
    found: list[Path] = []
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        paths = (Path(parent, each) for each in files if each.lower().endswith(".md") and not each.startswith("."))
        found += [each for each in paths if each.is_file() and not each.is_symlink()]
    if not found:
        raise NotFound(f"path: no Markdown file in '{folder}'", hint="Name the folder of basic-memory's notes.")
    return sorted(found)


def _bytes_of(files: Iterable[Path]) -> list[tuple[Path, bytes]]:
    read: list[tuple[Path, bytes]] = []
    size = 0
    for file in files:
        try:
            size += file.stat().st_size
            if size > MOST_READ:
                raise Refused(f"path: more than {MOST_READ // 1_000_000} MB", hint="Import it in parts.")
            read.append((file, file.read_bytes()))
        except OSError as error:
            raise Unavailable(
                f"path: '{file}' cannot be read: {error.strerror}", hint="See to its permissions."
            ) from error
    return read


def _sound(wiki: Wiki, view: GraphView, edges: Iterable[Incoming], skipped: list[str]) -> Iterator[Incoming]:
    """The edges that can be stated, secrets taken out of their texts; why not for the others."""
    ends = {end for each in edges for end in (each.subject, each.object) if isinstance(end, str)}
    here = view.store.paths_of_ids([page for end in ends if (page := page_id_of(end))])
    for each in edges:
        why = _why_not(each, here, wiki.redactor.mask)
        if why:
            skipped.append(f"{each.place}: {why}")
            continue
        yield replace(
            each,
            object=_gated(wiki, each.object),
            reasoning=wiki.gate(each.reasoning),
            sentiments=wiki.gate(each.sentiments),
            alternatives=wiki.gate(each.alternatives),
            quotes=wiki.gate(each.quotes),
        )


def _gated(wiki: Wiki, term: Term) -> Term:
    return term if isinstance(term, str) else term._replace(text=wiki.gate(term.text))


def _why_not(each: Incoming, here: dict[str, str], mask: Callable[[str], str]) -> str:
    ends = [end for end in (each.subject, each.object) if isinstance(end, str)]
    if len(set(ends)) < len(ends):
        return "it joins a thing to itself"
    gone = [page for end in ends if (page := page_id_of(end)) is not None and page not in here]
    if gone:
        return f"page {gone[0]} is not in this vault"
    if ends_before_start(each.valid_from, each.valid_to):
        return f"it ends ({each.valid_to}) before it starts ({each.valid_from})"
    if isinstance(each.object, Value) and not each.object.text:
        return "its value is empty"
    names = [*(entity.label for entity in each.named), *ends, each.predicate]
    return SECRET if any(mask(name) != name for name in names) else ""


class _Fresh(Struct, frozen=True):
    edge: Edge
    part: Assertion
    named: tuple[Entity, ...]


def _fresh(wiki: Wiki, view: GraphView, edges: Iterable[Incoming]) -> tuple[list[_Fresh], int]:
    """What the vault does not hold yet, and how many edges it does. What was taken back since stays so."""
    time = time_text(wiki.clock())
    merged: dict[str, tuple[Edge, Assertion, tuple[Entity, ...], str | None]] = {}
    for each in edges:
        edge = Edge(each.subject, each.predicate, each.object, each.valid_from)
        said = _assertion(edge, each)
        before = merged.get(said.id)
        if before:
            said = before[1].merged(said)
        merged[said.id] = (edge, said, each.named, each.valid_to or (before[3] if before else None))
    fresh: list[_Fresh] = []
    for edge, said, named, end in merged.values():
        known = view.store.assertions_of(edge.id).get(said.source)
        if known is None:
            ends = frozenset({end}) if end else frozenset[str]()
            fresh.append(_Fresh(edge, replace(said, generated=frozenset({time}), valid_to=ends), named))
        elif known.lives and end and end not in {each.through for each in known.ends()}:
            # The file says an end now that it did not say when it was first imported.
            ending = Ending(max(time, known.last_time), end)
            fresh.append(_Fresh(edge, Assertion(edge.id, said.source, endings=frozenset({ending})), named))
    return fresh, len(merged) - len(fresh)


def _assertion(edge: Edge, each: Incoming) -> Assertion:
    return Assertion(
        edge.id,
        each.source,
        frozenset({each.weight}),
        frozenset(each.quotes),
        frozenset(each.reasoning),
        frozenset(each.sentiments),
        frozenset(each.alternatives),
        by=frozenset({IMPORT}),
    )


def _by_file(host: str, name: str, fresh: list[_Fresh]) -> dict[str, list[_Fresh]]:
    """Which file of triples takes what: one of this import's own, or many where it is large."""
    stem = f"{FOLDER}/links/import-{digest(host, name)[:16]}"
    if len(fresh) <= _EDGES_OF_A_FILE:
        return {f"{stem}.nt": fresh} if fresh else {}
    files: dict[str, list[_Fresh]] = {}
    for each in fresh:
        files.setdefault(f"{stem}-{each.edge.id[-2:]}.nt", []).append(each)
    return files


def _triples(each: _Fresh) -> Iterator[Triple]:
    yield from each.edge.triples()
    yield from each.part.triples()
    for entity in each.named:
        if parse_entity_iri(entity.iri) is not None:
            yield from entity_triples(entity)
