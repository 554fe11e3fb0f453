"""init and trust: what a vault needs before operations can run on it. Not operations: there is no open vault yet."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from wikimem.model.setupresults import InitResult, TrustResult


def init(
    path: Path,
    *,
    cwd: Path,
    dry_run: bool = False,
    native: bool = False,
    clock: Callable[[], datetime] = datetime.now,
) -> InitResult:
    """Make a vault at `path`: a new one with its first pages, or somebody's existing folder as it is.

    `native` adds to an existing one what it lacks of a new vault's look; no file that is there is changed.
    Raises Refused for a folder that cannot be a vault (not writable, a bare repository, another vault's inside).
    """
    from wikimem.vault.setup import set_up

    done = set_up(path if path.is_absolute() else cwd / path, dry_run=dry_run, native=native, clock=clock)
    return InitResult(
        vault=str(done.root),
        existing=done.existing,
        git_init=done.git_init,
        made=done.made,
        excluded=done.excluded,
        commit=done.commit,
        default=done.default,
        dry_run=dry_run,
        notes=done.notes,
        native=done.native,
        kept=done.kept,
    )


def trust(path: Path, *, cwd: Path) -> TrustResult:
    """Register a vault that came from elsewhere, such as your own clone of it. Raises NotFound where there is none."""
    from wikimem.vault.setup import take_in

    root, pages, notes = take_in(path if path.is_absolute() else cwd / path)
    return TrustResult(str(root), pages, notes)
