"""status: where the vault is, what is in it, and whether index and git are in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wikimem.errors import Unavailable
from wikimem.model.results import GitStatus, IndexStatus, ProblemResult, StatusResult, TokenStatus
from wikimem.operations.answering import notes_of
from wikimem.operations.registry import operation

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

MOST_PROBLEMS = 50


@operation("read", idempotent=True, examples=("wikimem status", "wikimem status --json"))
def status(wiki: Wiki) -> StatusResult:
    """Show where the vault is, what it holds, and whether index, streams and git are in order."""
    refreshed = wiki.refresh()
    counts = wiki.index.counts()
    problems = [*refreshed.skipped, *wiki.index.problems()]
    mask = wiki.redactor.mask
    given, saved = wiki.counted_tokens()
    return StatusResult(
        vault=str(wiki.root),
        pages=counts.by_type,
        total=counts.pages,
        project=wiki.project,
        projects=tuple(sorted(wiki.index.projects())),
        index=IndexStatus(
            behind=refreshed.behind,
            passages=counts.passages,
            links=counts.links,
            broken_links=counts.broken_links,
            streams=wiki.index.stream_states(),
            model=wiki.index.model_name,
            folder=str(wiki.folders.index),
        ),
        git=_git(wiki),
        tokens=TokenStatus(given, saved),
        problems=tuple(
            ProblemResult(each.rule, each.path, each.line, mask(each.message)) for each in problems[:MOST_PROBLEMS]
        ),
        problem_count=len(problems),
        notes=notes_of(wiki, refreshed),
    )


def _git(wiki: Wiki) -> GitStatus:
    from wikimem.vault.gitcommand import run_git

    repository = wiki.repository
    head = repository.head()
    dirty = 0
    ahead = behind = None
    try:
        changed = run_git(wiki.root, "status", "--porcelain", "-z", "--untracked-files=normal", "--", ".").stdout
        dirty = len([record for record in changed.split(b"\0") if record])
        counted = run_git(wiki.root, "rev-list", "--left-right", "--count", "HEAD...@{upstream}", check=False)
        if counted.returncode == 0:
            ahead, behind = (int(part) for part in counted.stdout.split())
    except Unavailable as error:
        wiki.notes.append(f"{error.message}: uncommitted changes are not counted")
    return GitStatus(
        branch=repository.branch(),
        commit=head.decode() if head else None,
        dirty=dirty,
        ahead=ahead,
        behind=behind,
        operation=repository.operation(),
    )
