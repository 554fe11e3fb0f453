"""Watch a vault until the person, or the system, ends it; a line for each thing that is done."""

from __future__ import annotations

import json
import logging
import signal
import threading
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Final

from wikimem.operations.registry import SCHEMA_VERSION
from wikimem.operations.watching import watch

if TYPE_CHECKING:
    from wikimem.operations.watching import Deed
    from wikimem.wiki import Wiki

_ENDINGS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def watch_in_foreground(
    make_wiki: Callable[[], Wiki],
    line: Callable[[str], None],
    *,
    as_json: bool,
    poll: bool,
    wait: bool,
) -> None:
    """Returns at SIGINT, SIGTERM or SIGHUP. `as_json` gives one JSON object in each line."""
    stop = threading.Event()

    def tell(deed: Deed) -> None:
        now = datetime.now()
        if not as_json:
            line(f"{now:%H:%M:%S} {deed.text}")
            return
        document = {
            "schema": f"wikimem/watch/{SCHEMA_VERSION}",
            "time": now.isoformat(timespec="milliseconds"),
            "event": deed.event,
            "text": deed.text,
            **deed.about,
        }
        # A path that is no text keeps its bytes as escapes.
        line(json.dumps(document))

    # What is logged is said in a line as well, or it is about files that were gone a moment later.
    logging.getLogger("wikimem").addHandler(logging.NullHandler())
    before = {ending: signal.signal(ending, lambda *_: stop.set()) for ending in _ENDINGS}
    try:
        watch(make_wiki, tell, stop, poll=poll, wait=wait)
    finally:
        for ending, handler in before.items():
            signal.signal(ending, handler)
