"""The index of one vault: the one object through which everything else reads and updates it.

    stamp.json    the stamp of this user, the format, and which making of the index this is
    index.lock    held by whoever writes
    manifest.db   pages, names, tags, links, passages (no text)
    words/        Whoosh: terms of passages
    vectors.*     meanings of passages

Everything here is derived: where a part cannot be read or was made by another version, that part is emptied, its
pages are reported as not indexed, and `notes` says so.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wikimem.errors import Damaged, Invalid, Locked, Unavailable
from wikimem.index.address import find_pages
from wikimem.index.folder import VECTORS_VERSION, IndexFolder
from wikimem.index.links import LinkGraph
from wikimem.index.lock import index_lock
from wikimem.index.manifest import LIVE, SORTS, UNKNOWN_STAT, Manifest, PageRows, iso
from wikimem.index.modelfiles import ModelFiles
from wikimem.index.parts import Allowed, Counts, LinkRow, Missing
from wikimem.index.rowfacts import moment_of
from wikimem.index.update import Parts, apply_batch, reconcile
from wikimem.model.hit import PageFilter, PageRow, PassageRow
from wikimem.model.page import FileStat, Page, Problem
from wikimem.text.analysis import ANALYSIS_VERSION

if TYPE_CHECKING:
    from wikimem.index.vectors import VectorIndex
    from wikimem.index.words import WordsIndex

__all__ = ["SORTS", "Allowed", "Counts", "Index", "LinkRow", "Missing"]

BATCH_PAGES: Final = 1_000
"""Pages that become visible at once; bounds the memory of a first index and what an interrupted one has to repeat."""
LOCK_WAIT_S: Final = 30.0
SHIPPED_MODEL: Final = Path(__file__).with_name("model")
"""The model that is used where the user names no other."""


class Index:
    """One vault's derived index. Any number of processes read it; one at a time writes, under the index lock.

    `notes` says in words what was emptied, rebuilt or repaired since it was opened; callers say it aloud.
    """

    links: LinkGraph
    _manifest: Manifest

    def __init__(self, folder: IndexFolder, stamp: str, model: ModelFiles) -> None:
        self._folder = folder
        self._stamp = stamp
        self._model = model
        self._notes: list[str] = []
        self._lock = threading.RLock()
        self._holder: int | None = None
        self._making = ""
        self._words: WordsIndex | None = None
        self._vectors: VectorIndex | Missing | None = None
        self._vectors_checked: tuple[object, ...] = ()
        self._stats: tuple[tuple[str, tuple[int, int]], Mapping[str, FileStat]] | None = None
        self._load()

    @classmethod
    def open(cls, folder: Path, *, stamp: str, model: Path | None) -> Index:
        """Open the index in `folder`, or begin one. `model` None is the model that ships with wikimem.

        Raises Refused for a folder of a newer format, Locked where a repair is needed and another process writes.
        """
        return cls(IndexFolder(folder), stamp, ModelFiles.read(model or SHIPPED_MODEL))

    # -- opening

    def _load(self) -> None:
        if self._folder.standing(self._stamp) != "ours" or not self._folder.has_manifest():
            with self._repairing():
                self._begin()
        try:
            self._attach()
        except Damaged as damage:
            with self._repairing():
                self._notes.append(f"{damage.message}; the index is made again")
                self._folder.reset(self._stamp)
                self._attach()
        self._check_versions()
        if self._needs_repair():
            try:
                with index_lock(self._folder.lock, 0.0) as held:
                    # Whoever holds the lock is writing, which looks the same and is no damage.
                    if held and self._needs_repair():
                        self._reconcile()
            except Unavailable as error:
                # A full or closed disk: answers come from what is there, and the next writer repairs it.
                self._notes.append(error.message)

    def _begin(self) -> None:
        standing = self._folder.standing(self._stamp)
        if standing == "ours" and self._folder.has_manifest():
            return
        if standing == "foreign":
            self._notes.append(f"the index in '{self._folder.path}' was not written by this user's wikimem; emptied")
        if standing == "old":
            self._notes.append("the index has an older format; it is made again")
        if standing == "ours":
            self._notes.append(f"the index in '{self._folder.path}' has lost its manifest; it is made again")
        self._folder.reset(self._stamp)
        self._attach()

    def _attach(self) -> None:
        self.close()
        self._making = stamp.making if (stamp := self._folder.read_stamp()) else ""
        self._manifest = Manifest(self._folder.manifest)
        self.links = LinkGraph(self._manifest)

    def _check_versions(self) -> None:
        """Empty the parts that were made by another analyser or model."""
        made_by = f"{self._model.digest} {VECTORS_VERSION}" if self._model.digest else ""
        wanted = {"analysis": ANALYSIS_VERSION, "model": made_by}
        if all(not value or self._manifest.meta(key) == value for key, value in wanted.items()):
            return
        with self._repairing():
            for key, value in wanted.items():
                made = self._manifest.meta(key)
                if not value or made == value:
                    continue
                if made and key == "analysis":
                    self._notes.append("words are cut differently by this version; they are indexed again")
                if made and key == "model":
                    self._notes.append("the embedding model or its format is another one; vectors are made again")
                self._empty("words" if key == "analysis" else "vectors", {key: value})

    def _empty(self, part: str, meta: Mapping[str, str]) -> None:
        self._close_parts()
        with self._manifest.transaction():
            self._manifest.rows(f"UPDATE passages SET in_{part} = 0")
            for key, value in meta.items():
                self._manifest.set_meta(key, value)
            if part == "words":
                self._folder.drop_words()
                self._manifest.set_meta("words_files", "")
            else:
                self._folder.drop_vectors()

    def _needs_repair(self) -> bool:
        manifest = self._manifest
        if manifest.meta("dirty", "0") == "1" or manifest.meta("words_files") != self._folder.words_files():
            return True
        # Counting takes a while in a large index, and is done again only when either side has changed.
        now = self._vectors_now()
        if not self._model.reason and now != self._vectors_checked:
            ((vectors,),) = manifest.rows(f"SELECT COUNT(*) FROM passages WHERE in_vectors = 1 AND state = {LIVE}")
            if vectors > self._folder.vector_rows(self._model.dimensions):
                return True
            self._vectors_checked = now
        return False

    def _vectors_now(self) -> tuple[object, ...]:
        return self._making, self._manifest.version(), self._folder.vector_stamps()

    def _reconcile(self) -> None:
        """Compare the parts with the manifest; a part that cannot be read is emptied first."""
        for part in ("words", "vectors"):
            try:
                opened = self.words if part == "words" else self.vectors
                if not isinstance(opened, Missing):
                    opened.ids()
            except Damaged as damage:
                self._notes.append(f"{damage.message}; {part} are indexed again")
                self._empty(part, {})
        reconcile(self._parts())

    @contextmanager
    def _repairing(self) -> Iterator[None]:
        with self._locked(LOCK_WAIT_S) as held:
            if not held:
                raise Locked(
                    f"the index in '{self._folder.path}' needs a repair, and another process is writing it",
                    hint="Try again when that process has finished.",
                )
            yield

    @contextmanager
    def _locked(self, timeout_s: float) -> Iterator[bool]:
        if self._holder == threading.get_ident():
            yield True
            return
        with index_lock(self._folder.lock, timeout_s) as held:
            if not held:
                yield False
                return
            self._holder = threading.get_ident()
            try:
                yield True
            finally:
                self._holder = None

    def close(self) -> None:
        """Let go of all files; harmless to repeat."""
        self._close_parts()
        if hasattr(self, "_manifest"):
            self._manifest.close()

    def _close_parts(self) -> None:
        with self._lock:
            if self._words is not None:
                self._words.close()
            self._words = self._vectors = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What was emptied, repaired or is made again, in words."""
        return tuple(self._notes)

    # -- parts

    @property
    def words(self) -> WordsIndex:
        with self._lock:
            if self._words is None:
                from wikimem.index.words import WordsIndex  # reading a page loads no Whoosh

                self._words = WordsIndex(self._folder.words)
            return self._words

    @property
    def vectors(self) -> VectorIndex | Missing:
        with self._lock:
            if self._vectors is None:
                self._vectors = self._open_vectors()
            return self._vectors

    def _open_vectors(self) -> VectorIndex | Missing:
        if self._model.reason:
            return Missing(self._model.reason)
        from wikimem.index.embedder import Embedder  # numpy and tokenizers, only where needed
        from wikimem.index.vectors import VectorIndex

        folder = self._model.folder
        with self._folder.writable():
            return VectorIndex(self._folder.path, lambda: Embedder(folder), self._model.dimensions)

    def _parts(self) -> Parts:
        return Parts(self._folder, self._manifest, self.words, self.vectors)

    def parts(self) -> Parts:
        """The parts themselves, for `verify` to look into."""
        return self._parts()

    @property
    def model_name(self) -> str | None:
        """The embedding model in use, by its folder; None where there is none."""
        return None if self._model.reason else self._model.name

    def stream_states(self) -> dict[str, str]:
        """For each stream `ready`, or why it cannot answer."""
        return {"words": "ready", "vectors": self._model.reason or "ready", "graph": "ready"}

    # -- writing

    @contextmanager
    def writing(self, timeout_s: float) -> Iterator[bool]:
        """Hold the index lock; yields False where another process kept it for `timeout_s` seconds.

        What an interrupted update left is repaired here, so `manifest()` is to be asked again inside.
        """
        with self._locked(timeout_s) as held:
            if held:
                stamp = self._folder.read_stamp()
                if stamp is None or stamp.making != self._making or self._manifest.read_only:
                    # Another process emptied the folder: our files are gone from it. Or the disk was full.
                    self._load()
                if self._needs_repair():
                    self._reconcile()
            yield held

    def update(
        self,
        pages: Iterable[tuple[Page, FileStat]],
        removed: Collection[str],
        *,
        mask: Callable[[str], str],
        progress: Callable[[int, int], None] | None = None,
        total: int = 0,
    ) -> tuple[int, int]:
        """Index pages and take others out; returns how many of each. Raises Locked where the lock cannot be had.

        Readers see each batch of up to BATCH_PAGES at once, the removals with the last one. `mask` is applied to every
        text that is kept or cut into terms.
        """
        from wikimem.index.prepare import prepare_pages  # loads what parses Markdown

        indexed = gone = 0
        stats: dict[str, FileStat] = {}

        def noted() -> Iterator[tuple[Page, FileStat]]:
            for page, stat in pages:
                stats[page.path] = stat
                yield page, stat

        with self.writing(LOCK_WAIT_S) as held, self._carrying_stats(stats, removed):
            if not held:
                raise Locked("another process is writing the index", hint="Try again when it has finished.")
            source = iter(noted())
            batch = list(islice(source, BATCH_PAGES))
            while True:
                following = list(islice(source, BATCH_PAGES)) if len(batch) == BATCH_PAGES else []
                prepared = prepare_pages(batch, mask, progress, indexed, total)
                added, taken = apply_batch(self._parts(), prepared, removed if not following else ())
                indexed += added
                gone += taken
                if not following:
                    return indexed, gone
                batch = following

    @contextmanager
    def _carrying_stats(self, stats: Mapping[str, FileStat], removed: Collection[str]) -> Iterator[None]:
        """Carry what is known of the files over an update of this object's own, instead of reading it all again."""
        checked = self._vectors_now() == self._vectors_checked
        known = self._stats if self._stats and self._stats[0] == (self._making, self._manifest.version()) else None
        yield
        if checked:
            self._vectors_checked = self._vectors_now()
        if known:
            kept = {**known[1], **stats}
            for path in removed:
                kept.pop(path, None)
            self._stats = (self._making, self._manifest.version()), kept

    def touch(self, stats: Mapping[str, FileStat]) -> None:
        """The same content, another stat: remember it, so that the next sweep need not read those files."""
        if not stats:
            return
        values = [(stat.size, stat.mtime_ns, stat.inode, iso(moment_of(stat)), path) for path, stat in stats.items()]
        statement = "UPDATE pages SET size = ?, mtime_ns = ?, inode = ?, mtime = ? WHERE path = ?"
        with self.writing(LOCK_WAIT_S) as held, self._carrying_stats(stats, ()), self._manifest.transaction():
            if held:
                self._manifest.rows_many(statement, values)

    def clear(self) -> None:
        """Empty the index, as if it had never been made. Raises Locked where another process writes it."""
        with self._repairing():
            self.close()
            self._folder.reset(self._stamp)
            self._attach()
            self._check_versions()

    # -- reading

    def stats(self) -> Mapping[str, FileStat]:
        """Path -> stat of every page as it was indexed; those of `stale` have a stat that no file has."""
        with self._lock:
            version = self._making, self._manifest.version()
            if self._stats is None or self._stats[0] != version:
                self._stats = version, self._manifest.stats()
            found = self._stats[1]
        stale = self.stale
        return {**found, **dict.fromkeys(found.keys() & stale, UNKNOWN_STAT)} if stale else found

    def manifest(self) -> dict[str, tuple[FileStat, str]]:
        """Path -> (stat, revision) of every page; those of `stale` have a stat and a revision that no file has."""
        stale = self.stale
        revisions = self._manifest.revisions()
        return {
            path: (stat, "" if path in stale else revisions[path])
            for path, stat in self.stats().items()
            if path in revisions
        }

    @property
    def standing(self) -> str:
        """What the scan that found the pages decided about names: see `wikimem.vault.scan`."""
        return self._manifest.meta("standing")

    def keep_standing(self, standing: str) -> None:
        """Remember what a scan decided, once its pages are indexed; skipped while another process writes."""
        if not standing or standing == self.standing:
            return
        with index_lock(self._folder.lock, 0.0) as held:
            if held and not self._manifest.read_only:
                self._manifest.set_meta("standing", standing)

    @property
    def stale(self) -> frozenset[str]:
        """Pages that a part of the index lacks and that must be indexed again, though their files did not change."""
        return self._manifest.stale(need_vectors=not self._model.reason)

    def page(self, path: str) -> PageRow | None:
        found = self._manifest.pages("path = ?", (path,))
        return found[0] if found else None

    def pages_by_number(self, numbers: Collection[int]) -> PageRows:
        return self._manifest.pages_by_number(numbers)

    def find_pages(self, address: str) -> tuple[PageRow, ...]:
        """All pages that a PAGE address names in the best way in which it names any."""
        return find_pages(self._manifest, address)

    def list_pages(
        self, where: PageFilter | None = None, *, sort: str = "path", limit: int | None = None, offset: int = 0
    ) -> list[PageRow]:
        """Pages that pass a filter. `sort` is one of SORTS; the newest or weightiest come first."""
        if sort not in SORTS:
            raise Invalid(f"pages cannot be sorted by '{sort}'", hint=f"Sort by one of: {', '.join(SORTS)}.")
        return self._manifest.list_pages(where, sort, limit, offset)

    def allowed(self, where: PageFilter) -> Allowed:
        """The pages that pass a filter, for the streams to apply while they collect."""
        others, highest = self._manifest.shut_out(where)
        return Allowed(others, but=True, highest=highest)

    def passages(self, ids: Collection[int]) -> dict[int, PassageRow]:
        """Passages by id; ids that the index does not know any more are left out."""
        return self._manifest.passages(ids)

    def page_passages(self, page: int) -> tuple[PassageRow, ...]:
        return self._manifest.page_passages(page)

    def links_out(self, path: str) -> tuple[LinkRow, ...]:
        return self.links.links_out(path)

    def links_in(self, path: str) -> tuple[LinkRow, ...]:
        return self.links.links_in(path)

    def named(self, kind: str, key: str) -> list[tuple[int, str]]:
        """Number and path of the pages that have a name; kinds and keys are those of `naming.keys_of`."""
        return self._manifest.named(kind, key)

    def is_empty(self) -> bool:
        """Whether no page is indexed yet."""
        return not self._manifest.rows("SELECT 1 FROM pages LIMIT 1")

    def counts(self) -> Counts:
        return self._manifest.counts()

    def projects(self) -> tuple[str, ...]:
        return self._manifest.projects()

    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with pages, as it was found when they were indexed."""
        return self._manifest.problems()
