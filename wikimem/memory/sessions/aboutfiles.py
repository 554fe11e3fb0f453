"""What is known of a file of a code base: pages that name it, what sessions did to it, what was changed with it."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final

from wikimem.memory.sessions.digest import Noted, files_of, has_failed, make_digest
from wikimem.memory.sessions.listing import Session, read_session
from wikimem.model.hit import PageFilter
from wikimem.text.analysis import query_terms
from wikimem.text.oneline import as_written, code_spans
from wikimem.text.sessionpage import Observation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wikimem.model.hit import PageRow
    from wikimem.wiki import Wiki

MOST_PASSAGES: Final = 400
"""Passages that are looked at for the name of one file."""

_SOURCE: Final = "file:"


@dataclass(slots=True)
class About:
    """What is known of `file`: rows of pages by what they are, sessions with the lines that name it, fixes with their
    sessions, and in how many sessions another file was changed as well."""

    file: str
    decisions: list[PageRow] = field(default_factory=list)
    errors: list[PageRow] = field(default_factory=list)
    pages: list[PageRow] = field(default_factory=list)
    sessions: list[tuple[Session, list[Observation]]] = field(default_factory=list)
    fixes: list[tuple[Session, Noted]] = field(default_factory=list)
    coedited: Counter[str] = field(default_factory=Counter)


def about_file(wiki: Wiki, written: str, project: str | None) -> About:
    """What the vault says of a file, which may be named by the end of its path."""
    about = About(plain_path(wiki, written))
    # A path that is longer than what a page says of it still means that file, and the other way round.
    for row in _naming(wiki, about.file, project):
        if row.type == "session":
            continue
        page = wiki.page_to_recall(row.path)
        if page is not None and (_names(page.text[page.body_start :], about.file) or _cites(row, about.file)):
            _kind(about, row).append(row)
    for rows in _sessions(wiki, about.file, project):
        session = read_session(wiki, rows)
        if session is not None:
            _add_session(about, session)
    about.sessions.sort(key=lambda each: each[0].started or datetime.min, reverse=True)
    return about


def plain_path(wiki: Wiki, written: str) -> str:
    """The file's path from the top of the code base that the caller works in, or as it is."""
    from wikimem.vault.project import detect_project

    path = os.path.normpath(written.strip().replace("\\", "/"))
    cwd = wiki.caller.cwd
    identity = detect_project(cwd, wiki.root) if cwd is not None else None
    if identity is None or cwd is None:
        return path
    whole = os.path.normpath(os.path.join(os.path.realpath(cwd), path))
    if os.path.isabs(path) or os.path.exists(whole):
        top = f"{identity.folder}/"
        return whole.removeprefix(top) if whole.startswith(top) else path
    return path


def is_same_file(one: str, other: str) -> bool:
    """Whether two paths mean one file as far as they say: one is the end of the other."""
    short, long = sorted((one.removeprefix("./"), other.removeprefix("./")), key=len)
    return bool(short) and (long == short or long.endswith("/" + short))


def _kind(about: About, row: PageRow) -> list[PageRow]:
    return {"decision": about.decisions, "error": about.errors, "lesson": about.errors}.get(row.type, about.pages)


def _where(wiki: Wiki, project: str | None) -> PageFilter:
    return PageFilter(as_of=wiki.clock(), project=project)


def _naming(wiki: Wiki, file: str, project: str | None) -> list[PageRow]:
    """Pages that may name the file: by its words, or among their sources."""
    index = wiki.index
    where = _where(wiki, project)
    found = index.words.search(query_terms(file), MOST_PASSAGES, index.allowed(where))
    passages = index.passages([passage for passage, _ in found])
    numbers = dict.fromkeys(passages[passage].page for passage, _ in found if passage in passages)
    rows = index.pages_by_number(list(numbers))
    cited = [row for row in index.list_pages(where) if _cites(row, file)]
    by_path = {row.path: row for row in (*(rows[number] for number in numbers if number in rows), *cited)}
    return list(by_path.values())


def _sessions(wiki: Wiki, file: str, project: str | None) -> list[list[PageRow]]:
    """All parts of the sessions of which one part may name the file."""
    grouped: dict[str, list[PageRow]] = {}
    for row in _naming(wiki, file, project):
        if row.type == "session":
            grouped.setdefault(row.session or row.path, [row])
    for name, rows in grouped.items():
        if rows[0].session:
            parts = PageFilter(as_of=wiki.clock(), session=name, types=("session",), statuses=(), any_time=True)
            grouped[name] = wiki.index.list_pages(parts) or rows
    return list(grouped.values())


def _add_session(about: About, session: Session) -> None:
    seen = session.seen
    mine = [each for each in seen if _in_line(each, about.file)]
    if not mine:
        return
    about.sessions.append((session, mine))
    about.fixes += [
        (session, fix)
        for fix in make_digest(seen).mended
        if any(is_same_file(span, about.file) for span in code_spans(fix.text))
    ]
    changed = {file for each in seen if not has_failed(each) for file in files_of(each)}
    if any(is_same_file(file, about.file) for file in changed):
        about.coedited.update(file for file in changed if not is_same_file(file, about.file))


def _in_line(seen: Observation, file: str) -> bool:
    return _names(as_written(seen.body), file) or any(
        is_same_file(span, file) for span in _paths(code_spans(seen.body))
    )


def _paths(spans: Iterable[str]) -> list[str]:
    return [span for span in spans if " " not in span]


def _cites(row: PageRow, file: str) -> bool:
    cited = (source.removeprefix(_SOURCE).partition("@")[0] for source in row.sources if source.startswith(_SOURCE))
    return any(is_same_file(source, file) for source in cited)


def _names(text: str, file: str) -> bool:
    """Whether a text names the file, also with folders in front."""
    return re.search(rf"(?:(?<![\w.-])|(?<=\./)){re.escape(file)}(?![\w-]|\.\w)", text) is not None
