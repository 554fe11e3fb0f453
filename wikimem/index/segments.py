"""Whoosh's files: a folder that can be let go of when damaged, and which segments an update joins."""

from __future__ import annotations

from typing import Any, Final

from whoosh import writing as whoosh_writing
from whoosh.filedb import filestore
from whoosh.reading import SegmentReader

# Whoosh declares itself typed and is so in part only.
_merge_small: Final[Any] = whoosh_writing.MERGE_SMALL

_TIER: Final = 8
"""Segments of a like size from which on a bulk update joins them."""


class Storage(filestore.FileStorage):
    """Whoosh's folder of files, which can close what Whoosh leaves open when it meets a damaged one."""

    def __init__(self, path: str) -> None:
        super().__init__(path)  # type: ignore[no-untyped-call]
        self._opened: list[Any] = []

    def open_file(self, name: str, **options: Any) -> Any:
        file: Any = super().open_file(name, **options)  # type: ignore[no-untyped-call]
        self._opened.append(file)
        return file

    def abandon(self) -> None:
        for file in self._opened:
            if not file.is_closed:
                file.close()


def merge_segments(writer: Any, segments: list[Any], *, bulk: bool) -> list[Any]:
    """Whoosh's own policy for small segments; besides, drop the dead ones and rewrite those that are mostly dead.

    Rewriting a segment costs as much as the passages that live in it, fewer than were deleted from it since. Segments
    of a like size are joined by bulk updates only, which take seconds anyway: a single page never waits for them.
    """
    living = [segment for segment in segments if segment.doc_count() > 0]
    doomed = {segment.segment_id() for segment in living if segment.deleted_count() > segment.doc_count()}
    if bulk:
        tiers: dict[int, list[str]] = {}
        for segment in living:
            tiers.setdefault(segment.doc_count().bit_length() // 3, []).append(segment.segment_id())
        doomed.update(name for tier in tiers.values() if len(tier) >= _TIER for name in tier)
    for segment in living:
        if segment.segment_id() in doomed:
            reader = SegmentReader(writer.storage, writer.schema, segment)
            writer.add_reader(reader)
            reader.close()
    kept: list[Any] = _merge_small(writer, [segment for segment in living if segment.segment_id() not in doomed])
    return kept
