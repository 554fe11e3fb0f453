"""The joint ranking before its pages are read: what lifts a page or passage beside others that were found."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from wikimem.index.manifest import PageRows
from wikimem.model.hit import PageRow, PassageRow, Trace
from wikimem.search.boosts import date_boosts
from wikimem.search.query import Query

PRECEDING: Final = 0.1
"""The share of a passage's score that the next passage of the page gains, where passages are the hits: an answer
follows its question, and often repeats none of its words. More raises R@5 of LoCoMo's turns further and lowers R@1."""

PART: Final = 1.0
"""What the best page for one part of a compound question gains, as a share of the best score for the whole: as much as
the best page has. Chosen on the 28 compound questions of lme_pool's development half; 0.4 to 2 found the same pages."""


class Candidate(Struct, frozen=True):
    """A page or passage in the joint ranking, not read yet: `passages` are its best ones, best first.

    `rows` are those of everything that was found; most candidates are never asked for theirs.
    """

    page: int
    passages: tuple[PassageRow, ...]
    score: float
    trace: Trace
    rows: PageRows

    @property
    def row(self) -> PageRow:
        return self.rows[self.page]


def total(trace: Trace) -> float:
    """Give the score that a trace adds up to."""
    return math.fsum((*trace.parts.values(), *trace.boosts.values()))


def ordered(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Best first; equal ones in an order that no index changes."""
    return sorted(candidates, key=lambda each: (-each.score, each.rows.identity(each.page), each.passages[0].ordinal))


def lifted(candidate: Candidate, boosts: Mapping[str, float]) -> Candidate:
    """The candidate with further boosts, given as scores; those of 0 are left out."""
    gained = {name: boost for name, boost in boosts.items() if boost}
    if not gained:
        return candidate
    trace = replace(candidate.trace, boosts={**candidate.trace.boosts, **gained})
    return replace(candidate, score=total(trace), trace=trace)


def with_dates(query: Query, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Lift what is of the time that the question names."""
    if query.period is None:
        return list(candidates)
    shares = date_boosts(query, [each.row for each in candidates])
    best = _best(candidates)
    return [lifted(each, {"date": share * best}) for each, share in zip(candidates, shares, strict=True)]


def with_preceding(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Lift each passage by the one before it on its page."""
    scores = {(each.page, each.passages[0].ordinal): each.score for each in candidates}
    return [
        lifted(each, {"preceding": PRECEDING * scores.get((each.page, each.passages[0].ordinal - 1), 0.0)})
        for each in candidates
    ]


def with_parts(
    candidates: Sequence[Candidate], by_part: Sequence[Sequence[Candidate]], key_of: Callable[[Candidate], int]
) -> list[Candidate]:
    """Lift what is good for one part of a compound question; `by_part` ranks the same kind of hits for each part.

    `key_of` tells hits apart. What only a part found is added, with nothing to its score but that.
    """
    best = _best(candidates) or 1.0
    shares: dict[int, float] = {}
    found: dict[int, Candidate] = {}
    for part in by_part:
        best_of_part = _best(part)
        for each in part:
            key = key_of(each)
            share = each.score / best_of_part if best_of_part > 0 else 0.0
            if share > shares.get(key, 0.0):
                shares[key], found[key] = share, each
    known = {key_of(each) for each in candidates}
    added = [
        replace(each, score=0.0, trace=Trace({}, {}, {}, each.trace.graph_path))
        for key, each in found.items()
        if key not in known
    ]
    return [lifted(each, {"part": PART * best * shares.get(key_of(each), 0.0)}) for each in (*candidates, *added)]


def _best(candidates: Sequence[Candidate]) -> float:
    return max((each.score for each in candidates), default=0.0)
