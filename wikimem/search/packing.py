"""Packing: as much as fits of what was offered, in the order in which it was offered, into a budget of tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from msgspec import Struct

from wikimem.search.fence import ITEM_MARK, disarm, fenced, one_line
from wikimem.search.hits import Excerpt, Hit
from wikimem.search.query import fold
from wikimem.text.tokens import estimate_tokens

Reason = Literal["pinned", "profile", "task", "file", "search", "recent"]

RESERVED_SHARE: Final[Mapping[Reason, float]] = {
    "pinned": 0.5,
    "profile": 0.6,
    "task": 0.7,
    "file": 0.75,
    "search": 1.0,
    "recent": 1.0,
}
"""Up to which share of the budget each kind may fill it at first, so that pinned pages leave room for the answer.
What is left in the end goes to whatever was passed over, in the same order."""

ID_SUFFIX: Final = 8
"""Characters of an id that are shown. Six are enough to address a page in a vault of ordinary size."""

ELLIPSIS: Final = "[...]"


class Offer(Struct, frozen=True):
    """A page that may go in: whole, where `whole` is given, else by its excerpts, best first."""

    hit: Hit
    reason: Reason
    excerpts: tuple[Excerpt, ...]
    whole: str | None = None


class ContextItem(Struct, frozen=True):
    """A page in the pack. `text` is its text as it stands in the block; `whole` tells whether that is all of it."""

    id: str
    path: str
    title: str
    type: str
    status: str
    heading: str
    text: str
    whole: bool
    reason: Reason
    sources: tuple[str, ...]
    valid_from: datetime | None
    valid_to: datetime | None
    confidence: float | None
    trust: str
    revision: str
    score: float
    tokens: int


class ContextPack(Struct, frozen=True):
    """A block for a model and its receipt: what it costs, and what the whole vault would have cost, in tokens.

    `text` is empty where nothing was found or nothing fits; `note` then says which. `answered` and `stale` are
    those of the search.
    """

    text: str
    items: tuple[ContextItem, ...]
    tokens: int
    vault_tokens: int
    note: str = ""
    answered: Mapping[str, str] = field(default_factory=dict)
    stale: int = 0


@dataclass(slots=True)
class _Block:
    """The block as it grows. Its true cost is estimated on the whole text, so that joints and fences count."""

    budget: int
    items: list[ContextItem] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    told: set[str] = field(default_factory=set)
    tokens: int = 0

    def add(self, offer: Offer, ceiling: float) -> bool:
        """Add the fullest form of an offer that fits; False when none does. A text is never told twice."""
        for text, heading, whole in _forms(offer):
            if fold(text) in self.told:
                return True
            part = _part(offer.hit, len(self.items) + 1, heading, text)
            cost = estimate_tokens(part)
            if self.tokens + cost > ceiling:
                continue
            tokens = estimate_tokens(fenced([*self.parts, part]))
            if tokens <= ceiling:
                self.items.append(_item(offer, heading, text, whole=whole, tokens=cost))
                self.parts.append(part)
                self.told.add(fold(text))
                self.tokens = tokens
                return True
        return False


def pack(offers: Sequence[Offer], budget: int, vault_tokens: int) -> ContextPack:
    """Fill the budget: the same offers always give the same block, and the block never costs more than the budget."""
    block = _Block(budget)
    passed_over = [offer for offer in offers if not block.add(offer, budget * RESERVED_SHARE[offer.reason])]
    for offer in passed_over:
        if RESERVED_SHARE[offer.reason] < 1.0:
            block.add(offer, budget)
    if not offers:
        note = "nothing was found"
    elif not block.items:
        note = f"nothing of what was found fits into {budget} tokens"
    else:
        note = ""
    text = fenced(block.parts) if block.parts else ""
    return ContextPack(text, tuple(block.items), block.tokens, vault_tokens, note)


def _forms(offer: Offer) -> list[tuple[str, str, bool]]:
    forms = [] if offer.whole is None else [(disarm(offer.whole).strip(), "", True)]
    for count in range(len(offer.excerpts), 0, -1):
        chosen = sorted(offer.excerpts[:count], key=lambda excerpt: excerpt.start)
        heading = offer.excerpts[0].heading
        forms.append((_joined(chosen, heading), heading, False))
    forms = [form for form in forms if form[0]]
    # A page may say all that it says in its title, but the title of a profile is only the project's name.
    if not forms and offer.hit.type != "profile":
        forms.append((disarm(one_line(offer.hit.title)), "", True))
    return forms


def _joined(excerpts: Sequence[Excerpt], heading: str) -> str:
    """Join passages of one page in the page's order; one from under another heading is preceded by that heading."""
    texts = []
    for excerpt in excerpts:
        under = f"({one_line(excerpt.heading)})\n" if excerpt.heading and excerpt.heading != heading else ""
        texts.append(under + disarm(excerpt.text).strip())
    return f"\n{ELLIPSIS}\n".join(texts)


def _part(hit: Hit, number: int, heading: str, text: str) -> str:
    place = hit.path.removesuffix(".md") + (f"#{heading.rsplit(' > ', 1)[-1]}" if heading else "")
    about = "; ".join(
        (
            hit.type if hit.status == "active" else f"{hit.type}, {hit.status}",
            validity(hit.valid_from, hit.valid_to),
            "confidence unstated" if hit.confidence is None else f"confidence {hit.confidence:g}",
            f"trust {hit.trust}",
        )
    )
    cite = f"[[{one_line(place)}]] id {hit.id[-ID_SUFFIX:]}; {one_line(about)}"
    way = hit.trace.graph_path
    # The way over links between pages says no more than the pages do; what is asserted is told nowhere else.
    graph = f"graph: {one_line(disarm(way))}\n" if way.startswith("[") and ("-->" in way or "<--" in way) else ""
    return f"{ITEM_MARK} {number}. {one_line(hit.title)}\n{cite}\n{graph}{text}"


def validity(begin: datetime | None, end: datetime | None) -> str:
    """Say in words when something holds."""
    if begin is None and end is None:
        return "validity unstated"
    if end is None:
        return f"valid from {_day(begin)}"
    return f"valid until {_day(end)}" if begin is None else f"valid {_day(begin)} to {_day(end)}"


def _day(moment: datetime | None) -> str:
    if moment is None:
        return ""
    midnight = (moment.hour, moment.minute, moment.second) == (0, 0, 0)
    return moment.date().isoformat() if midnight else moment.isoformat(timespec="minutes")


def _item(offer: Offer, heading: str, text: str, *, whole: bool, tokens: int) -> ContextItem:
    hit = offer.hit
    return ContextItem(
        id=hit.id,
        path=hit.path,
        title=hit.title,
        type=hit.type,
        status=hit.status,
        heading=heading,
        text=text,
        whole=whole,
        reason=offer.reason,
        sources=hit.sources,
        valid_from=hit.valid_from,
        valid_to=hit.valid_to,
        confidence=hit.confidence,
        trust=hit.trust,
        revision=hit.revision,
        score=hit.score,
        tokens=tokens,
    )
