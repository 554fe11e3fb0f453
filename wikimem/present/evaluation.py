"""The result of `eval` as plain text: shares in per cent, each with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from wikimem.model.evaluation import EvalChange, EvalFigure, EvalMiss, EvalRequirement, EvalResult, EvalSide
from wikimem.present.text import text, trace_in_words

MOST_MISSES: Final = 20
"""Missed questions that are shown; the JSON form has all of them."""
MOST_SKIPPED: Final = 10


@text.register
def _eval(result: EvalResult) -> str:
    asked = f"{result.n} of {result.n + result.skipped_questions}" if result.skipped_questions else str(result.n)
    lines = [f"Questions of {result.file}: {asked}, {result.level} level, in per cent (95 % interval)"]
    for side in result.sides:
        lines += ["", *_side(side)]
    if result.change is not None:
        lines += ["", *_change(result.change)]
    lines += _misses(result)
    if result.skipped:
        lines += ["", "Left out, because no such page is there:"]
        lines += [f"  {each}" for each in result.skipped[:MOST_SKIPPED]]
        lines += _rest(len(result.skipped), MOST_SKIPPED)
    lines += [_requirement(each) for each in result.requirements]
    return "\n".join(lines)


def _side(side: EvalSide) -> list[str]:
    metrics = list(side.groups[0].metrics)
    rows = [("", "n", *metrics)]
    rows += [
        (group.type, str(group.n), *(_share(group.metrics[metric]) for metric in metrics)) for group in side.groups
    ]
    return [side.name, *_aligned(rows), f"  p50 {side.p50_ms:.0f} ms, p95 {side.p95_ms:.0f} ms"]


def _share(figure: EvalFigure) -> str:
    return f"{figure.mean * 100:.1f} ({figure.low * 100:.1f} to {figure.high * 100:.1f})"


def _change(change: EvalChange) -> list[str]:
    rows = [
        (metric, f"{each.mean * 100:+.1f} ({each.low * 100:+.1f} to {each.high * 100:+.1f})", _sure(each))
        for metric, each in change.metrics.items()
    ]
    lines = ["Change from the first to the second, in points", *_aligned(rows)]
    return [*lines, f"  by NDCG@10: {change.better} better, {change.worse} worse, {change.same} the same"]


def _sure(figure: EvalFigure) -> str:
    if figure.low > 0 or figure.high < 0:
        return ""
    return "no difference" if figure.low == figure.high == 0 else "may be chance"


def _misses(result: EvalResult) -> list[str]:
    if not result.misses:
        return ["", "Every expected page is among the first five."]
    lines = ["", f"Not every expected page among the first five: {len(result.misses)}"]
    for miss in result.misses[:MOST_MISSES]:
        lines += _miss(miss)
    return [*lines, *_rest(len(result.misses), MOST_MISSES)]


def _miss(miss: EvalMiss) -> list[str]:
    lines = [f"  line {miss.line}: {miss.question}"]
    lines += [
        f"    expected {each.page}: {'not found' if each.rank is None else f'at {each.rank}'}" for each in miss.expected
    ]
    for each in miss.came:
        lines.append(f"    {each.rank}. {each.title}  ({each.path})")
        if each.trace is not None:
            lines.append(f"       {trace_in_words(each.trace, each.score)}")
    return lines


def _requirement(required: EvalRequirement) -> str:
    verdict = "met" if required.met else "NOT MET"
    return f"required {required.metric} >= {required.least:g}: {required.reached:.3f}, {verdict}"


def _rest(count: int, shown: int) -> list[str]:
    return [f"  and {count - shown} more: --json has all"] if count > shown else []


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
