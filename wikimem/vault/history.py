"""The history of a vault as git tells it: commits of its subtree, with wikimem's trailers."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from wikimem.vault.gitcommand import run_git
from wikimem.vault.renames import path_with_id

TRAILERS: Final = ("Wikimem-Op", "Wikimem-Agent", "Wikimem-Session", "Wikimem-Page", "Wikimem-Run")


class HistoryEntry(Struct, frozen=True):
    """One commit. `pages` are the vault paths that it touched; `trailers` wikimem's, by name."""

    commit: str
    time: datetime
    author: str
    subject: str
    pages: tuple[str, ...]
    trailers: dict[str, tuple[str, ...]]


class HistoryQuery(Struct, frozen=True):
    """Which commits: each field narrows. `path` is a vault path, followed through renames from `start` backwards.

    With `page_id`, the id in the page's frontmatter, it is followed through those too that git takes for another page.
    """

    path: str | None = None
    page_id: str | None = None
    start: str = "HEAD"
    agent: str | None = None
    session: str | None = None
    op: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    limit: int = 50


def read_history(root: Path, query: HistoryQuery) -> tuple[HistoryEntry, ...]:
    """The commits that touched the vault at `root`, newest first. Empty before the first commit."""
    if run_git(root, "rev-parse", "--verify", "--quiet", query.start, check=False).returncode != 0:
        return ()
    entries: tuple[HistoryEntry, ...] = ()
    for path, start in _stretches(root, query):
        entries += _read(root, replace(query, path=path, start=start, limit=query.limit - len(entries)))
        if len(entries) >= query.limit:
            break
    return entries


def _stretches(root: Path, query: HistoryQuery) -> Iterator[tuple[str | None, str]]:
    """The paths that a page had, newest first, each with the commit from which `git log --follow` tells of it."""
    path, start = query.path, query.start
    yield path, start
    seen = set()
    while path and query.page_id and path not in seen:
        seen.add(path)
        added = run_git(root, "log", "--follow", "--diff-filter=A", "--format=%H", start, "--", path, check=False)
        first = added.stdout.decode().split()[-1:]
        if not first:
            return
        start = f"{first[0]}^"
        path = path_with_id(root, start, query.page_id)
        if path is not None and path not in seen:
            yield path, start


def _read(root: Path, query: HistoryQuery) -> tuple[HistoryEntry, ...]:
    # Settings that change what `git log` prints are overruled: the order of files, the encoding.
    command = ["log", "-z", f"--max-count={query.limit}", "--name-only", "--relative", "--no-show-signature"]
    command += ["--encoding=UTF-8", "-O/dev/null"]
    # No message can hold a mark that was made up just now.
    mark = secrets.token_hex(8)
    record, field = f"<{mark}>", f"<{mark}|>"
    command.append("--format=" + record + field.join(("%H", "%ct", "%an", "%s", "%(trailers:unfold=true)", "")))
    command += _greps(query)
    if query.since is not None:
        command.append(f"--since={int(query.since.timestamp())}")
    if query.until is not None:
        command.append(f"--until={int(query.until.timestamp())}")
    command.append(query.start)
    command += ["--follow", "--", query.path] if query.path is not None else ["--", "."]
    output = run_git(root, *command).stdout.decode("utf-8", "replace")
    return tuple(_entry(part.split(field, 5)) for part in output.split(record) if part.strip("\0\n"))


def _greps(query: HistoryQuery) -> list[str]:
    wanted = [("Wikimem-Agent", query.agent), ("Wikimem-Session", query.session), ("Wikimem-Op", query.op)]
    greps = [f"--grep=^{name}: {_escaped(value)}$" for name, value in wanted if value]
    return ["--extended-regexp", "--all-match", *greps] if greps else []


def _escaped(text: str) -> str:
    return "".join("\\" + char if char in r"\.^$*+?()[]{}|" else char for char in text)


def _entry(fields: list[str]) -> HistoryEntry:
    commit, stamp, author, subject, raw, names = fields
    trailers: dict[str, tuple[str, ...]] = {}
    for line in raw.splitlines():
        name, colon, value = line.partition(": ")
        if colon and name in TRAILERS:
            trailers[name] = (*trailers.get(name, ()), value.strip())
    pages = _paths(names)
    return HistoryEntry(commit, datetime.fromtimestamp(int(stamp)), author, subject, pages, trailers)


def _paths(names: str) -> tuple[str, ...]:
    return tuple(name for name in (part.strip("\n") for part in names.split("\0")) if name)
