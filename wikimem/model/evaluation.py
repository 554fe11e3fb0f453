"""What `eval` asks and what it returns. As in `results`: plain types, dates as ISO 8601 texts."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from wikimem.model.results import TraceResult


class EvalQuestion(Struct, frozen=True):
    """A question with the pages that answer it, each as PAGE or `PAGE#heading` or `PAGE#^block`.

    `line` is where it stands in its file; `now` and `as_of` are dates in words, as `search` takes them.
    """

    question: str
    pages: tuple[str, ...]
    line: int
    type: str = ""
    project: str | None = None
    now: str | None = None
    as_of: str | None = None


class EvalFigure(Struct, frozen=True):
    """A mean from 0 to 1, or a change from -1 to 1, with the bounds of its 95 % interval."""

    mean: float
    low: float
    high: float


class EvalGroup(Struct, frozen=True):
    """The figures of all questions (`type` is `all`), or of those of one type. `n` is how many they are."""

    type: str
    n: int
    metrics: Mapping[str, EvalFigure]


class EvalSide(Struct, frozen=True):
    """What one configuration reached. `p50_ms` and `p95_ms` are wall times of a search in an open process."""

    name: str
    groups: tuple[EvalGroup, ...]
    p50_ms: float
    p95_ms: float


class EvalChange(Struct, frozen=True):
    """How the second side differs from the first: `better` and `worse` count questions, by NDCG@10."""

    metrics: Mapping[str, EvalFigure]
    better: int
    worse: int
    same: int


class EvalCame(Struct, frozen=True):
    """A hit that stood where an expected page should have been; `trace` is null unless it was asked for."""

    rank: int
    path: str
    title: str
    score: float
    trace: TraceResult | None


class EvalExpected(Struct, frozen=True):
    """An expected page and its rank, null where it was not among the hits."""

    page: str
    rank: int | None


class EvalMiss(Struct, frozen=True):
    """A question for which not every expected page was among the first five, with what came first instead."""

    line: int
    question: str
    type: str
    expected: tuple[EvalExpected, ...]
    came: tuple[EvalCame, ...]


class EvalRequirement(Struct, frozen=True):
    """What `--require` asked of the first side, and whether it was `met`."""

    metric: str
    least: float
    reached: float
    met: bool


class EvalResult(Struct, frozen=True):
    """`sides` has one configuration, or two that are compared in `change`. `misses` are those of the first.

    `skipped` names expected pages that are not there, where that was allowed, and `skipped_questions` counts those
    that had no other. `failed` is true where a requirement was not met: the command then exits with 1.
    """

    file: str
    level: str
    n: int
    sides: tuple[EvalSide, ...]
    change: EvalChange | None
    misses: tuple[EvalMiss, ...]
    skipped: tuple[str, ...]
    skipped_questions: int
    requirements: tuple[EvalRequirement, ...]
    failed: bool
    notes: tuple[str, ...]
