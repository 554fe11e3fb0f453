"""eval: how well searches of one's own vault find the pages that answer one's own questions."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wikimem.errors import Invalid, NotFound, WikimemError
from wikimem.model.evaluation import (
    EvalCame,
    EvalChange,
    EvalExpected,
    EvalFigure,
    EvalGroup,
    EvalMiss,
    EvalQuestion,
    EvalRequirement,
    EvalResult,
    EvalSide,
)
from wikimem.model.results import TraceResult
from wikimem.operations.answering import notes_of, search_scope, vault_state
from wikimem.search.answered import Answered, Expected, Level, ask, expected_of
from wikimem.search.configuration import Configuration, read_configuration
from wikimem.search.evaluation import DEPTH, METRICS, Interval, compare, percentile, summarise
from wikimem.search.streams import STREAM_NAMES

if TYPE_CHECKING:
    from wikimem.search.hits import Hit
    from wikimem.wiki import Wiki

ALL: Final = "all"
WAIT_S: Final = 600.0
MOST_LIMIT: Final = 100
WRONG_ABOVE: Final = 5
"""A question is listed as missed unless every expected page is among this many."""
CAME_SHOWN: Final = 3
_MOST_BYTES: Final = 50_000_000

METRIC_NAMES: Final[Mapping[str, str]] = {metric.lower().replace(" ", "-"): metric for metric in METRICS}
"""How `--require` names each metric: `r@5-any`."""


def evaluate(
    open_vault: Callable[[], Wiki],
    file: Path,
    *,
    limit: int = DEPTH,
    level: Level = "page",
    at: str | None = None,
    against: Sequence[str] = (),
    require: Sequence[str] = (),
    explain: bool = False,
    skip_missing: bool = False,
) -> EvalResult:
    """Ask the questions of `file`, and say how high the pages stand that answer them.

    `against` describes a second configuration for the same questions. Raises Invalid for a file, setting or
    requirement that makes no sense, NotFound for a file or an expected page that is not there.
    """
    if not DEPTH <= limit <= MOST_LIMIT:
        raise Invalid(f"limit is {limit}", hint=f"Give {DEPTH} to {MOST_LIMIT}: the metrics look at the first {DEPTH}.")
    asked_for = [_requirement(text) for text in require]
    sides = [read_configuration((), at=at)]
    if against:
        sides.append(read_configuration(against, at=at))
    questions = _read(file)
    wiki = open_vault()
    with contextlib.ExitStack() as stack:
        opened = [stack.enter_context(_opened(wiki, side)) for side in sides]
        kept, skipped = _resolved(opened[0], file.name, questions, skip_missing=skip_missing)
        answered = [
            _ask_all(vault, kept, side, level=level, limit=limit) for vault, side in zip(opened, sides, strict=True)
        ]
        notes = tuple(dict.fromkeys(note for vault in (*opened, wiki) for note in notes_of(vault)))
    first = answered[0]
    figures = [_side(side.name, rows) for side, rows in zip(sides, answered, strict=True)]
    requirements = tuple(_judged(each, figures[0]) for each in asked_for)
    return EvalResult(
        file=str(file),
        level=level,
        n=len(first),
        sides=tuple(figures),
        change=_change(*answered) if against else None,
        misses=tuple(_miss(wiki, row, level, explain=explain) for row in first if row.scores["R@5 all"] == 0),
        skipped=tuple(wiki.redactor.mask(each) for each in skipped),
        skipped_questions=len(questions) - len(kept),
        requirements=requirements,
        failed=not all(each.met for each in requirements),
        notes=notes,
    )


def _read(file: Path) -> list[EvalQuestion]:
    from wikimem.text.questionfile import read_questions

    try:
        with file.open("rb") as opened:
            data = opened.read(_MOST_BYTES + 1)
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {file}", hint="`wikimem help eval` says what it holds.") from error
    except OSError as error:
        raise Invalid(f"cannot read {file}: {error.strerror}", hint="Name a file of questions.") from error
    if len(data) > _MOST_BYTES:
        raise Invalid(f"{file} is larger than {_MOST_BYTES // 1_000_000} MB", hint="Ask fewer questions at a time.")
    return read_questions(str(file), data)


@contextlib.contextmanager
def _opened(wiki: Wiki, side: Configuration) -> Iterator[Wiki]:
    """The vault that a side asks, its index up to date."""
    with vault_state(wiki, side.at) as (asked, _):
        _bring_up(asked)
        yield asked


def _bring_up(wiki: Wiki) -> None:
    refreshed = wiki.refresh(wait_s=WAIT_S)
    if refreshed.why:
        wiki.notes.append(f"{refreshed.behind} pages are not in the index: {refreshed.why}")


def _resolved(
    wiki: Wiki, name: str, questions: Sequence[EvalQuestion], *, skip_missing: bool
) -> tuple[list[tuple[EvalQuestion, tuple[Expected, ...]]], list[str]]:
    """Each question with the pages that it names, and what names none. A question without any such page is left out."""
    kept: list[tuple[EvalQuestion, tuple[Expected, ...]]] = []
    missing: list[tuple[str, WikimemError]] = []
    for question in questions:
        found: list[Expected] = []
        for address in question.pages:
            try:
                found.append(expected_of(wiki, address))
            except NotFound as error:
                missing.append((f"{name}:{question.line}: {error.message}", error))
            except Invalid as error:
                raise Invalid(f"{name}:{question.line}: {error.message}", hint=error.hint, data=error.data) from error
        if found:
            kept.append((question, tuple(found)))
    if missing and not (skip_missing and kept):
        words, first = missing[0]
        others = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        raise NotFound(
            words + others,
            hint=f"{first.hint} --skip-missing goes on without such pages.",
            data={"missing": [said for said, _ in missing]},
        )
    return kept, [said for said, _ in missing]


def _ask_all(
    wiki: Wiki,
    questions: Sequence[tuple[EvalQuestion, tuple[Expected, ...]]],
    side: Configuration,
    *,
    level: Level,
    limit: int,
) -> list[Answered]:
    def asked(question: EvalQuestion, expected: Sequence[Expected]) -> Answered:
        scope, _ = search_scope(wiki, question.project)
        return ask(wiki, question, expected, side, level=level, limit=limit, project=scope)

    # Once for nothing: the first search of a process reads the model and maps the index.
    asked(*questions[0])
    return [asked(question, expected) for question, expected in questions]


def _side(name: str, rows: Sequence[Answered]) -> EvalSide:
    kinds = sorted({row.question.type for row in rows if row.question.type})
    groups = [_group(ALL, rows)]
    if kinds:
        groups += [_group(kind or "(no type)", _of(kind, rows)) for kind in ("", *kinds) if _of(kind, rows)]
    times = [row.ms for row in rows]
    return EvalSide(name, tuple(groups), percentile(times, 0.5), percentile(times, 0.95))


def _of(kind: str, rows: Sequence[Answered]) -> list[Answered]:
    return [row for row in rows if row.question.type == kind]


def _group(name: str, rows: Sequence[Answered]) -> EvalGroup:
    return EvalGroup(name, len(rows), _figures(summarise([row.scores for row in rows])))


def _figures(intervals: Mapping[str, Interval]) -> dict[str, EvalFigure]:
    return {metric: EvalFigure(each.mean, each.low, each.high) for metric, each in intervals.items()}


def _change(before: Sequence[Answered], after: Sequence[Answered]) -> EvalChange:
    pairs = [(old.scores["NDCG@10"], new.scores["NDCG@10"]) for old, new in zip(before, after, strict=True)]
    better, worse = sum(new > old for old, new in pairs), sum(new < old for old, new in pairs)
    changed = compare([row.scores for row in before], [row.scores for row in after])
    return EvalChange(_figures(changed), better, worse, len(pairs) - better - worse)


def _miss(wiki: Wiki, row: Answered, level: Level, *, explain: bool) -> EvalMiss:
    mask = wiki.redactor.mask
    keys = [(each, each.key if level == "passage" else each.id) for each in row.expected]
    found = set(row.ranks.values())
    came = [
        EvalCame(rank, mask(hit.path), hit.title, hit.score, _why(hit) if explain else None)
        for rank, hit in enumerate(row.hits[:WRONG_ABOVE], start=1)
        if rank not in found
    ]
    return EvalMiss(
        row.question.line,
        mask(row.question.question),
        row.question.type,
        tuple(EvalExpected(mask(each.address), row.ranks.get(key)) for each, key in keys),
        tuple(came[:CAME_SHOWN]),
    )


def _why(hit: Hit) -> TraceResult:
    words, vectors, graph = (hit.trace.ranks.get(name) for name in STREAM_NAMES)
    return TraceResult(words, vectors, graph, hit.trace.parts, hit.trace.boosts, hit.trace.graph_path)


def _requirement(text: str) -> tuple[str, float]:
    name, equals, value = text.partition("=")
    metric = METRIC_NAMES.get(name.strip().lower())
    try:
        least = float(value)
    except ValueError:
        least = -1.0
    if metric is None or not equals or not 0 <= least <= 1:
        raise Invalid(
            f"require: '{text[:60]}' is no metric with a share",
            hint=f"Such as r@5-any=0.9, a share from 0 to 1. The metrics: {', '.join(METRIC_NAMES)}.",
        )
    return metric, least


def _judged(required: tuple[str, float], side: EvalSide) -> EvalRequirement:
    metric, least = required
    reached = side.groups[0].metrics[metric].mean
    # The mean of ten halves is not exactly a half; a requirement that is met on paper is met.
    return EvalRequirement(metric, least, reached, reached >= least - 1e-9)
