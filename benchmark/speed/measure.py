"""What is measured of one vault size, in parts that each run in a process of their own.

Times are wall times unless a key says CPU. A part leaves the vault usable for every other part.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from benchmark.speed.peers import HITS, fts5, git_commit, tantivy, whoosh_alone
from benchmark.speed.timing import Figures, Took, peak_mb, percentiles, size_mb, timed, took
from benchmark.speed.vault import GeneratedVault
from wikimem.model.caller import Caller
from wikimem.operations import OPERATIONS
from wikimem.search.query import parse_query
from wikimem.text.ids import new_ulid
from wikimem.vault.commit import FileChange
from wikimem.vault.feed import ChangeFeed
from wikimem.vault.hints import Hints
from wikimem.vault.lock import write_lock
from wikimem.vault.repository import Person
from wikimem.wiki import Wiki, open_wiki

COLD_RUNS: Final = 7
CAUGHT_UP_S: Final = 5.0
MANY: Final = 5_000
BY_NAME: Final = {operation.name: operation for operation in OPERATIONS}


def say(words: str) -> None:
    """Progress, for whoever waits."""
    print(f"    {words}", file=sys.stderr, flush=True)


def measure_commit(vault: GeneratedVault) -> Figures:
    """One changed page committed, without the index: wikimem's committer and git's own commands, turn by turn."""
    ours: list[Took] = []
    gits: list[Took] = []
    with _opened(vault) as wiki:
        committer, person = wiki.committer, Person("b", "b@example.org")
        wiki.folders.state.joinpath("journal").mkdir(mode=0o700, exist_ok=True)

        def commit(path: str, line: str) -> None:
            old = (wiki.root / path).read_bytes()
            change = FileChange(path, old, old + line.encode())
            with write_lock(wiki.repository.lock_path, "benchmark"):
                committer.commit(new_ulid(wiki.clock()), [change], "one page\n", person, wiki.clock())

        for run, (path, other) in enumerate(zip(vault.spread(vault.runs), vault.spread(vault.runs, 1), strict=True)):
            ours.append(took(partial(commit, path, f"\nChanged by wikimem, {run}.\n")))
            gits.append(git_commit(wiki.root, other, f"\nChanged by git, {run}.\n"))
        count, kilobytes = _objects_of(wiki, lambda: commit(vault.paths[-1], "\nOnce more.\n"))
    return {
        **percentiles("commit", ours),
        **percentiles("git_commit", gits),
        "commit_objects": count,
        "commit_objects_kb": kilobytes,
    }


def measure_index(vault: GeneratedVault) -> Figures:
    """The first index of the vault."""
    figures: Figures = {}
    with _opened(vault) as wiki:
        shutil.rmtree(wiki.folders.index, ignore_errors=True)
    with _opened(vault) as wiki:
        with timed(figures, "index_build"):
            wiki.refresh()
        figures["index_mb"] = round(size_mb(wiki.folders.index), 1)
    figures["pages_mb"] = round(sum(len(text.encode()) for _, text in vault.texts()) / 1e6, 1)
    return figures | {"index_build_peak_mb": peak_mb()}


def measure_search(vault: GeneratedVault) -> Figures:
    """Searches of a process that stays open, without a watcher: each first compares every file with the index."""
    with _opened(vault) as wiki:
        _search(wiki, vault.queries[0])
        times = [took(partial(_search, wiki, query)) for query in vault.queries]
        sweeps = [took(wiki.refresh) for _ in range(vault.runs)]
    return {**percentiles("search", times), **percentiles("sweep", sweeps), "search_peak_mb": peak_mb()}


def measure_change(vault: GeneratedVault) -> Figures:
    """From a page saved in an editor to a search that finds what was written."""
    with _opened(vault) as wiki:
        _search(wiki, vault.queries[0])
        times = [_change_and_find(wiki, path, run) for run, path in enumerate(vault.spread(vault.runs, 2))]
    return percentiles("find_changed_page", times)


def measure_watched(vault: GeneratedVault) -> Figures:
    """As `search` and `change`, where a watcher says which files to look at, as in `wikimem watch` and the resident
    process; and what is retrieved by words alone, with no sweep and nothing read from the pages but their hits."""
    with _opened(vault) as wiki, _watched(wiki, vault.folder / "cookies"):
        _search(wiki, vault.queries[0])
        times = [took(partial(_search, wiki, query)) for query in vault.queries]
        words = [took(partial(_search, wiki, query, streams=["words"])) for query in vault.queries]
        retrieved = [took(partial(_ranked_by_words, wiki, query)) for query in vault.queries]
        found = [_change_and_find(wiki, path, run) for run, path in enumerate(vault.spread(vault.runs, 4))]
    return {
        **percentiles("watched_search", times),
        **percentiles("words_search", words),
        **percentiles("words_ranking", retrieved),
        **percentiles("watched_find", found),
        "watched_peak_mb": peak_mb(),
    }


def measure_write(vault: GeneratedVault) -> Figures:
    """Whole writes through their operations: checked, written, committed, and findable."""
    with _opened(vault) as wiki:
        stamp = new_ulid(wiki.clock())
        _remember(wiki, f"Warming up {stamp}")
        remembered = [took(partial(_remember, wiki, f"Measured fact {run} {stamp}")) for run in range(vault.runs)]
        edited = [
            took(partial(BY_NAME["edit"].run, wiki, {"page": path, "set": [f"measured={run} {stamp}"]}))
            for run, path in enumerate(vault.spread(vault.runs, 3))
        ]
        count, kilobytes = _objects_of(wiki, lambda: _remember(wiki, f"One more fact {stamp}"))
    return {
        **percentiles("remember", remembered),
        **percentiles("edit", edited),
        "remember_objects": count,
        "remember_objects_kb": kilobytes,
        "write_peak_mb": peak_mb(),
    }


def measure_cold(vault: GeneratedVault) -> Figures:
    """A command from the shell, each a new process, beside a Python that does nothing."""
    command = [sys.executable, "-m", "wikimem", "--vault", str(vault.root), "search"]
    searches = [_process([*command, query]) for query in vault.queries[: COLD_RUNS + 1]]
    bare = [_process([sys.executable, "-c", "pass"]) for _ in range(COLD_RUNS + 1)]
    version = [_process([sys.executable, "-m", "wikimem", "--version"]) for _ in range(COLD_RUNS + 1)]
    # The first of each reads files that no other did yet.
    return {
        **percentiles("cold_search", searches[1:]),
        **percentiles("bare_python", bare[1:]),
        **percentiles("version", version[1:]),
    }


PARTS: Final[Mapping[str, Callable[[GeneratedVault], Figures]]] = {
    "commit": measure_commit,
    "index": measure_index,
    "search": measure_search,
    "change": measure_change,
    "watched": measure_watched,
    "write": measure_write,
    "cold": measure_cold,
    "whoosh": whoosh_alone,
    "fts5": fts5,
    "tantivy": tantivy,
}
"""In the order in which they run. `search`, `change`, `write` and `cold` need what `index` made."""


@contextmanager
def _opened(vault: GeneratedVault) -> Iterator[Wiki]:
    told = 0

    def progress(what: str, done: int, total: int) -> None:
        nonlocal told
        if total >= MANY and done * 10 // total > told:
            told = done * 10 // total
            say(f"{what}: {done:,} of {total:,}")

    wiki = open_wiki(str(vault.root), cwd=vault.folder, caller=Caller(cwd=vault.folder), progress=progress)
    try:
        yield wiki
    finally:
        wiki.close()


@contextmanager
def _watched(wiki: Wiki, cookies: Path) -> Iterator[None]:
    cookies.mkdir(exist_ok=True)
    feed = ChangeFeed(wiki.root, cookies, wiki.config.exclude)
    wiki.hints = Hints(lambda: feed.caught_up(CAUGHT_UP_S))
    try:
        yield
    finally:
        wiki.hints = None
        feed.close()


def _search(wiki: Wiki, query: str, **given: Any) -> Any:
    return BY_NAME["search"].run(wiki, {"query": query, "limit": 10, **given})


def _ranked_by_words(wiki: Wiki, query: str) -> Any:
    return wiki.index.words.search(parse_query(query, wiki.clock()).terms, HITS, None)


def _remember(wiki: Wiki, title: str) -> Any:
    return BY_NAME["remember"].run(wiki, {"title": title, "text": "One sentence about it."})


def _change_and_find(wiki: Wiki, path: str, run: int) -> Took:
    word = f"quux{new_ulid(wiki.clock()).lower()}{run}x"
    file = wiki.root / path
    file.write_text(file.read_text(encoding="utf-8") + f"\nChanged: {word}.\n", encoding="utf-8")
    hits: list[Any] = []
    found = took(lambda: hits.extend(_search(wiki, word).hits))
    if not hits or hits[0].path != path:
        raise SystemExit(f"the changed page {path} was not found")
    return found


def _objects_of(wiki: Wiki, write: Callable[[], Any]) -> tuple[int, float]:
    """How many loose objects a write adds, and their kilobytes."""

    def loose() -> dict[Path, int]:
        return {file: file.stat().st_size for file in (wiki.root / ".git" / "objects").glob("??/*")}

    before = loose()
    write()
    added = [size for file, size in loose().items() if file not in before]
    return len(added), round(sum(added) / 1000, 2)


def _process(command: list[str]) -> Took:
    return took(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))
