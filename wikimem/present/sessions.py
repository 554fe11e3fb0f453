"""The results of `sessions`, `observe` and `files` as plain text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from wikimem.model.results import PageRef
from wikimem.model.sessions import FileKnowledge, FilesResult, ObserveResult, SessionsResult, SessionSummary
from wikimem.present.text import SHORT_COMMIT, SHORT_ID, text

MOST_LINES: Final = 5
"""Lines of one session that are shown for a file."""

MOST_COMMITS: Final = 5
"""Commits of one session that a list of sessions shows, the latest."""


@text.register
def _sessions(result: SessionsResult) -> str:
    lines = [line for each in result.sessions for line in (*_session(each), "")]
    if not result.sessions:
        lines = [f"No sessions{f' in project {result.project!r}' if result.project else ''}.", ""]
    elif len(result.sessions) < result.total:
        lines.append(f"{len(result.sessions)} of {result.total} sessions: --limit shows more.")
    if result.waiting:
        lines.append(f"{_count(result.waiting, 'captured event')} not on a page yet.")
    return "\n".join(lines).rstrip("\n")


def _session(session: SessionSummary) -> list[str]:
    who = ", ".join(filter(None, (session.agent or "a person", session.project)))
    until = f" to {session.ended}" if session.ended else ", still open"
    lines = [
        f"{session.title}  ({who})",
        f"  {session.started or 'no date'}{until}; {_count(session.observations, 'observation')}"
        + (f" on {session.parts} pages" if session.parts > 1 else "")
        + (f"; session {session.session}" if session.session else ""),
        f"  {session.path}",
    ]
    lines += [f"  {' '.join(session.outcome.split())}"] if session.outcome else []
    shown = session.commits[-MOST_COMMITS:]
    lines += [f"  and {len(session.commits) - len(shown)} commits before"] if len(shown) < len(session.commits) else []
    return [*lines, *(f"  commit {each.commit[:SHORT_COMMIT]} {each.subject}" for each in shown)]


@text.register
def _observe(result: ObserveResult) -> str:
    lines = [f"Recorded: {result.observation}, session {result.session}"]
    lines.append(result.path or "on its page when the spool is drained next")
    if result.commit:
        lines.append(f"commit: {result.commit[:SHORT_COMMIT]}")
    if result.redacted:
        kinds = ", ".join(f"{count} {kind}" for kind, count in result.redacted.items())
        lines.append(f"taken out before writing: {kinds}")
    return "\n".join(lines)


@text.register
def _files(result: FilesResult) -> str:
    return "\n\n".join(_file(each) for each in result.files)


def _file(known: FileKnowledge) -> str:
    lines = [known.file]
    lines += _pages("decisions", known.decisions) + _pages("errors and lessons", known.errors)
    for fix in known.fixes:
        lines += [f"  fixed: {fix.text}", f"    {', '.join(fix.sources)}"]
    for session in known.sessions:
        lines.append(f"  session: {session.title}  ({session.agent or 'a person'}, {session.started or 'no date'})")
        lines += [f"    {each.time[11:]} {each.text}  {each.source}" for each in session.mentions[:MOST_LINES]]
        rest = len(session.mentions) - MOST_LINES
        lines += [f"    and {rest} more: {session.path}"] if rest > 0 else []
        lines += [f"    commit {each.commit[:SHORT_COMMIT]} {each.subject}  {each.source}" for each in session.commits]
    if known.coedited:
        together = (f"{each.path} ({_count(each.sessions, 'session')})" for each in known.coedited)
        lines.append(f"  changed together with: {', '.join(together)}")
    lines += _pages("also named on", known.pages)
    return "\n".join(lines if len(lines) > 1 else [*lines, "  Nothing is known of it."])


def _pages(what: str, pages: Sequence[PageRef]) -> list[str]:
    return (
        [f"  {what}:", *(f"    {page.title}  [{page.id[-SHORT_ID:]}]  {page.path}" for page in pages)] if pages else []
    )


def _count(number: int, word: str) -> str:
    return f"1 {word}" if number == 1 else f"{number} {word}s"
