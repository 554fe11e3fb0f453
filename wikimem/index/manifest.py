"""The manifest: what the index holds of each page, in one SQLite file. No page text.

Pages, their names, tags and links, and the place of every passage. Whatever the words and the vectors hold is checked
against it: a passage that the manifest does not know is no answer.

A passage is `LIVE` (of the page as it was last indexed), `PENDING` (its update is under way) or retired (of a version
before; its state is `RETIRED` plus the generation that retired it). A reader that got its id a moment ago from the
words still finds it for `GRACE` updates, so that an update hides nothing.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, TypeVar

from msgspec import Struct

from wikimem.errors import Damaged, Locked, Unavailable, WikimemError
from wikimem.index.parts import Counts
from wikimem.model.hit import PageFilter, PageRow, PassageRow
from wikimem.model.page import FileStat, Problem

BUSY_TIMEOUT_S: Final = 10.0
"""Writers queue on the index lock, so that SQLite's own wait is for checkpoints and for the first opening."""
LIVE, PENDING, RETIRED = 0, 1, 2
GRACE: Final = 64
"""Updates; a second of them in the tightest loop, where a search takes some ten milliseconds."""
UNKNOWN_STAT: Final = FileStat(-1, -1, -1)

_CHUNK: Final = 500
_NO_DAMAGE: Final = (
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_NOMEM,
)
_SCHEMA: Final = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE pages (
    number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, id TEXT NOT NULL, title TEXT NOT NULL, type TEXT NOT NULL,
    status TEXT NOT NULL, revision TEXT NOT NULL, trust TEXT NOT NULL, confidence REAL, importance REAL,
    pinned INTEGER NOT NULL, created TEXT, confirmed TEXT, valid_from TEXT, valid_to TEXT, expires TEXT, project TEXT,
    agent TEXT, session TEXT, sources TEXT NOT NULL, tags TEXT NOT NULL, aliases TEXT NOT NULL, mtime TEXT,
    tokens INTEGER NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL);
CREATE INDEX pages_project ON pages (project);
CREATE INDEX pages_status ON pages (status);
CREATE INDEX pages_from ON pages (valid_from) WHERE valid_from IS NOT NULL;
CREATE INDEX pages_to ON pages (valid_to) WHERE valid_to IS NOT NULL;
CREATE INDEX pages_expire ON pages (expires) WHERE expires IS NOT NULL;
CREATE TABLE names (kind TEXT NOT NULL, key TEXT NOT NULL, page INTEGER NOT NULL,
    PRIMARY KEY (kind, key, page)) WITHOUT ROWID;
CREATE INDEX names_page ON names (page);
CREATE TABLE tags (tag TEXT NOT NULL, page INTEGER NOT NULL, PRIMARY KEY (tag, page)) WITHOUT ROWID;
CREATE INDEX tags_page ON tags (page);
CREATE TABLE problems (page INTEGER NOT NULL, ordinal INTEGER NOT NULL, rule TEXT NOT NULL, message TEXT NOT NULL,
    line INTEGER, fixable INTEGER NOT NULL, PRIMARY KEY (page, ordinal)) WITHOUT ROWID;
CREATE TABLE passages (id INTEGER PRIMARY KEY, page INTEGER NOT NULL, ordinal INTEGER NOT NULL, heading TEXT NOT NULL,
    start INTEGER NOT NULL, "end" INTEGER NOT NULL, digest BLOB NOT NULL, state INTEGER NOT NULL,
    in_words INTEGER NOT NULL, in_vectors INTEGER NOT NULL);
CREATE INDEX passages_page ON passages (page, ordinal);
CREATE INDEX passages_state ON passages (state) WHERE state != 0;
CREATE INDEX passages_lacking ON passages (page) WHERE in_words = 0 OR in_vectors = 0;
CREATE TABLE links (page INTEGER NOT NULL, ordinal INTEGER NOT NULL, target TEXT NOT NULL, fragment TEXT NOT NULL,
    kind TEXT NOT NULL, whole_key TEXT NOT NULL, last_key TEXT NOT NULL, resolved INTEGER, broken INTEGER NOT NULL,
    PRIMARY KEY (page, ordinal)) WITHOUT ROWID;
CREATE INDEX links_whole ON links (whole_key);
CREATE INDEX links_last ON links (last_key);
CREATE INDEX links_resolved ON links (resolved) WHERE resolved IS NOT NULL;
"""
_PAGE_FIELDS: Final = PageRow.__struct_fields__
_PAGE_COLUMNS: Final = ", ".join(_PAGE_FIELDS)
_NUMBER, _PATH, _ID = (_PAGE_FIELDS.index(name) for name in ("number", "path", "id"))
_MOMENTS: Final = ("created", "confirmed", "valid_from", "valid_to", "expires", "mtime")
_LISTS: Final = ("sources", "tags", "aliases")
_ORDERS: Final = {
    "path": "path",
    "title": "title COLLATE NOCASE, path",
    "created": "created IS NULL, created DESC, path",
    "modified": "mtime IS NULL, mtime DESC, path",
    "importance": "importance IS NULL, importance DESC, path",
}
SORTS: Final = tuple(_ORDERS)

Row = tuple[Any, ...]
T = TypeVar("T")


def placeholders(values: Collection[object]) -> str:
    """`?,?,?` for as many values."""
    return ",".join("?" * len(values))


def chunks(values: Iterable[T], size: int = _CHUNK) -> Iterator[list[T]]:
    """Lists of at most `size`: SQLite bounds the number of parameters of a statement."""
    chunk: list[T] = []
    for value in values:
        chunk.append(value)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def iso(moment: datetime | None) -> str | None:
    """A moment as text that sorts by time: naive local, always with microseconds."""
    if moment is None:
        return None
    if moment.tzinfo is not None:
        moment = moment.astimezone().replace(tzinfo=None)
    return moment.isoformat(timespec="microseconds")


class Manifest:
    """The SQLite file of one index. Threads may share one object; processes open their own."""

    def __init__(self, path: Path) -> None:
        """Open, or create, the file. Raises Damaged where it is no manifest that can be read.

        On a full or read-only disk, where SQLite cannot put its files beside it, a whole file is opened to be read
        (`read_only`).
        """
        self.path = path
        self.read_only = False
        self._lock = threading.RLock()
        try:
            self._connection = self._connect(str(path))
            try:
                self._connection.execute("PRAGMA journal_mode=WAL")
                self._connection.execute("PRAGMA synchronous=NORMAL")
            except sqlite3.DatabaseError as error:
                self._connection.close()
                if error.sqlite_errorcode & 0xFF not in _NO_DAMAGE or not self._is_whole():
                    raise
                self.read_only = True
                self._connection = self._connect(f"{path.absolute().as_uri()}?immutable=1")
            self._create()
        except sqlite3.DatabaseError as error:
            raise self._failure(error) from error

    def _connect(self, name: str) -> sqlite3.Connection:
        return sqlite3.connect(
            name,
            timeout=BUSY_TIMEOUT_S,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
            uri=name.startswith("file:"),
        )

    def _is_whole(self) -> bool:
        """Whether all that was written is in the file itself, and nothing in SQLite's log beside it."""
        log = self.path.with_name(self.path.name + "-wal")
        return self.path.is_file() and self.path.stat().st_size > 0 and not (log.exists() and log.stat().st_size)

    def _create(self) -> None:
        present = "SELECT 1 FROM sqlite_master WHERE name = 'meta'"
        if not self.rows(present):
            # Only a new file is written to here: a reader must not wait for a writer's transaction.
            with self.transaction():
                for statement in _SCHEMA.split(";\n") if not self.rows(present) else ():
                    if statement.strip():
                        self._connection.execute(statement)
        self.rows("SELECT number FROM pages LIMIT 1")
        self.rows("SELECT id FROM passages LIMIT 1")

    def _failure(self, error: sqlite3.Error) -> WikimemError:
        """What an error of SQLite means. Only Damaged says that the file itself is no good."""
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return Locked(
                f"the index file '{self.path}' is held by another process: {error}",
                hint="Try again when that process has finished.",
            )
        if code in _NO_DAMAGE:
            return Unavailable(
                f"the index file '{self.path}' cannot be used: {error}",
                hint="See to free space and to the permissions of wikimem's cache folder.",
            )
        return Damaged(
            f"the index file '{self.path}' cannot be read: {error}",
            hint="Run `wikimem reindex --full`: the index is made from the pages again.",
        )

    def close(self) -> None:
        """Let go of the file; harmless to repeat."""
        with self._lock:
            self._connection.close()

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        """The result of one statement. Raises Damaged where the file is broken or the disk is full."""
        try:
            with self._lock:
                return self._connection.execute(statement, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise self._failure(error) from error

    def rows_many(self, statement: str, values: Iterable[Sequence[object]]) -> None:
        """One statement for each of `values`."""
        try:
            with self._lock:
                self._connection.executemany(statement, values)
        except sqlite3.DatabaseError as error:
            raise self._failure(error) from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing. Always immediate: a deferred one fails at once where two writers meet."""
        with self._lock:
            self.rows("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self.rows("COMMIT")

    # -- facts about the index itself

    def meta(self, key: str, default: str = "") -> str:
        found = self.rows("SELECT value FROM meta WHERE key = ?", (key,))
        return str(found[0][0]) if found else default

    def set_meta(self, key: str, value: str) -> None:
        self.rows("INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", (key, value))

    def generation(self) -> int:
        """Grows with every change; what was derived from an older one is stale."""
        return int(self.meta("generation", "0"))

    # -- reading

    def version(self) -> tuple[int, int]:
        """Differs after every change, whether this object or another process made it."""
        with self._lock:
            ((others,),) = self.rows("PRAGMA data_version")
            return int(others), self._connection.total_changes

    def stats(self) -> dict[str, FileStat]:
        """Path -> stat of every page, as it was when the page was indexed."""
        rows = self.rows("SELECT path, size, mtime_ns, inode FROM pages")
        return {path: FileStat(size, mtime_ns, inode) for path, size, mtime_ns, inode in rows}

    def revisions(self) -> dict[str, str]:
        """Path -> revision of every page."""
        return dict(self.rows("SELECT path, revision FROM pages"))

    def stale(self, *, need_vectors: bool) -> frozenset[str]:
        """Paths of the pages that a part of the index lacks, whatever their files say."""
        lacking = "in_words = 0 OR in_vectors = 0" if need_vectors else "in_words = 0"
        found = self.rows(
            "SELECT DISTINCT pages.path FROM passages JOIN pages ON pages.number = passages.page "
            f"WHERE state = {LIVE} AND ({lacking})"
        )
        return frozenset(path for (path,) in found)

    def problems(self) -> tuple[Problem, ...]:
        """What a person should look at, by path and line."""
        found = self.rows(
            "SELECT rule, path, message, line, fixable FROM problems JOIN pages ON pages.number = problems.page "
            "ORDER BY path, ordinal"
        )
        return tuple(Problem(rule, path, message, line, bool(fixable)) for rule, path, message, line, fixable in found)

    def pages(self, condition: str, values: Sequence[object] = ()) -> list[PageRow]:
        """Pages that a condition (with ORDER BY, LIMIT as needed) selects."""
        return [_page_row(row) for row in self.rows(f"SELECT {_PAGE_COLUMNS} FROM pages WHERE {condition}", values)]

    def pages_by_number(self, numbers: Collection[int]) -> PageRows:
        return PageRows(
            row
            for chunk in chunks(numbers)
            for row in self.rows(f"SELECT {_PAGE_COLUMNS} FROM pages WHERE number IN ({placeholders(chunk)})", chunk)
        )

    def numbers_of(self, paths: Collection[str]) -> dict[str, int]:
        return {
            path: number
            for chunk in chunks(paths)
            for path, number in self.rows(
                f"SELECT path, number FROM pages WHERE path IN ({placeholders(chunk)})", chunk
            )
        }

    def named(self, kind: str, key: str) -> list[tuple[int, str]]:
        """Number and path of the pages that have a name; see `naming.keys_of`."""
        return [
            (number, path)
            for number, path in self.rows(
                "SELECT pages.number, pages.path FROM names JOIN pages ON pages.number = names.page "
                "WHERE names.kind = ? AND names.key = ?",
                (kind, key),
            )
        ]

    def list_pages(self, where: PageFilter | None, sort: str, limit: int | None, offset: int) -> list[PageRow]:
        condition, values = filter_condition(where)
        bounds = (*values, -1 if limit is None else limit, offset)
        return self.pages(f"{condition} ORDER BY {_ORDERS[sort]} LIMIT ? OFFSET ?", bounds)

    def shut_out(self, where: PageFilter) -> tuple[list[int], int]:
        """Numbers of the pages that a filter does not let through, and the highest number that there is."""
        needed = _requirements(where)
        # Each requirement by what fails it, which an index finds: looking at every page took a tenth of a search.
        failing = [f"SELECT number FROM pages WHERE {each.fails}" for each in needed]
        statement = " UNION ALL ".join([*failing, "SELECT MAX(number) FROM pages"])
        *others, (highest,) = self.rows(statement, [value for each in needed for value in each.values])
        return [number for (number,) in others], highest or 0

    def projects(self) -> tuple[str, ...]:
        found = self.rows("SELECT DISTINCT project FROM pages WHERE project IS NOT NULL ORDER BY project")
        return tuple(project for (project,) in found)

    def passages(self, ids: Collection[int]) -> dict[int, PassageRow]:
        """Passages of any state, by id; unknown ids are left out."""
        return {
            row[0]: PassageRow(*row)
            for chunk in chunks(ids)
            for row in self.rows(
                f'SELECT id, page, ordinal, heading, start, "end" FROM passages WHERE id IN ({placeholders(chunk)})',
                chunk,
            )
        }

    def page_passages(self, page: int) -> tuple[PassageRow, ...]:
        found = self.rows(
            f'SELECT id, page, ordinal, heading, start, "end" FROM passages WHERE page = ? AND state = {LIVE} '
            "ORDER BY ordinal",
            (page,),
        )
        return tuple(PassageRow(*row) for row in found)

    def counts(self) -> Counts:
        types: dict[str, int] = dict(self.rows("SELECT type, COUNT(*) FROM pages GROUP BY type ORDER BY type"))
        ((tokens,),) = self.rows("SELECT COALESCE(SUM(tokens), 0) FROM pages")
        ((passages,),) = self.rows(f"SELECT COUNT(*) FROM passages WHERE state = {LIVE}")
        ((links, broken),) = self.rows("SELECT COUNT(*), COALESCE(SUM(broken), 0) FROM links")
        return Counts(sum(types.values()), passages, tokens, links, broken, types)


class PageRows(Mapping[int, PageRow]):
    """Rows of pages by number, each read when it is asked for: a search finds hundreds and looks at the best."""

    def __init__(self, found: Iterable[Row]) -> None:
        self._found: dict[int, Row | PageRow] = {row[_NUMBER]: row for row in found}

    def __getitem__(self, number: int) -> PageRow:
        row = self._found[number]
        if not isinstance(row, PageRow):
            row = self._found[number] = _page_row(row)
        return row

    def __iter__(self) -> Iterator[int]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __contains__(self, number: object) -> bool:
        return number in self._found

    def identity(self, number: int) -> tuple[str, str]:
        """Id and path of a page, without reading the rest of its row."""
        row = self._found[number]
        return (row.id, row.path) if isinstance(row, PageRow) else (row[_ID], row[_PATH])


class _Requirement(Struct, frozen=True):
    """What a page must fulfil, as SQL, and what is true of just those that do not; both with the same `values`."""

    holds: str
    fails: str
    values: tuple[object, ...]


def filter_condition(where: PageFilter | None) -> tuple[str, list[object]]:
    """The filter as SQL: see PageFilter for what it means. Tags narrow (all are required) and include nested ones."""
    needed = _requirements(where) if where else []
    return " AND ".join(each.holds for each in needed) or "1", [value for each in needed for value in each.values]


def _requirements(where: PageFilter) -> list[_Requirement]:
    found: list[_Requirement] = []

    def require(condition: str, *values: object, unless: str = "") -> None:
        # What SQL cannot say yes or no to does not hold.
        found.append(_Requirement(condition, unless or f"NOT COALESCE(({condition}), 0)", values))

    if where.project is not None:
        alone = "project = ? COLLATE NOCASE"
        require(f"(project IS NULL OR {alone})" if where.with_global else alone, where.project)
    if where.types:
        require(f"type IN ({placeholders(where.types)})", *where.types)
    if where.statuses:
        require(f"status IN ({placeholders(where.statuses)})", *where.statuses)
    if where.pinned:
        require("pinned = 1")
    if where.agent is not None:
        require("agent = ?", where.agent)
    if where.session is not None:
        require("session = ?", where.session)
    for tag in where.tags:
        key = tag.strip().lstrip("#").casefold()
        require("number IN (SELECT page FROM tags WHERE tag = ? OR (tag >= ? AND tag < ?))", key, key + "/", key + "0")
    if not where.any_time:
        moment = where.as_of.astimezone().replace(tzinfo=None) if where.as_of.tzinfo else where.as_of
        midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
        # The last representable day has no next one.
        tomorrow = (
            midnight + timedelta(days=1) if midnight < datetime.max.replace(hour=0) - timedelta(days=1) else moment
        )
        require("(valid_from IS NULL OR valid_from < ?)", iso(tomorrow), unless="valid_from >= ?")
        require("(valid_to IS NULL OR valid_to > ?)", iso(moment), unless="valid_to <= ?")
        require("(expires IS NULL OR expires > ?)", iso(moment), unless="expires <= ?")
    return found


def _page_row(row: Row) -> PageRow:
    values = dict(zip(_PAGE_FIELDS, row, strict=True))
    values["pinned"] = bool(values["pinned"])
    for name in _MOMENTS:
        values[name] = None if values[name] is None else datetime.fromisoformat(values[name])
    for name in _LISTS:
        values[name] = () if values[name] == "[]" else tuple(json.loads(values[name]))
    return PageRow(**values)
