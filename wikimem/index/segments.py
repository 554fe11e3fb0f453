"""Whoosh's files: a folder that can be let go of when damaged, and which segments an update joins."""

from __future__ import annotations

from typing import Any, Final

from whoosh.filedb import filestore
from whoosh.reading import SegmentReader

_TIER: Final = 8
"""Segments of a like size from which on an update joins them."""
_SMALL_TIERS: Final = 3
"""Tiers (of up to 3, 31 and 255 passages) that the update of a single page joins: a tenth of a second at most."""


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
    """The segments to keep as they are; those that are joined into the new one have been read by then.

    Segments of a like size are joined when there are eight of them (tiers, as in Lucene's TieredMergePolicy), so that
    a passage is rewritten a few times in its life and a search meets few segments. Large ones are joined by bulk
    updates only, which take seconds anyway: a single page never waits for them. Besides, the dead ones are dropped and
    those that are mostly dead rewritten, which costs as much as the passages that live there, fewer than were deleted.
    """
    living = [segment for segment in segments if segment.doc_count() > 0]
    doomed = {segment.segment_id() for segment in living if segment.deleted_count() > segment.doc_count()}
    tiers: dict[int, list[str]] = {}
    for segment in living:
        tiers.setdefault(segment.doc_count().bit_length() // 3, []).append(segment.segment_id())
    doomed.update(
        name for tier, names in tiers.items() if len(names) >= _TIER and (bulk or tier < _SMALL_TIERS) for name in names
    )
    for segment in living:
        if segment.segment_id() in doomed:
            reader = SegmentReader(writer.storage, writer.schema, segment)
            writer.add_reader(reader)
            reader.close()
    return [segment for segment in living if segment.segment_id() not in doomed]
