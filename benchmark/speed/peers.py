"""What wikimem is measured beside, on the same pages: git's own commands, Whoosh alone, SQLite's full-text
index, tantivy."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

from benchmark.speed.timing import Figures, Took, peak_mb, percentiles, size_mb, timed, took
from benchmark.speed.vault import GIT_AS, GeneratedVault

HITS = 50


def git_commit(root: Path, path: str, line: str) -> Took:
    """What `git add` and `git commit` take for one page with a line more."""
    file = root / path
    file.write_text(file.read_text(encoding="utf-8") + line, encoding="utf-8")
    git = ["git", "-C", str(root), *GIT_AS]

    def commands() -> None:
        subprocess.run([*git, "add", "--", path], check=True)
        subprocess.run([*git, "commit", "-q", "-m", "one page", "--", path], check=True)

    return took(commands)


def whoosh_alone(vault: GeneratedVault) -> Figures:
    """Whoosh as it comes: one document a page, its stemming analyser, its own scoring."""
    from whoosh import analysis, fields, index, qparser

    figures: Figures = {}
    folder = vault.folder / "whoosh"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    schema = fields.Schema(path=fields.ID(stored=True), body=fields.TEXT(analyzer=analysis.StemmingAnalyzer()))
    with timed(figures, "whoosh_build"):
        made = index.create_in(str(folder), schema)
        writer = made.writer(limitmb=256)
        for path, text in vault.texts():
            writer.add_document(path=path, body=text)
        writer.commit()
    parser = qparser.QueryParser("body", schema, group=qparser.OrGroup)
    with made.searcher() as searcher:

        def ask(query: str) -> Any:
            return searcher.search(parser.parse(query), limit=HITS)

        times = [took(partial(ask, query)) for query in vault.queries]
    figures["whoosh_mb"] = round(size_mb(folder), 1)
    shutil.rmtree(folder)
    return figures | percentiles("whoosh_search", times) | {"whoosh_peak_mb": peak_mb()}


def fts5(vault: GeneratedVault) -> Figures:
    """SQLite's full-text index on the same text, words OR-ed and ranked by its BM25."""
    figures: Figures = {}
    file = vault.folder / "fts5.db"
    file.unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(file)) as database:
        with timed(figures, "fts5_build"):
            database.execute("CREATE VIRTUAL TABLE pages USING fts5(path UNINDEXED, body, tokenize='porter')")
            database.executemany("INSERT INTO pages VALUES (?, ?)", vault.texts())
            database.commit()
        select = f"SELECT path FROM pages WHERE pages MATCH ? ORDER BY rank LIMIT {HITS}"
        times = [took(partial(_matches, database, select, query)) for query in vault.queries]
    figures["fts5_mb"] = round(file.stat().st_size / 1e6, 1)
    file.unlink()
    return figures | percentiles("fts5_search", times) | {"fts5_peak_mb": peak_mb()}


def tantivy(vault: GeneratedVault) -> Figures:
    """tantivy on the same text with its English stemmer, words OR-ed and ranked by its BM25; extra `benchmark`."""
    import tantivy as library

    figures: Figures = {}
    folder = vault.folder / "tantivy"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    made = library.SchemaBuilder()
    made.add_text_field("path", stored=True, tokenizer_name="raw")
    made.add_text_field("body", tokenizer_name="en_stem")
    index = library.Index(made.build(), path=str(folder))
    with timed(figures, "tantivy_build"):
        writer = index.writer(num_threads=1)
        for path, text in vault.texts():
            writer.add_document(library.Document(path=path, body=text))
        writer.commit()
        writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def ask(query: str) -> Any:
        found = searcher.search(index.parse_query(query, ["body"]), HITS)
        return [searcher.doc(address)["path"] for _, address in found.hits]

    times = [took(partial(ask, query)) for query in vault.queries]
    figures["tantivy_mb"] = round(size_mb(folder), 1)
    shutil.rmtree(folder)
    return figures | percentiles("tantivy_search", times) | {"tantivy_peak_mb": peak_mb()}


def _matches(database: sqlite3.Connection, select: str, query: str) -> list[tuple[str]]:
    return database.execute(select, (" OR ".join(query.split()),)).fetchall()
