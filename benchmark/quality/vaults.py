"""Vaults from haystacks: a session is a page and keeps its turns word for word, each with its speaker."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from benchmark.quality.sets import BenchmarkSet, Document
from wikimem.operations import OPERATIONS
from wikimem.operations.processes import init
from wikimem.wiki import Caller, Wiki, open_wiki

LAYOUTS: Final = ("paragraphs", "headings")
"""How a turn begins: `**speaker**: text`, so that short turns share a passage, or `## speaker`, so that none do."""

_OPERATIONS: Final = {operation.name: operation for operation in OPERATIONS}
_FALLBACK_NOW: Final = datetime(2025, 1, 1)


@dataclass(slots=True)
class BenchmarkVault:
    """A vault on disk, open. `turns` gives for each page the place where each document begins in it."""

    wiki: Wiki
    sessions: dict[str, str] = field(default_factory=dict)
    turns: dict[str, list[tuple[int, str]]] = field(default_factory=dict)

    def search(self, text: str, now: str | None, **options: Any) -> Any:
        """The `search` operation, as every surface calls it."""
        return _OPERATIONS["search"].run(self.wiki, {"query": text, "now": now, **options})

    def documents_in(self, path: str, start: int, end: int) -> tuple[str, ...]:
        """The documents that a piece of a page overlaps."""
        begins = [*self.turns[path], (1 << 60, "")]
        return tuple(name for (at, name), (after, _) in pairwise(begins) if at < end and start < after)


def keep_apart(folder: Path) -> None:
    """Give wikimem folders of its own for this process: nobody's configuration, caches or vaults are touched."""
    for name, place in (("CONFIG", "config"), ("CACHE", "cache"), ("STATE", "state")):
        os.environ[f"XDG_{name}_HOME"] = str(folder / place)
    os.environ["HOME"] = str(folder)
    os.environ["GIT_CONFIG_GLOBAL"] = str(folder / "gitconfig")
    os.environ["GIT_CONFIG_NOSYSTEM"] = "1"
    (folder / "gitconfig").write_text("[user]\n\tname = Benchmark\n\temail = benchmark@example.org\n")


def make_vault(folder: Path, given: BenchmarkSet, sessions: Sequence[str], layout: str) -> BenchmarkVault:
    """Write the pages of a haystack into a new vault, or take the one that is there already, and index it."""
    if not folder.exists():
        init(folder, cwd=folder.parent)
    vault = BenchmarkVault(open_wiki(str(folder), cwd=folder, caller=Caller(cwd=folder), clock=lambda: _FALLBACK_NOW))
    for number, session in enumerate(sessions):
        path = f"global/pages/{number // 500:03}/{number:05}.md"
        text, turns = page_text(given, given.sessions[session], number, layout)
        vault.sessions[path], vault.turns[path] = session, turns
        file = folder / path
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode("utf-8"))
    vault.wiki.refresh()
    return vault


def page_text(
    given: BenchmarkSet, documents: Sequence[Document], number: int, layout: str
) -> tuple[str, list[tuple[int, str]]]:
    """A page and the place in it where each document begins."""
    first = documents[0]
    if given.flat:
        named = given.name == "cosqa" or not first.speaker
        text = f"---\ntitle: {_quoted(f'Page {number}' if named else first.speaker)}\n---\n"
        fence = "```" if given.name == "cosqa" else ""
        body = f"{fence}{first.speaker}\n{first.text}\n{fence}\n" if fence else f"{first.text}\n"
        return text + body, [(len(text), first.id)]
    date = first.date or ""
    text = f"---\ntype: session\ntitle: {_quoted(f'Session {number} {date[:10]}'.strip())}\n"
    text += f"created: {date}\n---\n" if date else "---\n"
    turns: list[tuple[int, str]] = []
    for document in documents:
        turns.append((len(text), document.id))
        begin = f"## {document.speaker}\n" if layout == "headings" else f"**{document.speaker}**: "
        text += f"{begin}{document.text}\n\n"
    return text, turns


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
