"""Further evidence for what the streams found: the page as a whole, and a close reading of the best passages.

Neither finds anything by itself. A page whose passages each hold some of the words is more than its best passage; a
passage that covers the question piece by piece is more than one that is about the same thing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from wikimem.index.parts import Allowed, Missing
from wikimem.model.hit import Scored
from wikimem.search.fuse import ConvexFusion
from wikimem.search.query import Query
from wikimem.text.analysis import QUESTION_WORDS, is_stop_word, query_terms
from wikimem.text.lazyregex import lazily

if TYPE_CHECKING:
    from wikimem.index.index import Index

READ_CLOSELY: Final = 100
"""Passages that are read closely: the model's card reads as many, and twice as many found nothing more on LoCoMo."""

LONGEST_READ: Final = 2000
"""Characters of a question that are compared; a pasted log says what it is about in fewer."""

_WORD: Final = lazily(r"[^\W_]+")
_CHOICE: Final = ConvexFusion(weights={"words": 1.0, "vectors": 0.5}, flat_vectors=0.0, flat_words=0.0)
"""Which passages those are."""


def whole_pages(index: Index, query: Query, allowed: Allowed, limit: int) -> list[tuple[int, float]]:
    """Pages by number with the score of their words as wholes, best first."""
    return index.words.search_pages(query.terms, limit, allowed) if query.terms else []


def said_pages(index: Index, query: Query, allowed: Allowed, limit: int) -> list[tuple[int, float]]:
    """As `whole_pages`, by what the person said on them: what a question in the first person is about."""
    return index.words.search_pages(query.terms, limit, allowed, said=True) if query.terms else []


def share_in_company(index: Index) -> float:
    """The share (0 to 1) of passages that are not the first of their page: 0 where every page is one passage."""
    pages, passages = index.words.page_count()
    return 1 - pages / passages if passages else 0.0


def close_reading(index: Index, query: Query, found: Mapping[str, Sequence[Scored]]) -> dict[str, list[Scored]]:
    """Rank the best passages of words and vectors by `closeness` and by `pairs` (see `wikimem.index.closeness`)."""
    if isinstance(index.vectors, Missing):
        return {}
    words = _weighted_words(index, query)
    chosen = _CHOICE.order({name: [(e.passage, e.score) for e in ranking] for name, ranking in found.items()})
    close, pairs = index.vectors.read_closely(words, chosen[:READ_CLOSELY])
    return {"closeness": _ranked(close), "pairs": _ranked({key: score for key, score in pairs.items() if score > 0})}


def _weighted_words(index: Index, query: Query) -> list[tuple[str, float]]:
    """The words of a question that mean something, in order, each with the rarity of its rarest term."""
    found = [word for word in _WORD.findall(query.text[:LONGEST_READ].casefold()) if not is_stop_word(word)]
    told = [word for word in found if word not in QUESTION_WORDS] or found
    terms = {word: query_terms(word) for word in told}
    rarity = index.words.rarity({term for own in terms.values() for term in own})
    return [(word, max((rarity[term] for term in terms[word]), default=0.0)) for word in told]


def _ranked(scores: Mapping[int, float]) -> list[Scored]:
    return [Scored(key, score) for key, score in sorted(scores.items(), key=lambda entry: (-entry[1], entry[0]))]
