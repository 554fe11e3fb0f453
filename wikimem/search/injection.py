"""Injection: what an agent is given without asking, when its session starts and when its person asks something.

    pack = pack_injection(wiki.index, occasion, where, now=..., read_page=..., mask=...)

In order: pinned pages, the project's Profile, its open tasks; then, at a prompt, pages that name the files at hand and
what fits the prompt, and at a start the latest decisions, lessons and the last session. What web pages and tools said
comes last, labelled, and never alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from wikimem.index.parts import Missing
from wikimem.model.hit import PageFilter, PageRow
from wikimem.model.page import Page
from wikimem.search.context import Gathering, found_pages, listed_pages, pages_naming, pinned_pages
from wikimem.search.current import PageReader
from wikimem.search.fence import disarm
from wikimem.search.hits import Excerpt, Hit
from wikimem.search.ownwords import own_words
from wikimem.search.packing import ContextPack, Offer, pack
from wikimem.search.query import Query, parse_query
from wikimem.text.analysis import index_terms
from wikimem.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from wikimem.index.index import Index

CHARACTERS: Final = 8000
"""What agents pass on whole from a hook."""

LEAST_BUDGET: Final = 60
"""Tokens below which no page fits between the fences."""

UNVERIFIED: Final = {"web": "unverified, from the web", "tool": "unverified, from a tool"}
"""Who may have said it, in words, for trust that is too low to come first."""

LATEST: Final = ("decision", "lesson", "preference", "procedure")
MOST_LATEST: Final = 6
MOST_TASKS: Final = 5
LATEST_SESSIONS: Final = 12
"""Sessions that are looked at for the latest that has a digest."""

MOST_HITS: Final = 8
DIGEST: Final = "Digest"
"""The heading under which a session page says what came of the session."""

QUERY_HEAD: Final = 1500
QUERY_TAIL: Final = 500
"""Characters of a long prompt that are searched for: what a person asks stands before or after what they paste."""

_FILE = re.compile(r"(?<![\w./-])(?:[\w.@-]+/)*[\w@-]+(?:\.[\w-]+)*\.[A-Za-z][A-Za-z0-9]{0,7}(?![\w/])")
_HEADINGS: Final = re.compile(r"^#{1,6}(?:[ \t].*)?$", re.MULTILINE)
_MOST_FILES: Final = 5
_WRAP: Final = "<wikimem>\n{block}{receipt}\n</wikimem>"


@dataclass(frozen=True, slots=True)
class Occasion:
    """What is given for. `prompt` is empty at the start of a session; `given` are keys of what the session has.

    `own` is the session itself, whose page is left out; empty where it may be told again, after a compaction.
    `budget` in tokens.
    """

    prompt: str
    budget: int
    given: frozenset[str] = frozenset()
    own: str = ""


@dataclass(frozen=True, slots=True)
class Injection:
    """`text` for the model, fenced and marked; empty where nothing is worth saying. `given` are keys of its items.

    `tokens` is what it costs, `vault_tokens` what the whole vault would have cost.
    """

    text: str = ""
    given: tuple[str, ...] = ()
    tokens: int = 0
    vault_tokens: int = 0


def pack_injection(
    index: Index,
    occasion: Occasion,
    where: PageFilter,
    *,
    now: datetime,
    read_page: Callable[[str], Page | None],
    mask: Callable[[str], str],
) -> Injection:
    """Pack what the occasion calls for into its budget. `where` applies to everything, as in a search."""
    whole = index.counts().tokens
    budget = occasion.budget - estimate_tokens(_WRAP.format(block="", receipt=_receipt(whole, whole))) - 1
    gathering = Gathering(index, where, now, max(budget, 1), PageReader(read_page, mask, where))
    offers = [
        offer
        for each in _offers(gathering, occasion)
        if not (occasion.own and each.hit.session == occasion.own)
        and (said := _in_own_words(each)) is not None
        and (offer := _not_given(said, occasion.given)) is not None
    ]
    while offers and budget >= LEAST_BUDGET:
        packed = _packed(offers, budget, whole)
        if not packed.items:
            break
        text = _WRAP.format(block=packed.text, receipt=_receipt(packed.tokens, whole))
        tokens = estimate_tokens(text)
        if len(text) <= CHARACTERS and tokens <= occasion.budget:
            return Injection(text, _keys(offers, packed), tokens, whole)
        budget -= max(budget // 10, 1)
    return Injection(vault_tokens=whole)


def files_in(text: str) -> tuple[str, ...]:
    """The files that a prompt names, as it writes them, the first few."""
    found = dict.fromkeys(match[0] for match in _FILE.finditer(text) if not match[0].replace(".", "").isdigit())
    return tuple(found)[:_MOST_FILES]


def _offers(gathering: Gathering, occasion: Occasion) -> Iterator[Offer]:
    asks = bool(occasion.prompt.strip())
    begun = {key.partition("#")[0] for key in occasion.given}
    for offer in pinned_pages(gathering):
        if not asks or _page_key(offer) not in begun:
            yield offer
        else:
            # The rest of a long page that was begun is given where a prompt asks for it, not because it is pinned.
            gathering.offered.discard(offer.hit.path)
    if not asks or not begun:
        yield from listed_pages(gathering, _rows(gathering, "profile", 1), "profile")
        yield from listed_pages(gathering, _rows(gathering, "task", MOST_TASKS), "task")
    if not asks:
        yield from _latest(gathering, occasion)
        return
    asked = _shortened(occasion.prompt)
    yield from pages_naming(gathering, files_in(asked))
    hits = gathering.search(asked, MOST_HITS, ("words", "vectors", "graph")).hits
    floor = Floor(gathering.index, parse_query(asked, gathering.now))
    yield from found_pages(gathering, [hit for hit in hits if floor.admits(hit)])


def _latest(gathering: Gathering, occasion: Occasion) -> Iterator[Offer]:
    if not gathering.where.project:
        return
    latest = chain.from_iterable(_rows(gathering, kind, MOST_LATEST) for kind in LATEST)
    newest = sorted(latest, key=_age, reverse=True)[:MOST_LATEST]
    # What was done last says where the work stands; the newest decisions may be of long ago.
    yield from _last_session(gathering, occasion)
    yield from listed_pages(gathering, newest, "recent")


def _last_session(gathering: Gathering, occasion: Occasion) -> Iterator[Offer]:
    """The digest of the latest session that has one: of one that goes on, or a lone note, nothing is to be told."""
    for row in _rows(gathering, "session", LATEST_SESSIONS):
        if occasion.own and row.session == occasion.own:
            continue
        for offer in listed_pages(gathering, [row], "recent", section=DIGEST):
            if DIGEST in offer.excerpts[0].heading.split(" > ") and _in_own_words(offer) is not None:
                yield offer
                return
            gathering.offered.discard(row.path)


def _rows(gathering: Gathering, kind: str, limit: int) -> list[PageRow]:
    """Pages of that type of the project at hand, newest first; none where there is no project."""
    if not gathering.where.project:
        return []
    where = replace(gathering.where, with_global=False, types=(kind,))
    return gathering.index.list_pages(where, sort="created", limit=limit)


def _age(row: PageRow) -> datetime:
    moment = row.created or row.mtime or datetime.min
    return moment.astimezone().replace(tzinfo=None) if moment.tzinfo else moment


def _shortened(prompt: str) -> str:
    if len(prompt) <= QUERY_HEAD + QUERY_TAIL:
        return prompt
    return f"{prompt[:QUERY_HEAD]}\n{prompt[-QUERY_TAIL:]}"


class Floor:
    """Whether what a search found for a prompt is worth saying unasked.

    A page is where it is near the prompt in meaning; or where it holds at least two of the prompt's words that carry
    some of its weight, and is not far in meaning. Without vectors, or in a language that the model does not know, the
    words have to carry half of the weight.

    Chosen in 2026 on the example vault with 25 prompts about its project and 25 such as "thanks, looks good" or "write
    a haiku about autumn" (`python -m benchmark.hooks.floor`): 21 of the first are given something and 1 of the others,
    for 23 of which a search finds something.
    """

    NEAR: Final = 0.4
    """The cosine that suffices."""

    NOT_FAR: Final = 0.3
    SOME: Final = 0.3
    HALF: Final = 0.5
    """Shares of the weight of the prompt's words, which is their rarity in the vault."""

    LEAST_WORDS: Final = 2

    def __init__(self, index: Index, query: Query) -> None:
        self._index = index
        self._query = query
        self._rarity = index.words.rarity(set(query.terms)) if query.terms else {}

    def admits(self, hit: Hit) -> bool:
        """Whether this hit is worth saying."""
        words, share = self.shared(hit)
        nearness = self.nearness(hit)
        if nearness is None:
            return words >= self.LEAST_WORDS and share >= self.HALF
        return nearness >= self.NEAR or (words >= self.LEAST_WORDS and share >= self.SOME and nearness >= self.NOT_FAR)

    def shared(self, hit: Hit) -> tuple[int, float]:
        """How many of the prompt's words the hit's title and passages hold, and their share (0 to 1) of its weight."""
        total = math.fsum(self._rarity.values())
        held = self._rarity.keys() & set(index_terms(_told(hit)))
        return len(held), math.fsum(self._rarity[term] for term in held) / total if total else 0.0

    def nearness(self, hit: Hit) -> float | None:
        """The cosine (-1 to 1) of the prompt and the hit's best passage under its title; None without vectors."""
        vectors = self._index.vectors
        if isinstance(vectors, Missing) or vectors.left_out(self._query.text):
            return None
        asked, told = vectors.encode([self._query.text, f"{hit.title}\n{hit.passage}"])
        return float(asked @ told)


def _told(hit: Hit) -> str:
    return "\n".join((hit.title, hit.passage, *(excerpt.text for excerpt in hit.more)))


def _in_own_words(offer: Offer) -> Offer | None:
    """A page of a session without what tools and web pages said in it; None where nothing is left."""
    if offer.hit.type != "session":
        return offer
    told = (replace(excerpt, text=own_words(excerpt.text)) for excerpt in offer.excerpts)
    kept = tuple(excerpt for excerpt in told if _HEADINGS.sub("", excerpt.text).strip())
    return replace(offer, excerpts=kept, whole=own_words(offer.whole) if offer.whole else None) if kept else None


def _not_given(offer: Offer, given: frozenset[str]) -> Offer | None:
    """The offer less what the session was given before; None where nothing is left. A page that changed is news."""
    page = _page_key(offer)
    if page in given:
        return None
    left = tuple(excerpt for excerpt in offer.excerpts if f"{page}#{excerpt.start}" not in given)
    if len(left) == len(offer.excerpts):
        return offer
    return replace(offer, excerpts=left, whole=None) if left else None


def _keys(offers: Sequence[Offer], packed: ContextPack) -> tuple[str, ...]:
    """What to remember as given: a page by id and revision, or its passages by where they begin."""
    by_path = {offer.hit.path: offer for offer in offers}
    keys: list[str] = []
    for item in packed.items:
        offer = by_path[item.path]
        page = _page_key(offer)
        shown = [excerpt for excerpt in offer.excerpts if _said(excerpt, item.text)]
        keys += [page] if item.whole else [f"{page}#{excerpt.start}" for excerpt in shown]
    return tuple(keys)


def _said(excerpt: Excerpt, text: str) -> bool:
    return disarm(excerpt.text).strip() in text


def _page_key(offer: Offer) -> str:
    return f"{offer.hit.id}@{offer.hit.revision[:12]}"


def _packed(offers: Sequence[Offer], budget: int, whole: int) -> ContextPack:
    """Pack what is trusted first; what is not follows with its label, and is never the first thing said."""
    trusted = [offer for offer in offers if offer.hit.trust not in UNVERIFIED]
    packed = pack(trusted, budget, whole)
    unverified = [_labelled(offer) for offer in offers if offer.hit.trust in UNVERIFIED]
    if not packed.items or not unverified:
        return packed
    both = pack([*trusted, *unverified], budget, whole)
    return both if both.items[0].trust not in UNVERIFIED else packed


def _labelled(offer: Offer) -> Offer:
    title = f"({UNVERIFIED[offer.hit.trust]}) {offer.hit.title}"
    return replace(offer, hit=replace(offer.hit, title=title))


def _receipt(tokens: int, whole: int) -> str:
    return f"wikimem: {tokens:,} tokens recalled; all of the memory is {whole:,}. `search` and `read` give more."
