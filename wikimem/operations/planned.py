"""Operations of the contract that are not built yet: they answer `unavailable` at every door, never something else."""

from __future__ import annotations

from typing import Final, NoReturn

from wikimem.errors import Unavailable

PLANNED: Final[dict[str, str]] = {
    "when": "Find the commits in which the vault began or ceased to say something.",
    "blame": "Show who wrote each line of a page, and why.",
    "diff": "Show what changed between two revisions.",
    "verify": "Check that the sources of a page still say what it cites.",
    "ingest": "Take a document in whole.",
    "consolidate": "Turn sessions into facts, decisions and topics.",
    "supersede": "Let one page replace another.",
    "feedback": "Say that a page was useful, wrong or confirmed.",
    "sweep": "Mark what has expired and archive what has faded.",
    "snapshot": "Name the state of the vault.",
    "snapshots": "List the named states.",
    "sync": "Exchange commits with a remote.",
    "rollback": "Make a new commit with the tree of an earlier one.",
    "revert": "Undo a commit, a session or a run.",
    "purge": "Remove a text from all of history.",
}
"""Name and summary, in the order of the contract."""


def answer_unavailable(name: str) -> NoReturn:
    """Say that an operation is not built yet."""
    raise Unavailable(
        f"'{name}' is not built yet in this version of wikimem", hint="See CHANGELOG.md for what each version adds."
    )
