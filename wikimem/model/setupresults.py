"""What `init`, `trust` and `doctor` return: they come before there is an open vault. As in `results`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InitResult:
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


@dataclass(frozen=True, slots=True)
class TrustResult:
    vault: str
    pages: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DoctorLine:
    """One look: `state` is ok, warn or fail, `remedy` what to do, empty where there is nothing to do."""

    name: str
    state: str
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class DoctorResult:
    """`failed` is true where a look failed: the command then exits with 6. `vault` is null where there is none."""

    vault: str | None
    checks: tuple[DoctorLine, ...]
    failed: bool
    notes: tuple[str, ...]
