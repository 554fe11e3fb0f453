"""status: where the vault is, what is in it, and whether index and git are in order."""

from __future__ import annotations

import contextlib
import os
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from wikimem.errors import WikimemError
from wikimem.model.page import Problem
from wikimem.model.results import (
    CaptureStatus,
    DiskStatus,
    GitStatus,
    IndexStatus,
    MergeLeftover,
    ProblemResult,
    StatusResult,
    TokenStatus,
)
from wikimem.operations.answering import notes_of
from wikimem.operations.registry import operation
from wikimem.operations.resident import resident_line

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

MOST_PROBLEMS = 50
STALE_LOCK_S = 60.0
"""Longer than any git command holds its index lock, a commit with slow hooks apart."""


@operation("read", idempotent=True, examples=("wikimem status", "wikimem status --json"))
def status(wiki: Wiki) -> StatusResult:
    """Show where the vault is, what it holds, and whether index, streams, git and the background work are in order."""
    from wikimem.memory.foreignmerges import find_leftovers

    refreshed = wiki.refresh()
    counts = wiki.index.counts()
    problems = [*_stale_lock(wiki), *refreshed.skipped, *wiki.index.problems()]
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
        resident=resident_line(wiki),
        watching=_watching(wiki),
        disk=_disk(wiki),
        tokens=TokenStatus(given, saved),
        capture=_capture(wiki),
        llm=_llm(wiki),
        to_mend=tuple(
            MergeLeftover(mask(each.path), mask(each.what), each.commit, each.author) for each in find_leftovers(wiki)
        ),
        problems=tuple(
            ProblemResult(each.rule, each.path, each.line, mask(each.message)) for each in problems[:MOST_PROBLEMS]
        ),
        problem_count=len(problems),
        notes=notes_of(wiki, refreshed),
    )


def _watching(wiki: Wiki) -> str:
    """Which process indexes and commits what changes, in words."""
    from wikimem.vault.duty import duty_holder

    holder = duty_holder(wiki.folders.state)
    return f"yes, {holder}" if holder else "no: changes are found when a command runs"


def _capture(wiki: Wiki) -> CaptureStatus:
    from wikimem.vault.connections import Connections
    from wikimem.vault.folders import user_folders
    from wikimem.vault.spool import SPOOL, Spool, lost_lately

    state = user_folders().state
    counts = Spool(wiki.folders.state / SPOOL).counts()
    oldest = datetime.fromtimestamp(counts.oldest_ns / 1e9).isoformat(timespec="seconds") if counts.pending else None
    return CaptureStatus(
        waiting=counts.pending,
        oldest=oldest,
        set_aside=counts.damaged,
        not_kept=lost_lately(str(state)),
        hooks={agent: _hooks(*each) for agent, each in Connections(state).hooked().items()},
    )


def _hooks(left: int, total: int) -> str:
    if left == total:
        return "connected"
    gone = "not connected any more" if not left else f"{left} of {total} hooks left"
    return f"{gone}: `wikimem connect` writes them again"


def _llm(wiki: Wiki) -> str | None:
    """The language model that this user has configured, and what all of them have cost today, in words."""
    settings = wiki.user.llm
    if settings is None:
        return None
    from wikimem.llm.ledger import Ledger
    from wikimem.vault.folders import user_folders

    who, limits = f"{settings.model} ({settings.dialect})", settings.limits
    try:
        spent = Ledger(user_folders().state).spent_today()
    except WikimemError as error:
        wiki.notes.append(f"{error.message}. {error.hint}")
        return who
    return (
        f"{who}; today {spent.calls} of {limits.calls_per_day} requests, "
        f"{spent.tokens} of {limits.tokens_per_day} tokens"
    )


def _disk(wiki: Wiki) -> DiskStatus:
    pages = sum(max(0, stat.size) for stat in wiki.index.stats().values())
    return DiskStatus(pages=pages, git=_git_bytes(wiki), index=_bytes_below(wiki.folders.index))


def _git_bytes(wiki: Wiki) -> int:
    """What git's objects take. A repository may hold many more files than a vault, so git is asked where it can be."""
    from wikimem.vault.gitcommand import run_git

    if not wiki.repository.has_git:
        return _bytes_below(wiki.repository.common_dir / "objects")
    counted = run_git(wiki.root, "count-objects", "-v", check=False).stdout.decode("ascii", "replace")
    sizes = dict(line.split(": ", 1) for line in counted.splitlines() if ": " in line)
    return 1024 * (int(sizes.get("size", 0)) + int(sizes.get("size-pack", 0)))


def _bytes_below(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size
    return total


def _stale_lock(wiki: Wiki) -> list[Problem]:
    """A lock of git's index that is too old to belong to a git at work: every write fails until it is gone."""
    lock = wiki.repository.git_dir / "index.lock"
    try:
        age_s = time.time() - lock.stat().st_mtime
    except OSError:
        return []
    if age_s < STALE_LOCK_S:
        return []
    message = f"git's index is locked since {age_s:.0f} seconds; if no git is running there, remove '{lock}'"
    return [Problem("git-lock", ".git/index.lock", message)]


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
    except WikimemError as error:
        wiki.notes.append(f"uncommitted changes are not counted: {error.message}. {error.hint}")
    wiki.notes.extend(repository.remarks())
    return GitStatus(
        branch=repository.branch(),
        commit=head.decode() if head else None,
        dirty=dirty,
        ahead=ahead,
        behind=behind,
        operation=repository.operation(),
    )
