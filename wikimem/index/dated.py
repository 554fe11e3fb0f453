"""Pages by the day that they state."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from wikimem.index.manifest import iso

if TYPE_CHECKING:
    from wikimem.index.index import Index


def pages_made(index: Index, start: datetime, end: datetime, most: int) -> list[int]:
    """Numbers of the pages that were made, or began to hold, from `start` up to `end`; none where they are more than
    `most`."""
    moments = (iso(start), iso(end))
    statement = "SELECT number FROM pages WHERE (created >= ? AND created < ?) OR (valid_from >= ? AND valid_from < ?)"
    found = index.parts().manifest.rows(f"{statement} LIMIT ?", (*moments, *moments, most + 1))
    return [number for (number,) in found] if len(found) <= most else []
