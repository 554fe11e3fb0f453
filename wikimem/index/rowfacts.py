"""What the row of a page takes from its file's stat, its frontmatter and its path."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wikimem.model.page import FileStat, Metadata


def moment_of(stat: FileStat) -> datetime | None:
    """When the file was changed, local time; None for a stat that was deliberately made unlike any file's."""
    return datetime.fromtimestamp(stat.mtime_ns / 1e9) if stat.mtime_ns >= 0 else None


def expiry(meta: Metadata) -> datetime | None:
    """When the page's `ttl` runs out, counted from its last confirmation, else its creation. Pinned pages stay."""
    start = meta.confirmed or meta.created or meta.valid_from
    if meta.ttl_seconds is None or meta.pinned or start is None:
        return None
    try:
        return start + timedelta(seconds=meta.ttl_seconds)
    except OverflowError:
        return None


def project_of(path: str) -> str | None:
    """The project whose folder a page lies in; None for pages outside `projects/`."""
    parts = path.split("/")
    return parts[1] if parts[0] == "projects" and len(parts) > 2 else None
