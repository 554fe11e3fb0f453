"""What the parts of the index hand out: which pages may be seen, why a part is missing, links, counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct, field

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Allowed:
    """The pages, by number, that a search may see. Every stream applies it while it collects, never afterwards.

    They are `numbers`, or with `but` all up to `highest` except those: most filters shut few pages out.
    """

    __slots__ = ("_sorted", "but", "everything", "highest", "numbers")

    def __init__(
        self, numbers: Iterable[int], *, everything: bool = False, but: bool = False, highest: int = 0
    ) -> None:
        self.numbers = frozenset(numbers)
        self.everything = everything
        self.but = but
        self.highest = highest
        self._sorted: NDArray[np.int64] | None = None

    def __contains__(self, number: int) -> bool:
        return number <= self.highest and number not in self.numbers if self.but else number in self.numbers

    def mask(self, pages: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of `pages` (numbers, with repetitions) are allowed."""
        import numpy as np

        from wikimem.index.membership import is_among

        if self._sorted is None:
            self._sorted = np.fromiter(sorted(self.numbers), dtype=np.int64, count=len(self.numbers))
        if not self.but:
            return is_among(pages, self._sorted)
        known = pages <= self.highest
        return known & ~is_among(pages, self._sorted) if self.numbers else known


class Missing(Struct, frozen=True):
    """A part of the index that cannot answer, and why, in words for the person who asked."""

    reason: str


class LinkRow(Struct, frozen=True):
    """A link of the page at `source`. `resolved` is the path of the page that it means now.

    `broken` is True where it means no page and was not meant for an attachment: a picture or another file that the
    index does not hold.
    """

    source: str
    target: str
    fragment: str
    kind: str
    resolved: str | None
    broken: bool


class Counts(Struct, frozen=True):
    """How much the index holds. `tokens` estimates what all its pages would cost an LLM."""

    pages: int
    passages: int
    tokens: int
    links: int
    broken_links: int
    by_type: dict[str, int] = field(default_factory=dict)
