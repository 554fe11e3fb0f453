"""The statements of all files in one SQLite file: derived, and brought up to date file by file.

Rows say what a file says, never what follows from it; facts are folded when they are asked for. So a changed file costs
what it holds, and a store that was brought up to date answers as one that was made anew.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from wikimem.errors import Damaged, Unavailable
from wikimem.graph.files import find_graph_files
from wikimem.graph.fold import Counts, Fact, everything, fold_edge, merged_names
from wikimem.graph.naming import parse_entity_iri
from wikimem.graph.reading import FileStatements, read_statements
from wikimem.graph.rows import SCHEMA, edge_of, edge_row, name_key, name_rows, packed, unpacked
from wikimem.graph.statements import Assertion, Edge
from wikimem.graph.vocabulary import ALIAS, SAME_AS
from wikimem.model.caller import Progress
from wikimem.model.page import FileStat, Problem
from wikimem.text.ids import revision_of

FORMAT: Final = "2"
"""A store of another format, or of another vault, is made again."""
BUSY_TIMEOUT_S: Final = 10.0
_SETTLED_NS: Final = 20_000_000
"""A file changed this recently may change again within the same time stamp, so its stat proves nothing yet."""
_CHUNK: Final = 500
_MANY_FILES: Final = 20
"""With more files than this an empty store is filled first and indexed afterwards."""

_EDGE_COLUMNS: Final = "id, subject, predicate, object, value, datatype, language, valid_from"


class Synced(Struct, frozen=True):
    """How many files were read anew, and how many are gone."""

    read: int
    gone: int


class GraphStore:
    """The store at `path`, for the vault that `stamp` stands for. Any number of processes may have it open."""

    def __init__(self, path: Path, stamp: str) -> None:
        self.path = path
        self._stamp = stamp
        self._database = self._open()

    def close(self) -> None:
        self._database.close()

    # Keeping up

    def sync(self, root: Path, *, keep_missing: bool = False, progress: Progress | None = None) -> Synced:
        """Read what changed in the vault's `graph/` since the last time; `progress` hears of each file.

        `keep_missing`: files that are not there now are taken to be out of sight, not gone. Raises Unavailable where
        the store cannot be written.
        """
        found = find_graph_files(root)
        known = self._known()
        gone = [] if keep_missing else [path for path in known if path not in found]
        changed = [path for path, entry in found.items() if known.get(path, (None, ""))[0] != entry]
        if not gone and not changed:
            return Synced(0, 0)
        with self._transaction():
            known = self._known()
            for path in gone:
                self._drop(path)
            read = 0
            indexes = self._without_indexes() if not known and len(changed) > _MANY_FILES else []
            for done, path in enumerate(changed):
                if progress is not None:
                    progress("reading the graph", done, len(changed))
                read += self._take(root, path, found[path], known)
            for statement in indexes:
                self._database.execute(statement)
        return Synced(read, len(gone))

    def _without_indexes(self) -> list[str]:
        """Drop the indexes of empty tables, and give the statements that make them: once at the end is cheaper."""
        rows = self._rows("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
        for name, _ in rows:
            self._database.execute(f'DROP INDEX "{name}"')
        return [statement for _, statement in rows]

    def _known(self) -> dict[str, tuple[FileStat, str]]:
        rows = self._rows("SELECT path, size, mtime_ns, inode, revision FROM files")
        return {path: (FileStat(size, mtime, inode), revision) for path, size, mtime, inode, revision in rows}

    def _take(self, root: Path, path: str, entry: FileStat, known: dict[str, tuple[FileStat, str]]) -> bool:
        try:
            data = (root / path).read_bytes()
        except OSError:
            return False
        if time.time_ns() - entry.mtime_ns < _SETTLED_NS:
            entry = FileStat(entry.size, -1, entry.inode)
        revision = revision_of(data)
        if path in known and known[path][1] == revision:
            self._database.execute(
                "UPDATE files SET size = ?, mtime_ns = ?, inode = ? WHERE path = ?",
                (entry.size, entry.mtime_ns, entry.inode, path),
            )
            return False
        self._drop(path)
        cursor = self._database.execute(
            "INSERT INTO files (path, size, mtime_ns, inode, revision) VALUES (?, ?, ?, ?, ?)",
            (path, entry.size, entry.mtime_ns, entry.inode, revision),
        )
        assert cursor.lastrowid is not None
        self._put(cursor.lastrowid, read_statements(data.decode("utf-8", "replace"), path))
        return True

    def _drop(self, path: str) -> None:
        row = self._database.execute("SELECT number FROM files WHERE path = ?", (path,)).fetchone()
        if row:
            for table in ("edges", "parts", "names", "namewords", "problems"):
                self._database.execute(f"DELETE FROM {table} WHERE file = ?", row)
            self._database.execute("DELETE FROM files WHERE number = ?", row)

    def _put(self, number: int, said: FileStatements) -> None:
        self._database.executemany(
            "INSERT INTO edges VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            ((number, *edge_row(edge)) for edge in said.edges.values()),
        )
        self._database.executemany(
            "INSERT INTO parts VALUES (?, ?, ?, ?)",
            ((number, each.edge, each.source, packed(each)) for each in said.assertions.values()),
        )
        names, words = name_rows(said)
        self._database.executemany("INSERT INTO names VALUES (?, ?, ?, ?, ?)", ((number, *row) for row in names))
        self._database.executemany("INSERT INTO namewords VALUES (?, ?, ?, ?)", ((number, *row) for row in words))
        self._database.executemany(
            "INSERT INTO problems VALUES (?, ?, ?, ?)",
            ((number, each.rule, each.line, each.message) for each in said.problems),
        )

    # Facts

    def facts_of(
        self, iris: Collection[str], counts: Counts = everything, *, limit: int | None = None
    ) -> dict[str, Fact]:
        """The facts with one of these entities for subject or object, by edge; at most `limit` edges are looked at."""
        edges: dict[str, Edge] = {}
        for chunk in _chunks(iris):
            marks = ", ".join("?" * len(chunk))
            for end in ("subject", "object"):
                rest = "" if limit is None else f" LIMIT {max(0, limit - len(edges))}"
                values = "value = 0 AND " if end == "object" else ""
                for row in self._rows(
                    f"SELECT DISTINCT {_EDGE_COLUMNS} FROM edges WHERE {values}{end} IN ({marks}) ORDER BY id{rest}",
                    chunk,
                ):
                    edges[row[0]] = edge_of(row)
        return self._folded(edges, counts)

    def values_of(self, iris: Collection[str], counts: Counts = everything) -> dict[str, Fact]:
        """The facts that give these entities a value: properties and aliases."""
        edges: dict[str, Edge] = {}
        for chunk in _chunks(iris):
            marks = ", ".join("?" * len(chunk))
            for row in self._rows(
                f"SELECT DISTINCT {_EDGE_COLUMNS} FROM edges WHERE value = 1 AND subject IN ({marks}) ORDER BY id",
                chunk,
            ):
                edges[row[0]] = edge_of(row)
        return self._folded(edges, counts)

    def facts(self, counts: Counts = everything) -> dict[str, Fact]:
        """Every fact, by edge."""
        return {fact.edge.id: fact for fact in self.each_fact(counts)}

    def each_fact(self, counts: Counts = everything) -> Iterator[Fact]:
        """Every fact, in the order of their edges, a few at a time: the memory that takes does not grow with them."""
        last = ""
        while True:
            rows = self._rows(
                f"SELECT DISTINCT {_EDGE_COLUMNS} FROM edges WHERE id IN "
                "(SELECT DISTINCT id FROM edges WHERE id > ? ORDER BY id LIMIT ?) ORDER BY id",
                (last, _CHUNK),
            )
            if not rows:
                return
            last = rows[-1][0]
            yield from self._folded({row[0]: edge_of(row) for row in rows}, counts).values()

    def degrees(self, iris: Collection[str]) -> dict[str, int]:
        """How many edges each entity has: what tells a hub, without folding its edges."""
        counted: dict[str, int] = {}
        for chunk in _chunks(iris):
            marks = ", ".join("?" * len(chunk))
            for end in ("subject", "object"):
                for iri, number in self._rows(
                    f"SELECT {end}, count(DISTINCT id) FROM edges WHERE {end} IN ({marks}) GROUP BY {end}", chunk
                ):
                    counted[iri] = counted.get(iri, 0) + number
        return counted

    def merges(self, counts: Counts = everything) -> dict[str, str]:
        """Which entity each merged one counts as: see `fold.merged_names`."""
        found = self._rows(f"SELECT DISTINCT {_EDGE_COLUMNS} FROM edges WHERE predicate = '{SAME_AS}'")
        return merged_names(self._folded({row[0]: edge_of(row) for row in found}, counts).values())

    def assertions_of(self, edge: str) -> dict[str, Assertion]:
        """All assertions of an edge by source, dead ones too."""
        merged: dict[str, Assertion] = {}
        for source, said in self._rows("SELECT source, said FROM parts WHERE edge = ?", (edge,)):
            part = unpacked(edge, source, said)
            merged[source] = merged[source].merged(part) if source in merged else part
        return merged

    def _folded(self, edges: dict[str, Edge], counts: Counts) -> dict[str, Fact]:
        parts: dict[str, list[Assertion]] = {}
        for chunk in _chunks(edges):
            marks = ", ".join("?" * len(chunk))
            for edge, source, said in self._rows(
                f"SELECT edge, source, said FROM parts WHERE edge IN ({marks})", chunk
            ):
                parts.setdefault(edge, []).append(unpacked(edge, source, said))
        folded = ((name, fold_edge(edge, parts.get(name, ()), counts)) for name, edge in edges.items())
        return {name: fact for name, fact in folded if fact is not None}

    # Names

    def labels(self, iris: Collection[str]) -> dict[str, str]:
        """What entities are called: the name that most files write, of several the first in the alphabet."""
        found: dict[str, str] = {}
        for chunk in _chunks(iris):
            marks = ", ".join("?" * len(chunk))
            for iri, label in self._rows(
                "SELECT iri, label FROM names WHERE (iri, label) NOT IN "
                f"(SELECT subject, object FROM edges WHERE predicate = '{ALIAS}') AND iri IN ({marks}) "
                "GROUP BY iri, label ORDER BY count(*) DESC, label",
                chunk,
            ):
                found.setdefault(iri, label)
        return found

    def named(self, name: str) -> set[str]:
        """The entities that have this name, or had it as an alias in some file; capitals and blanks do not matter."""
        return {iri for (iri,) in self._rows("SELECT DISTINCT iri FROM names WHERE key = ?", (name_key(name),))}

    def named_by_words(self, keys: Collection[str]) -> dict[str, set[str]]:
        """The entities with a name of exactly these words (see `words_key`), by those words."""
        found: dict[str, set[str]] = {}
        for chunk in _chunks(keys):
            marks = ", ".join("?" * len(chunk))
            for words, iri in self._rows(
                f"SELECT words, iri FROM names WHERE words <> '' AND words IN ({marks})", chunk
            ):
                found.setdefault(words, set()).add(iri)
        return found

    def with_word(self, word: str, most: int) -> list[str]:
        """At most `most` entities with a name that has this word."""
        rows = self._rows("SELECT DISTINCT iri FROM namewords WHERE word = ? ORDER BY iri LIMIT ?", (word, most))
        return [iri for (iri,) in rows]

    def words_near(self, word: str) -> set[str]:
        """Words of names that begin, or end, as this one does up to the middle: those of one edit are among them."""
        half = max(1, (len(word) - 1) // 2)
        sizes = (len(word) - 1, len(word) + 1)
        found: set[str] = set()
        for column, part in (("word", word[:half]), ("backwards", word[::-1][:half])):
            statement = (
                f"SELECT DISTINCT word FROM namewords WHERE {column} >= ? AND {column} < ? "
                "AND length(word) BETWEEN ? AND ?"
            )
            found |= {each for (each,) in self._rows(statement, (*_range(part), *sizes))}
        return found

    def words_of(self, iris: Collection[str]) -> dict[str, list[str]]:
        """Every name of these entities, as its words."""
        found: dict[str, list[str]] = {}
        for chunk in _chunks(iris):
            marks = ", ".join("?" * len(chunk))
            for iri, words in self._rows(f"SELECT DISTINCT iri, words FROM names WHERE iri IN ({marks})", chunk):
                found.setdefault(iri, []).append(words)
        return found

    def is_empty(self) -> bool:
        """Whether the files state nothing at all."""
        return not self._rows("SELECT 1 FROM edges LIMIT 1")

    def known_entities(self, type: str, key: str) -> set[str]:
        """Entities of that type and normalised name, in every project."""
        found = self._rows("SELECT DISTINCT iri FROM names WHERE iri >= ? AND iri < ?", _range(f"urn:wikimem:{type}:"))
        parsed = ((iri, parse_entity_iri(iri)) for (iri,) in found)
        return {iri for iri, entity in parsed if entity and entity.key == key}

    def all_names(self) -> list[str]:
        """Every name, for suggestions."""
        return [label for (label,) in self._rows("SELECT DISTINCT label FROM names ORDER BY label")]

    def problems(self) -> tuple[Problem, ...]:
        """What is odd in the files, by file and line."""
        rows = self._rows(
            "SELECT rule, path, message, line FROM problems JOIN files ON files.number = problems.file "
            "ORDER BY path, line, message"
        )
        return tuple(Problem(rule, path, message, line) for rule, path, message, line in rows)

    # Pages

    def sync_pages(self, generation: str, pages: Callable[[], Iterable[tuple[str, str, str, str]]]) -> None:
        """Keep (path, revision, entity's IRI, id) of the pages of an index at `generation`."""
        if self._meta("generation") == generation:
            return
        with self._transaction():
            known = {row[0]: row for row in self._rows("SELECT path, revision, iri, id FROM pages")}
            current = {row[0]: tuple(row) for row in pages()}
            self._database.executemany("DELETE FROM pages WHERE path = ?", [(p,) for p in known if p not in current])
            fresh = [row for path, row in current.items() if known.get(path) != row]
            self._database.executemany("INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?)", fresh)
            self._database.execute("INSERT OR REPLACE INTO meta VALUES ('generation', ?)", (generation,))

    def pages_of(self, iris: Collection[str]) -> dict[str, list[str]]:
        """The paths of the pages that are about each entity."""
        found: dict[str, list[str]] = {}
        for chunk in _chunks(iris):
            marks = ", ".join("?" * len(chunk))
            for iri, path in self._rows(f"SELECT iri, path FROM pages WHERE iri IN ({marks}) ORDER BY path", chunk):
                found.setdefault(iri, []).append(path)
        return found

    def entities_of(self, paths: Collection[str]) -> dict[str, str]:
        """The IRI of what each page is about."""
        found: dict[str, str] = {}
        for chunk in _chunks(paths):
            marks = ", ".join("?" * len(chunk))
            found |= dict(self._rows(f"SELECT path, iri FROM pages WHERE path IN ({marks})", chunk))
        return found

    def paths_of_ids(self, ids: Collection[str]) -> dict[str, str]:
        """The path of each page id that is in the vault now."""
        found: dict[str, str] = {}
        for chunk in _chunks(ids):
            marks = ", ".join("?" * len(chunk))
            found |= dict(self._rows(f"SELECT id, path FROM pages WHERE id IN ({marks})", chunk))
        return found

    # The database

    def _open(self) -> sqlite3.Connection:
        for attempt in range(2):
            try:
                return self._connect()
            except sqlite3.DatabaseError as error:
                busy = isinstance(error, sqlite3.OperationalError)
                if attempt or busy:
                    raise Unavailable(
                        f"the graph's store '{self.path}' cannot be opened: {error}",
                        hint="Delete that file: it is made from graph/ again.",
                    ) from error
                for ending in ("", "-wal", "-shm"):
                    self.path.with_name(self.path.name + ending).unlink(missing_ok=True)
        raise AssertionError("opened or raised")

    def _connect(self) -> sqlite3.Connection:
        database = sqlite3.connect(self.path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
        try:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
            database.execute("BEGIN IMMEDIATE")
            if not _is_ours(database, self._stamp):
                _clear(database)
                for statement in filter(str.strip, SCHEMA.split(";")):
                    database.execute(statement)
                database.executemany(
                    "INSERT INTO meta VALUES (?, ?)",
                    [("format", FORMAT), ("stamp", self._stamp), ("generation", "")],
                )
            database.execute("COMMIT")
        except sqlite3.Error:
            database.close()
            raise
        return database

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")
        except sqlite3.OperationalError as error:
            raise Unavailable(
                f"the graph's store '{self.path}' cannot be written: {error}",
                hint="Try again; see to free space and to the permissions of wikimem's cache folder.",
            ) from error

    def _rows(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        try:
            return self._database.execute(statement, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise Damaged(
                f"the graph's store '{self.path}' cannot be read: {error}",
                hint="Delete that file: it is made from graph/ again.",
            ) from error

    def _meta(self, key: str) -> str:
        rows = self._rows("SELECT value FROM meta WHERE key = ?", (key,))
        return rows[0][0] if rows else ""


def _is_ours(database: sqlite3.Connection, stamp: str) -> bool:
    try:
        meta = dict(database.execute("SELECT key, value FROM meta").fetchall())
    except sqlite3.OperationalError:
        return False
    return meta.get("format") == FORMAT and meta.get("stamp") == stamp


def _clear(database: sqlite3.Connection) -> None:
    for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        database.execute(f'DROP TABLE "{name}"')


def _range(prefix: str) -> tuple[str, str]:
    return prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)


def _chunks(values: Collection[str]) -> Iterator[list[str]]:
    listed = list(dict.fromkeys(values))
    for start in range(0, len(listed), _CHUNK):
        yield listed[start : start + _CHUNK]
