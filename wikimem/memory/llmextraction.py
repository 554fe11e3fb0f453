"""Asking a language model what pages state. What it finds enters the graph as what rules find, at half its weight.

    client = client_of(wiki)                      raises Unavailable where this user has named no model
    planned(wiki, rows, client)                   what would be sent; nothing is
    read = read_pages(wiki, rows, client)         the edges that the pages bear out, and a receipt
    extract_pages(wiki, rows, more=read.stated)   keeps them
    remember(wiki, read)                          so that the same parts are not asked about again

Pages are masked before they are sent, and never sent in a run that only shows what it would do. The vault is not locked
meanwhile: what a page no longer says when its edges are kept counts nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from msgspec import Struct

from wikimem.errors import Unavailable, WikimemError
from wikimem.graph.statements import digest
from wikimem.llm.answers import read_items
from wikimem.memory.extraction import HIDDEN, Stated, stated_by
from wikimem.memory.generated import without_generated
from wikimem.memory.linksources import AGENT
from wikimem.memory.llmchecks import checked, misshapen, source_of
from wikimem.memory.llmprompt import FIELDS, LIST, Part, parts_of, prompt_digest, prompt_of, repaired
from wikimem.memory.llmread import ReadParts
from wikimem.model.hit import PageRow
from wikimem.text.llm import EXAMPLE

if TYPE_CHECKING:
    from wikimem.llm.client import LlmClient
    from wikimem.llm.prompt import Prompt, Reply
    from wikimem.wiki import Wiki

BY_MODEL: Final = AGENT + "extraction-llm/"
"""Begins the IRI of who states what a model found; the name of the model follows."""
_CUT: Final = "Your answer was cut off, since it was too long. Give fewer edges: the surest ones."
_UNREADABLE: Final = "Your answer could not be read as JSON."
_MISSHAPEN: Final = "Not every edge had subject and object with type and name, relation, quote and basis as texts."


class Planned(Struct, frozen=True):
    """What would be asked: each part with its prompt. `known` parts were asked about before."""

    prompts: tuple[tuple[Part, Prompt], ...]
    known: int


@dataclass(slots=True)
class LlmRead:
    """What a model found, by path of the page, and how it went. `stopped` says why the rest was not asked about."""

    stated: dict[str, list[Stated]] = field(default_factory=dict)
    parts: int = 0
    known: int = 0
    repaired: int = 0
    unread: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    stopped: str | None = None
    answered: list[str] = field(default_factory=list)
    """Digests of the parts whose answers could be read."""


def client_of(wiki: Wiki) -> LlmClient:
    """The model that this user's configuration names. Raises Unavailable where it names none."""
    from wikimem.llm.client import LlmClient
    from wikimem.llm.ledger import Ledger
    from wikimem.vault.folders import user_folders

    folders = user_folders()
    if wiki.user.llm is None:
        raise Unavailable(
            "no language model is configured, so nothing was asked",
            hint=f"Name one in {folders.config / 'config.toml'}, for example: "
            f"{'; '.join(EXAMPLE.splitlines())}. See `wikimem help llm`.",
        )
    return LlmClient(wiki.user.llm, Ledger(folders.state))


def planned(wiki: Wiki, rows: Sequence[PageRow], client: LlmClient, *, again: bool = False) -> Planned:
    """What is to be asked about pages; with `again` also what was asked about before and has not changed."""
    mask = wiki.redactor.mask
    parts = [part for row in rows if row.status not in HIDDEN for part in parts_of(row, _masked(wiki, row))]
    keys = {part.key: _digest(client, part) for part in parts}
    known = set() if again else ReadParts(wiki.folders.cache).known(keys.values())
    left = [part for part in parts if keys[part.key] not in known]
    prompts = tuple(
        (part, prompt_of(part, mask(part.row.title), mask(part.row.type), mask(part.row.project or "")))
        for part in left
    )
    return Planned(prompts, len(parts) - len(left))


def read_pages(wiki: Wiki, rows: Sequence[PageRow], client: LlmClient, *, again: bool = False) -> LlmRead:
    """Ask about pages, part by part, and keep what they bear out.

    A failure, or a limit that is reached, ends the asking; what was answered till then counts. Raises what ended it
    where nothing was answered.
    """
    client.check()
    plan = planned(wiki, rows, client, again=again)
    read = LlmRead(known=plan.known)
    for done, (part, prompt) in enumerate(plan.prompts):
        if wiki.progress is not None:
            wiki.progress("asking the language model", done, len(plan.prompts))
        try:
            _read_part(wiki, part, prompt, client, read)
        except WikimemError as error:
            if not read.parts:
                raise
            left = len(plan.prompts) - read.parts
            read.stopped = f"{error.message}; {left} of {len(plan.prompts)} parts were not asked about. {error.hint}"
            break
    return read


def remember(wiki: Wiki, read: LlmRead) -> None:
    """Put down what was asked about, once its edges are kept."""
    if not ReadParts(wiki.folders.cache).add(read.answered):
        wiki.notes.append("what was asked about could not be put down, so it would be asked about again")


def _read_part(wiki: Wiki, part: Part, prompt: Prompt, client: LlmClient, read: LlmRead) -> None:
    reply = client.ask(prompt)
    read.parts += 1
    items = read_items(reply.text, LIST, FIELDS)
    failure: WikimemError | None = None
    if fault := _fault(reply, items):
        try:
            second = _asked_again(client, repaired(prompt, reply.text, fault))
        except WikimemError as error:
            failure, second = error, None
        if second is not None:
            read.repaired += 1
            items = second
    _check(wiki, part, client, items, read)
    if failure is not None:
        raise failure


def _check(wiki: Wiki, part: Part, client: LlmClient, items: list[object] | None, read: LlmRead) -> None:
    """Keep of an answer what the page bears out."""
    if items is None:
        read.unread += 1
        return
    read.answered.append(_digest(client, part))
    row = part.row
    about = [wiki.redactor.mask(text) for text in (row.title, *row.aliases, row.project or "")]
    page = wiki.read_page(row.path)
    source = source_of(part.text, page.body if page is not None else "", about)
    who = BY_MODEL + quote(client.settings.model, safe=":")
    for edge in checked(items, source, read.dropped):
        stated = stated_by(wiki, row, edge, who)
        if isinstance(stated, str):
            read.dropped[stated] += 1
        else:
            _keep(read, row.path, stated)


def _keep(read: LlmRead, path: str, stated: Stated) -> None:
    """Once for a page: another part of it may have said the same."""
    kept = read.stated.setdefault(path, [])
    if all(each.edge.id != stated.edge.id for each in kept):
        kept.append(stated)


def _fault(reply: Reply, items: list[object] | None) -> str:
    """What is wrong with an answer that is worth one more question; empty where nothing is."""
    if reply.declined:
        return ""
    if items is None:
        return _CUT if reply.cut else _UNREADABLE
    return _MISSHAPEN if misshapen(items) else ""


def _asked_again(client: LlmClient, prompt: Prompt) -> list[object] | None:
    """The items of the second answer; None where it is no better. The first one still counts for what it has."""
    items = read_items(client.ask(prompt).text, LIST, FIELDS)
    return None if items is None or misshapen(items) == len(items) > 0 else items


def _masked(wiki: Wiki, row: PageRow) -> str:
    page = wiki.read_page(row.path)
    if page is None or page.has_conflict:
        return ""
    return wiki.redactor.mask(without_generated(page.body))


def _digest(client: LlmClient, part: Part) -> str:
    return digest(prompt_digest(client.settings.model), part.key)
