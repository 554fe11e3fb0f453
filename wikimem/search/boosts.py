"""Light boosts: what a page says about itself moves it a little among hits of about equal relevance.

Each boost is a share of the fused score. The shares below add up to 0.135; low confidence alone takes away, at most a
twenty-fifth. They are chosen small against the streams (in reciprocal rank fusion a fifth is the distance from rank 13
to rank 1), not fitted to a data set. The date is different, and has a function of its own: a question that names a
time asks for it, so a page of that time gains a share of the best score, however little else it has.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final

from wikimem.model.hit import PageRow
from wikimem.search.dated import distance_days, length_days
from wikimem.search.query import Query, fold
from wikimem.text.analysis import query_terms
from wikimem.text.dates import Period

TITLE: Final = 0.05
"""For a title or alias whose words are all in the query; less in proportion to the words that are not."""
DATE: Final = 1.0
"""For a page of the time that the query names, as a share of the best score: e-fold less with every length of that time
away from it, and less by how common that time is among what was found. Chosen on the development halves of LoCoMo and
lme_pool, where 2 does better still; a misread date would then decide alone."""
NAME: Final = 0.03
"""For a page whose title, alias, tag or heading holds every name in the query; in proportion to how many."""
PHRASE: Final = 0.03
"""For a passage that holds every quoted phrase of the query; in proportion to how many."""
HEADING: Final = 0.01
"""For a heading whose words are all in the query, in the same proportion as a title."""
FRESHNESS: Final = 0.01
"""For a page made or confirmed now; half as much with every FRESHNESS_HALF_LIFE_DAYS."""
CONFIDENCE: Final = 0.01
"""For full confidence; in proportion to the distance from USUAL_CONFIDENCE, down to -0.04 for none at all."""
IMPORTANCE: Final = 0.005
"""For importance 1; in proportion below."""
PINNED: Final = 0.005
"""For a pinned page."""

LARGEST_BOOST: Final = TITLE + NAME + PHRASE + HEADING + FRESHNESS + CONFIDENCE + IMPORTANCE + PINNED

SHORTEST_SLACK_DAYS: Final = 3.0
"""A question that names one day is also about what was written down a day or two later."""

USUAL_CONFIDENCE: Final = 0.8
"""What a page that states no confidence is taken to have: people do not write it, and are not punished for that."""

LARGEST_DROP: Final = CONFIDENCE * USUAL_CONFIDENCE / (1.0 - USUAL_CONFIDENCE)
"""The share that a page of no confidence loses."""

FRESHNESS_HALF_LIFE_DAYS: Final = 90.0
"""About a quarter: the pace at which the working state of a code base goes stale."""

_SECONDS_OF_A_DAY: Final = 86400.0
_AROUND_A_WORD: Final = "()[]{}<>.,:;!?'\"`#*"


def page_boosts(query: Query, page: PageRow, heading: str, *, now: datetime) -> dict[str, float]:
    """Give the shares that the page's own fields earn, by name; a boost that earns nothing is left out."""
    asked = frozenset(query.terms)
    shares = {
        "title": TITLE * max((_coverage(name, asked) for name in (page.title, *page.aliases)), default=0.0),
        "heading": HEADING * max((_coverage(part, asked) for part in heading.split(" > ")), default=0.0),
        "name": NAME * _named(query.names, (page.title, *page.aliases, *page.tags, heading)),
        "confidence": CONFIDENCE * _confidence(page.confidence),
        "freshness": FRESHNESS * _freshness(page, now),
        "importance": IMPORTANCE * min(max(page.importance or 0.0, 0.0), 1.0),
        "pinned": PINNED if page.pinned else 0.0,
    }
    return {name: share for name, share in shares.items() if share}


def date_boosts(query: Query, pages: Sequence[PageRow]) -> list[float]:
    """Give for each of the pages that were found the share of the best score that its date earns; 0 without one.

    A time that few of them share tells them apart and counts nearly in full; one that most share says nothing.
    """
    if query.period is None or not pages:
        return [0.0] * len(pages)
    near = [_nearness(query.period, page) for page in pages]
    held = math.fsum(near)
    rarity = _rarity(len(pages), held) / _rarity(len(pages), 0.0)
    return [DATE * rarity * each for each in near]


def _rarity(total: int, held: float) -> float:
    """As BM25's idf."""
    return math.log1p((total - held + 0.5) / (held + 0.5))


def phrase_boost(query: Query, passage: str) -> dict[str, float]:
    """Give the share for quoted phrases that the passage holds: in proportion to how many of them it does."""
    if not query.phrases:
        return {}
    text = fold(passage)
    held = sum(phrase in text for phrase in query.phrases)
    return {"phrase": PHRASE * held / len(query.phrases)} if held else {}


def _coverage(name: str, asked: Collection[str]) -> float:
    words = _terms(name)
    return len(words.intersection(asked)) / len(words) if words else 0.0


@lru_cache(maxsize=4096)
def _terms(name: str) -> frozenset[str]:
    return frozenset(query_terms(name))


def _named(names: Collection[str], places: Collection[str]) -> float:
    if not names:
        return 0.0
    words = {word.strip(_AROUND_A_WORD) for place in places for word in fold(place).split()}
    return sum(name.casefold() in words for name in names) / len(names)


def _nearness(period: Period, page: PageRow) -> float:
    away_days = distance_days(period, page)
    return 0.0 if away_days is None else math.exp(-away_days / max(length_days(period), SHORTEST_SLACK_DAYS))


def _confidence(confidence: float | None) -> float:
    if confidence is None:
        return 0.0
    distance = min(max(confidence, 0.0), 1.0) - USUAL_CONFIDENCE
    return distance / (1.0 - USUAL_CONFIDENCE)


def _freshness(page: PageRow, now: datetime) -> float:
    # A checkout sets every mtime to the hour of the clone, so it speaks only where the page states no date.
    stated = [moment for moment in (page.created, page.confirmed) if moment is not None]
    newest = max(stated) if stated else page.mtime
    if newest is None:
        return 0.0
    age_days = max((now - newest).total_seconds() / _SECONDS_OF_A_DAY, 0.0)
    return float(0.5 ** (age_days / FRESHNESS_HALF_LIFE_DAYS))
