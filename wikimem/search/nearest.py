"""The pages nearest in meaning to a text: what `remember` reports, so that nobody writes the same thing twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wikimem.index.parts import Missing
from wikimem.model.hit import PageFilter, PageRow

if TYPE_CHECKING:
    from wikimem.index.index import Index

PASSAGES_OF_A_PAGE = 4
"""How many passages of one page may stand before the next page in the ranking, on average."""


def nearest_pages(index: Index, text: str, where: PageFilter, *, limit: int) -> list[tuple[PageRow, float]]:
    """Pages and the cosine (-1 to 1) of their best passage, nearest first.

    Empty where vectors are missing, or the text is in a language that the model does not know.
    """
    vectors = index.vectors
    if isinstance(vectors, Missing) or vectors.left_out(text):
        return []
    found = vectors.search(text, limit * PASSAGES_OF_A_PAGE, index.allowed(where))
    passages = index.passages([passage for passage, _ in found])
    best: dict[int, float] = {}
    for passage, score in found:
        if passage in passages:
            best.setdefault(passages[passage].page, score)
    rows = index.pages_by_number(list(best))
    return [(rows[number], score) for number, score in best.items() if number in rows][:limit]
