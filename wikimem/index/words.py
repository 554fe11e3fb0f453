"""Words: BM25F over title, aliases, headings, tags and body of every passage.

    wtf(t, d) = sum over fields of boost * tf / (1 - b + b * length / average length)
    score(d)  = sum over terms of idf(t) * wtf * (k1 + 1) / (k1 + wtf)
    idf(t)    = ln(1 + (N - n + 0.5) / (n + 0.5)),  n of N living passages hold t in any field

A page is scored by the same formula with its passages taken together: a field's terms and lengths are added up where
each passage has its own (heading, body), and counted once where all have the same (title, aliases, tags). What a person
said on a page is scored likewise, from one field alone; where nobody is named as speaking, the body is what is said.

Terms are OR-ed: a passage needs one of them. The words of a page's title, aliases and tags are words of each of its
passages. All statistics are those of living passages, so that an index that grew by updates ranks exactly as one that
was built at once.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import pickle
import re
import struct
import threading
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from whoosh import index as whoosh_index
from whoosh import writing as whoosh_writing
from whoosh.reading import CorruptIndexError

from wikimem.errors import Damaged, Unavailable
from wikimem.index.bm25 import K1, best_of, field_norms, norm
from wikimem.index.membership import is_among
from wikimem.index.parts import Allowed
from wikimem.index.postings import (
    FIELDS,
    SAID,
    STORED,
    Leaf,
    Postings,
    make_schema,
    open_leaves,
    pack_place,
    read_postings,
)
from wikimem.index.segments import Storage, merge_segments

if TYPE_CHECKING:
    from numpy.typing import NDArray

_OF_EACH_PASSAGE: Final = frozenset({"heading", "body", SAID})
"""Fields that each passage has for itself; the others are the page's."""

# Whoosh declares itself typed and is so in part only.
_FileIndex: Final[Any] = whoosh_index.FileIndex
_SegmentWriter: Final[Any] = whoosh_writing.SegmentWriter

BULK: Final = 500
"""Passages in one update from which on it may join segments; a question costs a look into each of them."""
_MEMORY_MB: Final = 96
_CACHED_POSTINGS: Final = 4_000_000
"""Postings kept decoded between questions, 12 bytes each."""
_TOC: Final = re.compile(r"_MAIN_([0-9]+)\.toc")
_BROKEN: Final = (
    *(whoosh_index.IndexError, CorruptIndexError, whoosh_writing.IndexingError, OSError, pickle.UnpicklingError),
    *(EOFError, struct.error, zlib.error, ValueError, LookupError, AttributeError, TypeError, AssertionError),
    ImportError,
)
"""What Whoosh raises on files that are not as it wrote them; it unpickles before it checks."""


_REMAKE: Final = "Run `wikimem reindex --full`: the index is made from the pages again."


class WordsDamaged(Damaged):
    """Whoosh's files cannot be read; the words are rebuilt from the pages."""


class WordsEntry(Struct, frozen=True):
    """A passage to index: the terms of each of STORED, in that order."""

    passage: int
    page: int
    terms: tuple[Sequence[str], ...]


def _size(postings: Postings | None) -> int:
    """What a posting list counts for among those that are kept."""
    return 1 if postings is None else len(postings[0])


class _Snapshot(Struct, frozen=True):
    generation: int
    leaves: list[Leaf]
    ids: NDArray[np.int64]
    pages: NDArray[np.int64]
    live: NDArray[np.bool_]
    norms: NDArray[np.float32]
    """For each field and passage, boost / (1 - b + b * length / average length)."""
    numbers: NDArray[np.int64]
    """Page numbers of the living passages, each once, and for every passage the place of its page among them."""
    place_of_page: NDArray[np.int64]
    page_norms: NDArray[np.float32]
    """As `norms`, for each field and page."""
    said: NDArray[np.bool_]
    """For each page, whether somebody is named as speaking there."""
    said_norms: NDArray[np.float32]


_NOTHING: Final = _Snapshot(
    generation=-1,
    leaves=[],
    ids=np.zeros(0, dtype=np.int64),
    pages=np.zeros(0, dtype=np.int64),
    live=np.zeros(0, dtype=bool),
    norms=np.zeros((len(FIELDS), 0), dtype=np.float32),
    numbers=np.zeros(0, dtype=np.int64),
    place_of_page=np.zeros(0, dtype=np.int64),
    page_norms=np.zeros((len(FIELDS), 0), dtype=np.float32),
    said=np.zeros(0, dtype=bool),
    said_norms=np.zeros(0, dtype=np.float32),
)


def _snapshot_of(generation: int, leaves: list[Leaf]) -> _Snapshot:
    if not leaves:
        return replace(_NOTHING, generation=generation)
    places = np.concatenate([leaf.places for leaf in leaves])
    live = np.concatenate([leaf.live for leaf in leaves])
    *of_fields, said_lengths = places["lengths"].T.astype(np.float64)
    lengths = np.array(of_fields)
    averages = lengths[:, live].mean(axis=1) if live.any() else np.ones(len(FIELDS))
    ids, pages = np.ascontiguousarray(places["id"]), np.ascontiguousarray(places["page"])
    numbers, place_of_living = _numbered(pages[live])
    place_of_page = np.zeros(len(pages), dtype=np.int64)
    place_of_page[live] = place_of_living
    page_lengths = np.zeros((len(FIELDS), len(numbers)))
    for position, field in enumerate(FIELDS):
        if field in _OF_EACH_PASSAGE:
            page_lengths[position] = np.bincount(place_of_living, lengths[position, live], len(numbers))
        else:
            page_lengths[position, place_of_living] = lengths[position, live]
    page_averages = page_lengths.mean(axis=1) if len(numbers) else np.ones(len(FIELDS))
    said = np.bincount(place_of_living, said_lengths[live], len(numbers))
    spoken = np.where(said > 0, said, page_lengths[FIELDS.index("body")])
    return _Snapshot(
        generation,
        leaves,
        ids,
        pages,
        live,
        field_norms(lengths, averages),
        numbers,
        place_of_page,
        field_norms(page_lengths, page_averages),
        said > 0,
        norm(spoken, spoken.mean() if len(numbers) else 1.0).astype(np.float32),
    )


def _numbered(pages: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The different page numbers in order, and for each of `pages` its place among them.

    As `np.unique`, but without sorting: numbers of pages are small and nearly dense.
    """
    there = np.zeros(int(pages.max(initial=-1)) + 1, dtype=bool)
    there[pages] = True
    places = np.cumsum(there) - 1
    return np.flatnonzero(there), places[pages]


class WordsIndex:
    """The words of one index, in a folder of their own. Safe to share between threads; one process at a time writes."""

    def __init__(self, folder: Path) -> None:
        """Nothing is opened before it is needed. Only `apply` creates: a reader might clear what a writer just made."""
        self._folder = folder
        self._lock = threading.RLock()
        self._snapshot: _Snapshot | None = None
        self._cache: dict[tuple[str, str, bytes], Postings | None] = {}
        self._cached = 0

    def close(self) -> None:
        """Let go of the files; harmless to repeat."""
        with self._lock:
            self._keep(None)

    def _keep(self, snapshot: _Snapshot | None) -> None:
        """Answer from `snapshot` from now on, and let go of the segments that it does not share with the one before."""
        kept = {leaf.name for leaf in snapshot.leaves} if snapshot else set()
        for leaf in self._snapshot.leaves if self._snapshot else ():
            if leaf.name not in kept:
                leaf.reader.close()
        self._snapshot = snapshot

    # -- reading

    def search(self, terms: Sequence[str], limit: int, allowed: Allowed | None) -> list[tuple[int, float]]:
        """The best `limit` passages that hold any of `terms`, with their scores, best first; equal ones by id."""
        with self._lock, self._reading():
            snapshot = self._current()
            if not terms or limit <= 0 or not len(snapshot.ids):
                return []
            seen = snapshot.live
            if allowed is not None and not allowed.everything:
                seen = seen & allowed.mask(snapshot.pages)
            scores = self._scores(snapshot, terms)
            found = np.flatnonzero((scores > 0) & seen)
            return best_of(snapshot.ids[found], scores[found], limit)

    def search_pages(
        self, terms: Sequence[str], limit: int, allowed: Allowed | None, *, said: bool = False
    ) -> list[tuple[int, float]]:
        """The best `limit` pages, by number, that hold any of `terms`, with their scores as wholes; as `search`.

        With `said` only what the person said counts.
        """
        with self._lock, self._reading():
            snapshot = self._current()
            if not terms or limit <= 0 or not len(snapshot.numbers):
                return []
            scores = self._page_scores(snapshot, terms, self._said_weights if said else self._page_weights)
            seen = scores > 0
            if allowed is not None and not allowed.everything:
                seen &= allowed.mask(snapshot.numbers)
            found = np.flatnonzero(seen)
            return best_of(snapshot.numbers[found], scores[found], limit)

    def rarity(self, terms: Iterable[str]) -> dict[str, float]:
        """The idf of each term among the living passages; a term that none holds is the rarest."""
        with self._lock, self._reading():
            snapshot = self._current()
            total = int(np.count_nonzero(snapshot.live))
            found = {}
            for term in terms:
                held = snapshot.live & (self._weights(snapshot, term.encode("utf-8", "surrogatepass")) > 0)
                count = int(np.count_nonzero(held))
                found[term] = float(np.log1p((total - count + 0.5) / (count + 0.5)))
            return found

    def page_count(self) -> tuple[int, int]:
        """How many pages, and how many passages, are indexed."""
        with self._lock, self._reading():
            return len((snapshot := self._current()).numbers), int(np.count_nonzero(snapshot.live))

    def ids(self) -> set[int]:
        """Every passage that is indexed."""
        with self._lock, self._reading():
            snapshot = self._current()
            return set(snapshot.ids[snapshot.live].tolist())

    def contents(self) -> dict[int, tuple[int, tuple[int, ...], int]]:
        """For every passage its page number, the lengths of its fields, and a digest of all its postings.

        The digest is a sum over terms, so that it does not depend on segments or on their order.
        """
        with self._lock, self._reading():
            found: dict[int, tuple[int, tuple[int, ...], int]] = {}
            for leaf in self._current().leaves:
                digests = np.zeros(len(leaf.places), dtype=np.uint64)
                for field, term in leaf.reader.all_terms():
                    postings = read_postings(leaf, field, term) if field in STORED else None
                    if postings is not None:
                        code = hashlib.blake2b(f"{field}\0".encode() + term, digest_size=8).digest()
                        documents, weights = postings
                        digests[documents] += np.uint64(int.from_bytes(code)) * weights.astype(np.uint64)
                for place, live, digest in zip(leaf.places, leaf.live, digests.tolist(), strict=True):
                    if live:
                        found[int(place["id"])] = int(place["page"]), tuple(place["lengths"].tolist()), digest
            return found

    def _scores(self, snapshot: _Snapshot, terms: Sequence[str]) -> NDArray[np.float32]:
        scores = np.zeros(len(snapshot.ids), dtype=np.float32)
        total = int(np.count_nonzero(snapshot.live))
        for term in dict.fromkeys(terms):
            weights = self._weights(snapshot, term.encode("utf-8", "surrogatepass"))
            holding = np.flatnonzero(weights)
            held = int(np.count_nonzero(snapshot.live[holding]))
            if held == 0:
                continue
            idf = np.float32(np.log1p((total - held + 0.5) / (held + 0.5)))
            weighted = weights[holding]
            scores[holding] += idf * np.float32(K1 + 1) * weighted / (np.float32(K1) + weighted)
        return scores

    def _weights(self, snapshot: _Snapshot, term: bytes) -> NDArray[np.float32]:
        weights = np.zeros(len(snapshot.ids), dtype=np.float32)
        for leaf in snapshot.leaves:
            for position, field in enumerate(FIELDS):
                postings = self._postings(leaf, field, term)
                if postings is not None:
                    documents = postings[0] + leaf.base
                    weights[documents] += postings[1] * snapshot.norms[position, documents]
        return weights

    def _page_scores(
        self, snapshot: _Snapshot, terms: Sequence[str], weigh: Callable[[_Snapshot, bytes], NDArray[np.float32]]
    ) -> NDArray[np.float32]:
        total = len(snapshot.numbers)
        scores = np.zeros(total, dtype=np.float32)
        for term in dict.fromkeys(terms):
            weights = weigh(snapshot, term.encode("utf-8", "surrogatepass"))
            held = int(np.count_nonzero(weights))
            if held:
                idf = np.float32(np.log1p((total - held + 0.5) / (held + 0.5)))
                scores += idf * np.float32(K1 + 1) * weights / (np.float32(K1) + weights)
        return scores

    def _page_weights(self, snapshot: _Snapshot, term: bytes) -> NDArray[np.float32]:
        weights = np.zeros(len(snapshot.numbers), dtype=np.float32)
        for position, field in enumerate(FIELDS):
            weights += self._page_counts(snapshot, field, term) * snapshot.page_norms[position]
        return weights

    def _said_weights(self, snapshot: _Snapshot, term: bytes) -> NDArray[np.float32]:
        said, body = (self._page_counts(snapshot, field, term) for field in (SAID, "body"))
        return np.where(snapshot.said, said, body) * snapshot.said_norms

    def _page_counts(self, snapshot: _Snapshot, field: str, term: bytes) -> NDArray[np.float32]:
        counts = np.zeros(len(snapshot.numbers), dtype=np.float32)
        for leaf in snapshot.leaves:
            postings = self._postings(leaf, field, term)
            if postings is None:
                continue
            documents = postings[0] + leaf.base
            living = snapshot.live[documents]
            pages, found = snapshot.place_of_page[documents[living]], postings[1][living]
            if field in _OF_EACH_PASSAGE:
                counts += np.bincount(pages, found, len(counts)).astype(np.float32)
            else:
                counts[pages] = found
        return counts

    def _postings(self, leaf: Leaf, field: str, term: bytes) -> Postings | None:
        key = (leaf.name, field, term)
        if key not in self._cache:
            if self._cached > _CACHED_POSTINGS:
                self._cache.clear()
                self._cached = 0
            postings = self._cache[key] = read_postings(leaf, field, term)
            self._cached += _size(postings)
        return self._cache[key]

    def _current(self) -> _Snapshot:
        generation = self._generation()
        if generation < 0:
            return _NOTHING
        if self._snapshot is not None and self._snapshot.generation == generation:
            return self._snapshot
        snapshot = self._read_snapshot(generation)
        self._keep(snapshot)
        living = {leaf.name for leaf in snapshot.leaves}
        for key in [key for key in self._cache if key[0] not in living]:
            self._cached -= _size(self._cache.pop(key))
        return snapshot

    def _generation(self) -> int:
        """The number of the newest table of contents; -1 where there is none."""
        try:
            found = [_TOC.fullmatch(name) for name in os.listdir(self._folder)]
        except FileNotFoundError:
            return -1
        return max((int(match[1]) for match in found if match), default=-1)

    def _read_snapshot(self, generation: int) -> _Snapshot:
        while True:
            storage = Storage(str(self._folder))
            known = {leaf.name: leaf for leaf in self._snapshot.leaves} if self._snapshot else {}
            try:
                return _snapshot_of(*open_leaves(_FileIndex(storage), storage, known))
            except _BROKEN:
                storage.abandon()
                # The writer deletes what it replaced: a file may vanish between the list and the look.
                newer = self._generation()
                if newer == generation:
                    raise
                generation = newer

    # -- writing

    def apply(
        self, added: Iterable[WordsEntry], removed: Collection[int], *, replaced: Collection[int] | None = None
    ) -> None:
        """Replace the passages `removed` by `added` in one commit: a reader sees all of it or nothing.

        `replaced` are those of `added` that may be indexed already, None for any: where nothing is taken out the
        segments need not be opened, which takes long in a large index. The caller holds the index lock.
        """
        entries = list(added)
        gone = {*removed, *((entry.passage for entry in entries) if replaced is None else replaced)}
        with self._lock, self._reading():
            doomed = self._places_of(gone)
            if not entries and not len(doomed):
                return
            if self._generation() < 0:
                self._folder.mkdir(mode=0o700, exist_ok=True)
                index = _FileIndex.create(Storage(str(self._folder)), make_schema())
            else:
                index = _FileIndex(Storage(str(self._folder)))
            writer = _SegmentWriter(index, timeout=10.0, limitmb=_MEMORY_MB)
            try:
                for document in doomed.tolist():
                    writer.delete_document(document)
                for entry in entries:
                    place = pack_place(entry.passage, entry.page, [len(terms) for terms in entry.terms])
                    filled = {field: terms for field, terms in zip(STORED, entry.terms, strict=True) if terms}
                    writer.add_document(place=place, **filled)
            except BaseException:
                writer.cancel()
                raise
            writer.commit(mergetype=partial(merge_segments, bulk=len(entries) >= BULK))

    def _places_of(self, passages: Collection[int]) -> NDArray[np.int64]:
        """The document numbers of those of the passages that live in the index."""
        snapshot = self._current() if passages else _NOTHING
        wanted = np.fromiter(sorted(passages), dtype=np.int64, count=len(passages))
        return np.flatnonzero(snapshot.live & is_among(snapshot.ids, wanted))

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS, errno.EMFILE):
                raise self._damage(error) from error
            raise Unavailable(
                f"the words of the index in '{self._folder}' cannot be used: {error.strerror}",
                hint="See to free space and to the permissions of wikimem's cache folder.",
            ) from error
        except _BROKEN as error:
            raise self._damage(error) from error

    def _damage(self, error: BaseException) -> WordsDamaged:
        what = f"{type(error).__name__}: {error}"
        return WordsDamaged(f"the words of the index in '{self._folder}' cannot be read: {what}", hint=_REMAKE)
