"""What of a session page is in the words of a person or an agent: what tools and web pages said is taken out.

A session page records the last line that a command printed, the error that it failed with, and what a page from the
web said. Whoever wrote those lines may have meant them for the next agent. Asked for, they are given with the page;
unasked, only commands, files, and what person and agent said are.
"""

from __future__ import annotations

import re
from typing import Final

OWN: Final = frozenset(
    {
        "prompt", "said", "decision", "decided", "task", "done", "summary", "Edit", "Write", "resumed", "forked",
        "compacted", "ended", "denied", "Ask", "Plan", "interrupted",
    }
)  # fmt: skip
"""Labels of observations that hold nothing that a tool said."""

RUNS: Final = frozenset({"Bash", "Shell", "Run"})
"""Labels of commands: the command is kept, what it printed is not."""

_OBSERVATION: Final = re.compile(r"\s*- (?:\d{4}-\d\d-\d\d )?\d\d:\d\d(?::\d\d)? \*\*(?P<label>[^*\n]+)\*\* ?")
_COMMAND: Final = re.compile(r"(?P<ticks>`+).*?(?<!`)(?P=ticks)(?!`)(?: failed\b)?")
_BLOCK_ID: Final = re.compile(r" \^o-\w+\s*\Z")
_MARKS: Final = re.compile(r"\s*<!-- wikimem:(?:begin|end)\b.*-->\s*")
_LAST: Final = re.compile(r"; last: .*\Z")
_GONE: Final = re.compile(r"\A(\s*- ).*(: gone after a change of )")
_STILL: Final = re.compile(r"( still failed): .*\Z")
_PRINTED: Final = re.compile(r"\A(\*\*Outcome:\*\* (?:\d+ files? changed)?(?:; )?(?:`[^`]*`)?)[:;].*\Z")


def own_words(text: str) -> str:
    """The text of a passage of a session page without what tools and web pages said; empty where that was all."""
    kept = (_own(line) for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line for line in kept if line is not None)).strip()


def _own(line: str) -> str | None:
    found = _OBSERVATION.match(line)
    if found is None:
        return _of_digest(line)
    label = found["label"]
    if label in OWN:
        return line if label != "interrupted" else line[: found.end()].rstrip()
    if label not in RUNS:
        return None
    command = _COMMAND.match(line, found.end())
    if command is None:
        return None
    mark = _BLOCK_ID.search(line)
    return line[: command.end()] + (mark[0] if mark else "")


def _of_digest(line: str) -> str | None:
    if _MARKS.fullmatch(line):
        return None
    line = _PRINTED.sub(r"\1", _LAST.sub("", line))
    return _STILL.sub(r"\1", _GONE.sub(r"\1an error\2", line))
