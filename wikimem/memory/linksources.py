"""Where an assertion comes from: the source that a caller names as an IRI, and back in words."""

from __future__ import annotations

import contextlib
import os
import secrets
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote

from msgspec import Struct

from wikimem.errors import Invalid
from wikimem.graph.naming import make_entity, page_id_of, page_iri, quoted_iri
from wikimem.text.links import parse_wikilink

if TYPE_CHECKING:
    from wikimem.search.graphview import GraphView
    from wikimem.wiki import Wiki

SOURCE: Final = "urn:wikimem:source:"
STATED: Final = "urn:wikimem:stated:"
AGENT: Final = "urn:wikimem:agent:"
PERSON: Final = "urn:wikimem:person:"
QUOTED: Final = "q-"
"""Begins the fragment of a source that stands for the quoted words themselves, where they have no block."""
_SCHEMES: Final = ("http://", "https://")
_PLAIN: Final = ("file:", "commit:")


class Source(Struct, frozen=True):
    """The IRI of a source, and the page that asserts, where the source is one."""

    iri: str
    page_id: str | None = None


def source_of(wiki: Wiki, written: str | None) -> Source:
    """What `written` names: a page or a block of one, a URL, `file:path@commit`, `commit:sha`; None is the caller.

    Raises NotFound or Invalid for a page that is not one page.
    """
    if written is None:
        return Source(_caller(wiki))
    text = written.strip()
    if text.startswith(_SCHEMES):
        return Source(quoted_iri(text))
    if text.startswith(_PLAIN):
        return Source(SOURCE + quote(text, safe=":/@"))
    link = parse_wikilink(text) if text.startswith("[[") else None
    if link is not None and not link.target:
        raise Invalid(f"source: '{text}' names no page", hint="Write [[Page#^block]].")
    row = wiki.find_to_write(link.target if link else text)
    fragment = f"#{quote(link.fragment, safe='^')}" if link and link.fragment else ""
    return Source(page_iri(row.id) + fragment.replace("^", "%5E"), row.id)


def attributed_to(wiki: Wiki) -> str:
    """The IRI of who asserts: the agent, or the person that git knows."""
    if wiki.caller.agent is not None:
        return AGENT + quote(wiki.caller.agent, safe="")
    return make_entity("person", wiki.repository.person().name or "somebody").iri


def _caller(wiki: Wiki) -> str:
    if wiki.caller.agent is None:
        return STATED + "person:" + quote(wiki.repository.person().name, safe="")
    session = f"/{quote(wiki.caller.session, safe='')}" if wiki.caller.session else ""
    return f"{STATED}agent:{quote(wiki.caller.agent, safe='')}{session}"


def source_in_words(view: GraphView, iri: str) -> str:
    """A source as a reader can follow it: `path#^block`, a URL, `commit:sha`, `stated by Ada`."""
    page_id = page_id_of(iri)
    if page_id is not None:
        path = view.store.paths_of_ids([page_id]).get(page_id)
        block = unquote(iri.partition("#")[2])
        # The words that a page is quoted with are no place in it.
        block = "" if block.startswith(QUOTED) else block
        return (path or f"a page that is gone ({page_id})") + (f"#{block}" if block else "")
    if iri.startswith(STATED):
        return f"stated by {unquote(iri.removeprefix(STATED).partition(':')[2])}"
    return unquote(iri.removeprefix(SOURCE)) if iri.startswith(SOURCE) else iri


def installation_of(wiki: Wiki) -> str:
    """The name of this user's wikimem for this vault, made when it is first needed: a random text that says nothing."""
    file = wiki.folders.state / "installation"
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as opened:
            opened.write(secrets.token_hex(8))
    name = file.read_text(encoding="ascii").strip()
    if name:
        return name
    # A crash between making and writing it; nobody has used an empty name.
    file.write_text(secrets.token_hex(8), encoding="ascii")
    return file.read_text(encoding="ascii")
