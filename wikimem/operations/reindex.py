"""reindex: bring the index up to date with the files, or make it anew."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from wikimem.errors import Conflict
from wikimem.model.results import ReindexResult
from wikimem.operations.answering import notes_of
from wikimem.operations.registry import Arg, operation

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

WAIT_S = 60.0
MOST_ROUNDS = 10
"""How often pages may change while they are compared."""


@operation("read", idempotent=True, examples=("wikimem reindex", "wikimem reindex --full", "wikimem reindex --verify"))
def reindex(
    wiki: Wiki,
    full: Annotated[bool, Arg("Index every page anew, also where most of the known pages are gone.")] = False,
    verify: Annotated[bool, Arg("Then compare every part of it with one made anew, in a temporary folder.")] = False,
) -> ReindexResult:
    """Bring the index up to date, and the graph's. The vault is only read; deleting the index loses nothing."""
    from wikimem.search.graphview import open_store

    started = time.perf_counter()
    refreshed = wiki.refresh(full=full, wait_s=WAIT_S)
    if refreshed.why:
        raise Conflict(
            refreshed.why,
            hint="Bring the files back, or run `wikimem reindex --full` if they are gone for good."
            if "are gone" in refreshed.why
            else "Try again when it has finished.",
        )
    with open_store(wiki):
        pass  # so that the first question of the graph need not read all of it
    differences = verify_index(wiki) if verify else ()
    if differences:
        wiki.notes.append("the index is not what the pages say; `wikimem reindex --full` makes it anew")
    return ReindexResult(
        indexed=refreshed.indexed,
        removed=refreshed.removed,
        seconds=round(time.perf_counter() - started, 3),
        differences=tuple(wiki.redactor.mask(each) for each in differences),
        skipped=tuple(f"{each.path}: {each.message}" for each in refreshed.skipped),
        notes=notes_of(wiki),
    )


def verify_index(wiki: Wiki) -> tuple[str, ...]:
    """Make a second index of the same files, and say how the vault's own differs from it.

    Raises Conflict where another process keeps the index, or the pages change too fast to be compared.
    """
    import tempfile

    from wikimem.index.verify import differences

    with (
        tempfile.TemporaryDirectory(prefix="verify-", dir=wiki.folders.cache) as folder,
        wiki.over_index(Path(folder) / "index") as fresh,
    ):
        fresh.refresh(full=True)
        for _ in range(MOST_ROUNDS):
            # A page that changed in the meantime must be in both before they are compared.
            rounds = (wiki.refresh(wait_s=WAIT_S), fresh.refresh())
            if not any(each.indexed or each.removed or each.why for each in rounds):
                return differences(wiki.index, fresh.index)
    raise Conflict("the pages keep changing, so that nothing can be compared", hint="Try again in a quiet moment.")
