"""What `init`, `trust` and `doctor` return: they come before there is an open vault. As in `results`."""

from __future__ import annotations

from msgspec import Struct


class InitResult(Struct, frozen=True):
    """`made` are files written into the tree, `excluded` what git was told to overlook (in its own info/ files).

    `existing` is True for a folder that had files or a repository before: no page of it was touched. `native` are
    the files of a new vault's look that were added to such a folder, in no commit, `kept` those that it had.
    """

    vault: str
    existing: bool
    git_init: bool
    made: tuple[str, ...]
    excluded: tuple[str, ...]
    commit: str | None
    default: bool
    dry_run: bool
    notes: tuple[str, ...]
    native: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


class TrustResult(Struct, frozen=True):
    vault: str
    pages: int
    notes: tuple[str, ...]


class DoctorLine(Struct, frozen=True):
    """One look: `state` is ok, warn or fail, `remedy` what to do, empty where there is nothing to do."""

    name: str
    state: str
    message: str
    remedy: str


class DoctorResult(Struct, frozen=True):
    """`failed` is true where a look failed: the command then exits with 6. `vault` is null where there is none."""

    vault: str | None
    checks: tuple[DoctorLine, ...]
    failed: bool
    notes: tuple[str, ...]


class ConnectedFile(Struct, frozen=True):
    """A settings file of an agent: `state` is made, changed, removed, unchanged or refused, `detail` says why.

    `diff` is what was, or would be, changed, with secrets masked; `by_hand` what to add to a file that was refused.
    """

    agent: str
    path: str
    state: str
    detail: str = ""
    diff: str = ""
    by_hand: str = ""


class ConnectResult(Struct, frozen=True):
    """`action` is connect or disconnect. `refused` is true where a file was: the command then exits with 7."""

    action: str
    files: tuple[ConnectedFile, ...]
    dry_run: bool
    refused: bool
    notes: tuple[str, ...]
