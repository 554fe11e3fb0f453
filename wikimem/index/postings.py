"""What Whoosh keeps for us: six posting lists a term, and where each passage stands. Read here as numpy arrays.

Whoosh scores posting by posting in Python, 7 ms for a question over 10,000 pages and 30 ms over 100,000. The same
lists decoded block by block into arrays are scored in a tenth of that, with a true BM25F across fields, the filter
as one mask, and statistics of living passages alone. The blocks have no public reader: `read_postings` uses the names
of the version that pyproject pins, takes Whoosh's public iteration wherever a list is of another kind, and a test
compares the two.

Whoosh's files hold pickles. They are opened only in a folder that this user's wikimem wrote (the index stamp).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from msgspec import Struct
from whoosh import columns, fields, formats
from whoosh.codec.whoosh3 import W3LeafMatcher
from whoosh.matching.mcore import ListMatcher
from whoosh.matching.wrappers import FilterMatcher
from whoosh.reading import SegmentReader, TermNotFound

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIELDS: Final = ("title", "aliases", "heading", "tags", "body")
SAID: Final = "said"
"""What the person said of a body: scored apart, since it is in the body as well."""
STORED: Final = (*FIELDS, SAID)
PLACE_TYPE: Final = np.dtype([("id", "<i8"), ("page", "<i8"), ("lengths", "<u4", (len(STORED),))])

Postings: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.float32]]"


class TermsField(fields.FieldType):
    """A field whose value is the list of its terms, already analysed. Keeps frequencies, no positions, no lengths."""

    def __init__(self) -> None:
        # Without a call to the base class, which wants an analyser: the terms come analysed.
        self.format = formats.Existence()
        self.scorable = False

    def index(self, value: Sequence[str], **_: object) -> Generator[tuple[bytes, int, float, bytes], Any, None]:
        """Term as bytes, frequency, weight (the frequency again) and no further value."""
        for term, count in Counter(value).items():
            yield term.encode("utf-8", "surrogatepass"), count, float(count), b""


class PlaceField(fields.COLUMN):
    """One column of fixed width: passage id, page number and field lengths."""

    def __init__(self) -> None:
        column: Any = columns.FixedBytesColumn
        super().__init__(column(PLACE_TYPE.itemsize))


def make_schema() -> fields.Schema:
    return fields.Schema(place=PlaceField(), **{name: TermsField() for name in STORED})


def pack_place(passage: int, page: int, lengths: Sequence[int]) -> bytes:
    return np.array([(passage, page, tuple(lengths))], dtype=PLACE_TYPE).tobytes()


class Leaf(Struct, frozen=True):
    """One segment: its reader, the place of each of its documents, and which of them are not deleted."""

    name: str
    reader: Any
    base: int
    places: NDArray[np.void]
    live: NDArray[np.bool_]


def open_leaves(index: Any, storage: Any, known: Mapping[str, Leaf]) -> tuple[int, list[Leaf]]:
    """The generation of Whoosh's newest table of contents, and the segments that it lists.

    `known` are those opened before, by name. A segment never changes but for the documents deleted in it, which the
    table lists: its reader and its places are used again, since opening one takes over a millisecond.
    """
    toc = index._read_toc()
    leaves: list[Leaf] = []
    base = 0
    for segment in toc.segments:
        name, count = segment.segment_id(), segment.doc_count_all()
        if name in known:
            reader, places = known[name].reader, known[name].places
        else:
            reader = SegmentReader(storage, toc.schema, segment, generation=toc.generation)
            places = _read_places(reader.column_reader("place", translate=False), count)
        live = np.ones(count, dtype=bool)
        if segment.has_deletions():
            live[np.fromiter(segment.deleted_docs(), dtype=np.int64)] = False
        leaves.append(Leaf(name, reader, base, places, live))
        base += count
    return toc.generation, leaves


def _read_places(column: Any, count: int) -> NDArray[np.void]:
    if type(column) is columns.FixedBytesColumn.Reader and column._count == count:
        # All of it at once: value by value it takes a tenth of a second for each 300,000.
        data = bytes(column._dbfile.get(column._basepos, count * PLACE_TYPE.itemsize))
    else:
        data = b"".join(bytes(value) for value in column)
    return np.frombuffer(data, dtype=PLACE_TYPE, count=count)


def read_postings(leaf: Leaf, field: str, term: bytes) -> Postings | None:
    """Document numbers within the segment (deleted ones included) and frequencies; None where the term is not there."""
    try:
        matcher = leaf.reader.postings(field, term)
    except TermNotFound:
        return None
    if type(matcher) is FilterMatcher:
        matcher = matcher.child
    if type(matcher) is W3LeafMatcher:
        return _read_blocks(matcher)
    if type(matcher) is ListMatcher:
        return np.array(matcher._ids, dtype=np.int64), np.array(matcher._weights, dtype=np.float32)
    return iterate_postings(matcher)


def iterate_postings(matcher: Any) -> Postings:
    """Any matcher through its public interface: slow, and always right."""
    ids: list[int] = []
    weights: list[float] = []
    while matcher.is_active():
        ids.append(matcher.id())
        weights.append(matcher.weight())
        matcher.next()
    return np.array(ids, dtype=np.int64), np.array(weights, dtype=np.float32)


def _read_blocks(matcher: Any) -> Postings:
    ids: list[Any] = []
    weights: list[Any] = []
    # A filter around it has already moved it past the first documents that are deleted.
    matcher.reset()
    while matcher.is_active():
        matcher._read_ids()
        matcher._read_weights()
        ids.append(np.asarray(matcher._ids, dtype=np.int64))
        weights.append(np.asarray(matcher._weights, dtype=np.float32))
        matcher._next_block()
    return np.concatenate(ids), np.concatenate(weights)
