"""reindex: bring the index up to date with the files, or make it anew."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

from wikimem.errors import Conflict, Unavailable
from wikimem.model.results import ReindexResult
from wikimem.operations.answering import notes_of
from wikimem.operations.registry import Arg, operation

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

WAIT_S = 60.0


@operation("read", idempotent=True, examples=("wikimem reindex", "wikimem reindex --full"))
def reindex(
    wiki: Wiki,
    full: Annotated[bool, Arg("Index every page anew, also where most of the known pages are gone.")] = False,
    verify: Annotated[bool, Arg("Only compare the index with one made anew.")] = False,
) -> ReindexResult:
    """Bring the index up to date. The vault is only read; deleting the index loses nothing."""
    started = time.perf_counter()
    if verify:
        raise Unavailable("reindex --verify is not built yet", hint="Use `wikimem reindex --full` to be sure.")
    refreshed = wiki.refresh(full=full, wait_s=WAIT_S)
    if refreshed.why:
        raise Conflict(
            refreshed.why,
            hint="Bring the files back, or run `wikimem reindex --full` if they are gone for good."
            if "are gone" in refreshed.why
            else "Try again when it has finished.",
        )
    return ReindexResult(
        indexed=refreshed.indexed,
        removed=refreshed.removed,
        seconds=round(time.perf_counter() - started, 3),
        differences=(),
        skipped=tuple(f"{each.path}: {each.message}" for each in refreshed.skipped),
        notes=notes_of(wiki),
    )
