"""Vectors: one row of floats for every passage, in a file that is mapped into memory and searched exactly.

    vectors.f32   rows of `dimensions` little-endian floats of unit length
    vectors.ids   for each row the passage id and the page number (two int64); the id -1 marks a free row
    vectors.pcs   for each row the word pieces of the passage in order, PIECES of them at most (uint32, 1 more than the
                  model's number, then zeros)

A freed row is used again before the file grows. Its entry in `vectors.ids` is freed before the row is overwritten and
written after it, so that a crash, or a reader at any moment, sees a passage with its own row or not at all. What the
manifest does not know is dropped by the reader. Exact search over 100,000 rows takes 13 ms; no index structure of
approximate search repays its cost at that size.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct

from wikimem.errors import Damaged
from wikimem.index.closeness import closeness, shared_pairs
from wikimem.index.embedder import Embedder, left_out
from wikimem.index.membership import is_among
from wikimem.index.parts import Allowed

if TYPE_CHECKING:
    from numpy.typing import NDArray

PIECES: Final = 192
"""A passage of 200 words has some 130 pieces that mean something; what is beyond is not read closely."""

FREE: Final = -1
_BLOCK: Final = 16_384
"""Rows scored at once: 16 MB of 256 dimensions, about what a processor's cache holds."""
_ENTRY: Final = 16
_PIECES_WIDTH: Final = 4 * PIECES
_MOST: Final = 1.001
"""No product of two unit vectors is more, but for rounding."""
_NOISE: Final = 1e-5
"""More than the rounding of a sum of a few hundred single-precision products of unit vectors."""


class VectorEntry(Struct, frozen=True):
    """A passage to index: the text whose meaning it has."""

    passage: int
    page: int
    text: str


class VectorIndex:
    """The vectors of one index. Safe to share between threads; one process at a time writes."""

    def __init__(self, folder: Path, load: Callable[[], Embedder], dimensions: int) -> None:
        """`load` makes the embedder when it is first needed. Raises Damaged where the files do not fit each other."""
        self._rows_path = folder / "vectors.f32"
        self._ids_path = folder / "vectors.ids"
        self._pieces_path = folder / "vectors.pcs"
        self._load = load
        self._embedder: Embedder | None = None
        self._dimensions = dimensions
        self._lock = threading.RLock()
        for path in (self._rows_path, self._ids_path, self._pieces_path):
            if not path.exists():
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        self._entries()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The model's vectors of some texts."""
        return self._loaded().encode(texts)

    def left_out(self, text: str) -> str:
        """Why this question is not answered by meaning, in words; empty where it is."""
        return left_out(text)

    def word_share(self, words: Sequence[str]) -> float:
        """The share (0 to 1) of these words that the model has whole."""
        return self._loaded().word_share(words)

    def _loaded(self) -> Embedder:
        with self._lock:
            if self._embedder is None:
                self._embedder = self._load()
            return self._embedder

    def search(self, text: str, limit: int, allowed: Allowed | None) -> list[tuple[int, float]]:
        """The best `limit` passages by cosine, best first; equal ones by id. Nothing for a question left out."""
        if limit <= 0 or left_out(text):
            return []
        query = self.encode([text])[0]
        if not query.any():
            return []
        return self.nearest(query, limit, allowed)

    def nearest(self, query: NDArray[np.float32], limit: int, allowed: Allowed | None) -> list[tuple[int, float]]:
        """The best `limit` passages for a vector of unit length."""
        entries = self._entries()
        seen = entries[:, 0] != FREE
        if allowed is not None and not allowed.everything:
            seen &= allowed.mask(entries[:, 1])
        wanted = np.flatnonzero(seen)
        if not len(wanted):
            return []
        rows = self._rows(len(entries))
        scores: NDArray[np.floating] = np.empty(len(wanted), dtype=np.float32)
        for start in range(0, len(wanted), _BLOCK):
            block = wanted[start : start + _BLOCK]
            first, last = int(block[0]), int(block[-1]) + 1
            dense = last - first == len(block)
            scores[start : start + _BLOCK] = (rows[first:last] if dense else rows[block]) @ query
        if len(wanted) > limit:
            least = np.partition(scores, len(scores) - limit)[len(scores) - limit]
            wanted = wanted[scores >= least - _NOISE]
        # A row's product depends in its last bits on where in the matrix it stands. Summed row by row it does not, so
        # that equal passages rank equally in every index.
        scores = (rows[wanted].astype(np.float64) * query.astype(np.float64)).sum(axis=1)
        if not (np.abs(scores) <= _MOST).all():
            raise Damaged(
                f"the vectors of the index in '{self._rows_path}' are no vectors of unit length",
                hint="Run `wikimem reindex --full`: the index is made from the pages again.",
            )
        ids = entries[wanted, 0]
        order = np.lexsort((ids, -scores))[:limit]
        # A row that changed hands while it was scored belongs to another passage now.
        now = self._entries()
        return [
            (int(ids[at]), float(scores[at])) for at in order if wanted[at] < len(now) and now[wanted[at], 0] == ids[at]
        ]

    def read_closely(
        self, words: Sequence[tuple[str, float]], passages: Sequence[int]
    ) -> tuple[dict[int, float], dict[int, float]]:
        """Closeness (about 0 to 1) and shared pairs (from 0) of passages to a question's words, given with weights.

        A passage without a row is in neither. See `wikimem.index.closeness`.
        """
        model = self._loaded()
        names = [word for word, _ in words]
        of_words, telling = model.pieces(names), model.telling(names)
        # In a small vault any everyday word is rare; what the language at large makes of it holds it down.
        known = [
            (own, weight * math.sqrt(says))
            for own, (_, weight), says in zip(of_words, words, telling, strict=True)
            if len(own)
        ]
        ids, pieces = self._kept_pieces(passages)
        if not known or not ids:
            return {}, {}
        asked = np.concatenate([own for own, _ in known])
        weights = np.concatenate([np.full(len(own), weight / len(own)) for own, weight in known])
        stems = model.stem_numbers(np.concatenate(pieces))
        ends = np.cumsum([len(row) for row in pieces])[:-1]
        edges = [model.stem_numbers(own[[0, -1]]).tolist() for own, _ in known]
        pairs = [(before[1], after[0]) for before, after in pairwise(edges)]
        close = closeness(asked, weights, pieces, model.rows)
        shared = shared_pairs(pairs, np.split(stems, ends))
        return dict(zip(ids, close.tolist(), strict=True)), dict(zip(ids, shared.tolist(), strict=True))

    def _kept_pieces(self, passages: Sequence[int]) -> tuple[list[int], list[NDArray[np.int64]]]:
        """Those of the passages that have a row, and their pieces."""
        entries = self._entries()[:, 0]
        places = np.flatnonzero(is_among(entries, np.array(sorted(passages), dtype=np.int64)) & (entries != FREE))
        kept = np.array(self._pieces(len(entries))[places]).astype(np.int64)
        # As in `nearest`: a row may have changed hands while it was read.
        now = self._entries()[:, 0]
        same = [at < len(now) and bool(now[at] == entries[at]) for at in places.tolist()]
        rows = [row[row > 0] - 1 for row, still in zip(kept, same, strict=True) if still]
        return entries[places[np.array(same, dtype=bool)]].tolist(), rows

    def ids(self) -> set[int]:
        """Every passage that has a vector."""
        ids = self._entries()[:, 0]
        return set(ids[ids != FREE].tolist())

    def contents(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32], NDArray[np.uint32]]:
        """The passages that have a vector, in the order of their ids: ids, page numbers, vectors, word pieces."""
        entries = self._entries()
        used = np.flatnonzero(entries[:, 0] != FREE)
        used = used[np.argsort(entries[used, 0], kind="stable")]
        rows, pieces = self._rows(len(entries))[used], self._pieces(len(entries))[used]
        return entries[used, 0], entries[used, 1], np.array(rows), np.array(pieces)

    def vector(self, passage: int) -> NDArray[np.float32] | None:
        """The vector of a passage, if it has one."""
        entries = self._entries()
        found = np.flatnonzero(entries[:, 0] == passage)
        return np.array(self._rows(len(entries))[found[0]]) if len(found) else None

    def apply(self, added: Sequence[VectorEntry], removed: Collection[int]) -> None:
        """Replace the passages `removed` by `added`. An entry whose passage has a row replaces it.

        The caller holds the index lock.
        """
        texts = [entry.text for entry in added]
        vectors = self.encode(texts) if added else None
        pieces = _packed(self._loaded().pieces(texts)) if added else np.zeros((0, PIECES), dtype="<u4")
        with self._lock:
            entries = self._entries()
            gone = np.array(sorted({*removed, *(entry.passage for entry in added)}), dtype=np.int64)
            freed = np.flatnonzero(is_among(entries[:, 0], gone))
            rows_file = os.open(self._rows_path, os.O_RDWR | os.O_CLOEXEC)
            ids_file = os.open(self._ids_path, os.O_RDWR | os.O_CLOEXEC)
            pieces_file = os.open(self._pieces_path, os.O_RDWR | os.O_CLOEXEC)
            try:
                tombstone = np.array([FREE, 0], dtype="<i8").tobytes()
                for row in freed.tolist():
                    os.pwrite(ids_file, tombstone, row * _ENTRY)
                if vectors is None:
                    return
                entries[freed, 0] = FREE
                free = np.flatnonzero(entries[:, 0] == FREE).tolist()[: len(added)]
                appended = len(added) - len(free)
                width = self._dimensions * 4
                for row, vector, own in zip(free, vectors, pieces, strict=False):
                    os.pwrite(rows_file, vector.astype("<f4").tobytes(), row * width)
                    os.pwrite(pieces_file, own.tobytes(), row * _PIECES_WIDTH)
                if appended:
                    os.pwrite(rows_file, vectors[len(free) :].astype("<f4").tobytes(), len(entries) * width)
                    os.pwrite(pieces_file, pieces[len(free) :].tobytes(), len(entries) * _PIECES_WIDTH)
                # The rows must be there, after a power cut too, before anything says whose they are.
                for file in (rows_file, pieces_file):
                    os.fdatasync(file) if hasattr(os, "fdatasync") else os.fsync(file)
                places = np.array([(entry.passage, entry.page) for entry in added], dtype="<i8")
                for row, place in zip(free, places, strict=False):
                    os.pwrite(ids_file, place.tobytes(), row * _ENTRY)
                if appended:
                    os.pwrite(ids_file, places[len(free) :].tobytes(), len(entries) * _ENTRY)
            finally:
                for file in (rows_file, ids_file, pieces_file):
                    os.close(file)

    def _entries(self) -> NDArray[np.int64]:
        """A copy of the ids file: a row may change hands at any moment."""
        data = self._ids_path.read_bytes()
        count = len(data) // _ENTRY
        short = self._rows_path.stat().st_size < count * self._dimensions * 4
        if short or self._pieces_path.stat().st_size < count * _PIECES_WIDTH:
            raise Damaged(
                f"the vectors of the index in '{self._rows_path}' are cut short",
                hint="Run `wikimem reindex --full`: the index is made from the pages again.",
            )
        return np.frombuffer(data[: count * _ENTRY], dtype="<i8").reshape(count, 2).copy()

    def _rows(self, count: int) -> NDArray[np.float32]:
        if count == 0:
            return np.zeros((0, self._dimensions), dtype=np.float32)
        return np.memmap(self._rows_path, dtype="<f4", mode="r", shape=(count, self._dimensions))

    def _pieces(self, count: int) -> NDArray[np.uint32]:
        if count == 0:
            return np.zeros((0, PIECES), dtype=np.uint32)
        return np.memmap(self._pieces_path, dtype="<u4", mode="r", shape=(count, PIECES))


def _packed(texts: Sequence[NDArray[np.int64]]) -> NDArray[np.uint32]:
    rows = np.zeros((len(texts), PIECES), dtype="<u4")
    for row, pieces in zip(rows, texts, strict=True):
        row[: len(pieces)] = pieces[:PIECES] + 1
    return rows
