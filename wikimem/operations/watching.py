"""watch: the background work of one vault in this process. Not an operation: it lasts.

`open_duties` is also what the resident process and a server use, with a rank of their own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from wikimem.errors import Locked

if TYPE_CHECKING:
    from wikimem.memory.duties import Deed, Duties
    from wikimem.vault.duty import Rank
    from wikimem.vault.feed import ChangeFeed
    from wikimem.wiki import Wiki

__all__ = ["Deed", "Duties", "open_duties", "watch"]

HANDOVER_WAIT_S: Final = 15.0
"""How long a process of a lower rank has to finish what it is at and hand the duty over."""


def open_duties(
    make_wiki: Callable[[], Wiki],
    rank: Rank,
    tell: Callable[[Deed], None],
    *,
    feed: ChangeFeed | None = None,
    poll: bool = False,
) -> Duties:
    """The background work of the vault that `make_wiki` opens; raises what that raises. See `Duties`."""
    from wikimem.memory.duties import Duties

    return Duties(make_wiki, rank, tell, feed=feed, poll=poll)


def watch(
    make_wiki: Callable[[], Wiki],
    tell: Callable[[Deed], None],
    stop: threading.Event,
    *,
    poll: bool = False,
    wait: bool = False,
) -> None:
    """Watch a vault until `stop` is set.

    Where another process of at least this rank does it already, this one waits for its end with `wait`, and otherwise
    raises Locked; one of a lower rank has some seconds to hand over.
    """
    duties = open_duties(make_wiki, "watch", tell, poll=poll)
    try:
        _take(duties, tell, stop, wait=wait)
    except BaseException:
        duties.close()
        raise
    duties.run(stop)


def _take(duties: Duties, tell: Callable[[Deed], None], stop: threading.Event, *, wait: bool) -> None:
    from wikimem.memory.duties import Deed
    from wikimem.vault.duty import RANKS, duty_holder

    duty = duties.duty
    told = False
    deadline = time.monotonic() + HANDOVER_WAIT_S
    while not duty.take() and not stop.is_set():
        holder = duty_holder(duties.state_folder)
        lower = holder is not None and holder.rank in RANKS and RANKS.index(holder.rank) < RANKS.index(duty.rank)
        patient = wait or lower or holder is None or holder.rank == "unknown"
        if not patient or (not wait and time.monotonic() > deadline):
            who = str(holder) if holder else "a process that waits for it, too,"
            raise Locked(
                f"this vault is watched already by {who}",
                hint="There is nothing to do; `--wait` takes over when that ends.",
                data={"owner": who},
            )
        if not told and holder is not None:
            told = True
            tell(Deed("waiting", f"waiting for {holder}", {"pid": holder.pid, "rank": holder.rank}))
        stop.wait(0.2)
