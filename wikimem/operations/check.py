"""check: what a person should look at in the vault, and what can be mended."""

from __future__ import annotations

import difflib
from collections import Counter
from typing import TYPE_CHECKING, Annotated

from wikimem.errors import Invalid
from wikimem.model.results import CheckProblem, CheckResult
from wikimem.operations.answering import notes_of
from wikimem.operations.registry import Arg, operation

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

WAIT_S = 60.0


@operation(
    "write",
    idempotent=True,
    examples=(
        "wikimem check",
        "wikimem check --fix --dry-run",
        "wikimem check --rule broken-link --rule duplicate-id --strict",
    ),
)
def check(
    wiki: Wiki,
    fix: Annotated[bool, Arg("Mend what takes no judgement, in one commit.")] = False,
    dry_run: Annotated[bool, Arg("Only say what fix would do.")] = False,
    rule: Annotated[list[str], Arg("Only problems of this rule; repeat for several.", metavar="RULE")] = [],  # noqa: B006
    strict: Annotated[bool, Arg("Exit with 1 where errors or warnings are left; for CI.")] = False,
    limit: Annotated[int, Arg("Most problems to list; all are counted.", ge=1, le=100_000)] = 1000,
) -> CheckResult:
    """Find what is wrong in the vault: broken links, duplicates, sync copies, unreadable pages, secrets.

    Nothing is written without fix. Fix mends unquoted values in frontmatter, duplicate ids, one-sided supersedes, and
    links to pages that have moved; the rest is for a person, and each problem says what to do. Problems do not make
    the command fail, unless strict says so.
    """
    from wikimem.memory.check import find_problems
    from wikimem.memory.checkrules import remedy_of, severity_of
    from wikimem.memory.mend import mend

    _check_rules(rule)
    refreshed = wiki.refresh(wait_s=WAIT_S)
    problems = find_problems(wiki, refreshed.skipped, rule)
    fixed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    commit = None
    if fix or dry_run:
        done = mend(wiki, problems, dry_run=dry_run)
        fixed, left, commit = done.fixed, done.left, done.commit
        if fixed and not dry_run:
            refreshed = wiki.refresh(wait_s=WAIT_S)
            problems = find_problems(wiki, refreshed.skipped, rule)
    mask = wiki.redactor.mask
    shown = [
        CheckProblem(
            each.rule,
            mask(each.path),
            each.line,
            mask(each.message),
            each.fixable,
            severity_of(each.rule),
            remedy_of(each.rule),
        )
        for each in problems[:limit]
    ]
    serious = any(severity_of(each.rule) != "note" for each in problems)
    return CheckResult(
        problems=tuple(shown),
        total=len(problems),
        counts=dict(sorted(Counter(each.rule for each in problems).items())),
        fixed=tuple(mask(each) for each in fixed),
        left=tuple(mask(each) for each in left),
        commit=commit,
        dry_run=dry_run,
        failed=strict and (serious or bool(refreshed.why)),
        notes=notes_of(wiki, refreshed),
    )


def _check_rules(rules: list[str]) -> None:
    from wikimem.memory.checkrules import RULES

    for rule in rules:
        if rule not in RULES:
            near = difflib.get_close_matches(rule, RULES, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"One of: {', '.join(RULES)}."
            raise Invalid(f"rule: there is no rule '{rule[:60]}'", hint=hint)
