"""From an event to what is worth recalling of it: no line at all, one, or one more for each decision beyond the cut.

What only looked (reads, searches, `ls`, `git status`) leaves no line: what it led to does.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from wikimem.memory.sessions.commands import error_line, last_line, only_looks, says_failed, summary_of
from wikimem.memory.sessions.wordings import decisions
from wikimem.text.oneline import as_code, as_line, as_written, flatten
from wikimem.text.sessionpage import ENDED, Observation, observation_id
from wikimem.vault.spool import ONLY_ERRORS

if TYPE_CHECKING:
    from wikimem.model.event import Event

RUN: Final = "Bash"
"""The label of a command line that ran."""

CHANGES: Final = {"edit": "Edit", "write": "Write"}
"""Labels of what changed files, by what the tool does."""

FAILED: Final = "failed"
"""Begins what is said of a tool's run that failed."""

UNTOLD: Final = "on stderr"
"""Begins what is said of a run that printed errors or warnings alone: nobody knows how it went."""

PROMPT: Final = "prompt"
SAID: Final = "said"
DECISION: Final = "decision"

_PROMPT_LENGTH: Final = 1000
_SAID_LENGTH: Final = 600
_SUMMARY_LENGTH: Final = 1200
_LINE_LENGTH: Final = 300
_COMMAND_LENGTH: Final = 200
_OUTCOME_LENGTH: Final = 160
_SNIPPET_LENGTH: Final = 100
_MOST_FILES: Final = 5
_MOST_DECISIONS: Final = 5
_MOST_NAMES: Final = 6
_LABEL_LENGTH: Final = 60
_QUIET_ACTIONS: Final = frozenset({"read", "search", "plan"})
_LABELS: Final = {**CHANGES, "run": RUN, "fetch": "Fetch", "agent": "Agent", "ask": "Ask"}
_DEFINED: Final = re.compile(
    r"^[ \t+]*(?:export\s+)?(?:default\s+)?(?:public\s+|private\s+|protected\s+|static\s+|abstract\s+|async\s+|pub\s+)*"
    r"(?:def|class|function\*?|func|fn|interface|type|enum|struct|trait|impl|module|const|let)\s+"
    r"(?:\([^)]*\)\s*)?([A-Za-z_]\w{2,60})",
    re.MULTILINE,
)
_PATCH_LINE: Final = re.compile(r"(?:\*\*\* |@@|---|\+\+\+|diff --git)")
_PLAIN_LABEL: Final = re.compile(r"[^\w .:/-]+")


@dataclass(frozen=True, slots=True)
class Seen:
    """What an event comes to: its observations, and the sub-agent that it names (id of its item, what it is)."""

    observations: tuple[Observation, ...] = ()
    group: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Observer:
    """Makes observations of the events of one session. `folder` is the code base's; `mask` takes secrets out."""

    session: str
    folder: str
    mask: Callable[[str], str]

    def see(self, event: Event) -> Seen:
        """What is worth recalling of an event."""
        group = observation_id(self.session, "sub-agent", event.subagent) if event.subagent else ""
        made = tuple(
            Observation(observation_id(self.session, event.key, *extra), local_time(event.time), label, body, group)
            for extra, label, body in self._lines(event)
        )
        masked = tuple(self._masked(each) for each in made)
        named = (group, as_line(event.subagent_type, _LABEL_LENGTH)) if group and masked else None
        return Seen(masked, named)

    def _masked(self, seen: Observation) -> Observation:
        """Two harmless texts may make a secret when they stand side by side."""
        body = flatten(self.mask(f"{seen.label} {seen.body}")).removeprefix(seen.label).strip()
        return Observation(seen.id, seen.when, seen.label, body, seen.group)

    def _lines(self, event: Event) -> Iterator[tuple[tuple[str, ...], str, str]]:
        """What tells the line from others of the event, its label, its text."""
        if event.kind in ("tool", "tool_failed"):
            line = self._of_tool(event)
            if line is not None:
                yield (), *line
            return
        label, text, limit = _told(event)
        if not label:
            return
        body = as_line(text, limit)
        if event.kind == "expansion" and event.title:
            body = f"{as_code('/' + event.title.lstrip('/'), _LABEL_LENGTH)} {body}".strip()
        if body or label in (ENDED, "resumed", "forked", "compacted"):
            yield (), label, body
        yield from self._beyond(text, body)

    def _beyond(self, text: str, body: str) -> Iterator[tuple[tuple[str, ...], str, str]]:
        """Decisions that were cut off."""
        kept = as_written(body)
        missing = [each for each in decisions(text) if flatten(each) not in kept]
        for each in missing[:_MOST_DECISIONS]:
            yield (DECISION, each), DECISION, as_line(each, _LINE_LENGTH)

    def _of_tool(self, event: Event) -> tuple[str, str] | None:
        failed = event.kind == "tool_failed" or (event.action == "run" and says_failed(event.output))
        if event.action in _QUIET_ACTIONS and "Plan" not in event.tool:
            return None
        if event.action == "run" and only_looks(event.command):
            return None
        label = _LABELS.get(event.action) or _label(event.tool or event.action or "tool")
        parts = [self._about(event, failed=failed), self._outcome(event, failed=failed)]
        body = " ".join(part for part in parts if part)
        return (label, body) if body else None

    def _about(self, event: Event, *, failed: bool) -> str:
        if event.action == "run" or (event.command and not event.files):
            return as_code(event.command, _COMMAND_LENGTH)
        files = [as_code(self.relative(file, event.cwd or event.ran_in), _COMMAND_LENGTH) for file in event.files]
        files = list(dict.fromkeys(files))
        shown = " ".join(files[:_MOST_FILES])
        if len(files) > _MOST_FILES:
            shown += f" and {len(files) - _MOST_FILES} more"
        if event.action in CHANGES:
            return shown if failed else shown + _change(event.input)
        return f"{shown} {as_line(_arguments(event.input), _LINE_LENGTH)}".strip()

    def _outcome(self, event: Event, *, failed: bool) -> str:
        if failed:
            said = event.error or event.output
            summary, error = summary_of(said), error_line(said)
            told = "; ".join(part for part in (summary, "" if summary and summary in error else error) if part)
            return f"{FAILED}: {as_line(told, _LINE_LENGTH)}" if told else FAILED
        if event.action in CHANGES:
            return ""
        if event.action == "run":
            return as_line(_printed(event.output), _OUTCOME_LENGTH)
        return as_line(event.output, _LINE_LENGTH)

    def relative(self, file: str, cwd: str) -> str:
        """A file's path within the code base, else as it is."""
        path = os.path.normpath(os.path.join(cwd or self.folder, file))
        for folder in (self.folder, cwd):
            if folder and path.startswith(folder.rstrip("/") + "/"):
                return path[len(folder.rstrip("/")) + 1 :]
        return path if os.path.isabs(file) else os.path.normpath(file)


def local_time(text: str) -> datetime:
    """The wall clock's time of an event where it happened. Raises ValueError for what is no time."""
    return datetime.fromisoformat(text).replace(tzinfo=None)


def _printed(output: str) -> str:
    """What a command printed, in a line: the summary of a test runner, else the last line."""
    summary = summary_of(output)
    if summary or not output.startswith(f"{ONLY_ERRORS}\n"):
        return summary or last_line(output)
    return f"{UNTOLD}: {last_line(output)}"


def _told(event: Event) -> tuple[str, str, int]:
    """Label, text and how much of it, of an event that is no tool's; no label where it is not worth a line."""
    kind, source = event.kind, event.source
    if kind == "session_start":
        return {"resume": "resumed", "fork": "forked"}.get(source, ""), "", _LINE_LENGTH
    if kind == "permission":
        denied = event.tool if "denied" in event.event.lower() else ""
        return ("denied" if denied else ""), f"{denied} {event.command or event.reason}", _LINE_LENGTH
    if kind == "other":
        return (_label(event.event) if event.text else ""), event.text, _SAID_LENGTH
    simple = {
        "prompt": (PROMPT, event.prompt, _PROMPT_LENGTH),
        "expansion": (PROMPT, event.prompt, _LINE_LENGTH),
        "session_end": (ENDED, event.reason, _LABEL_LENGTH),
        "response": (SAID, event.text, _SAID_LENGTH),
        "turn_end": (SAID, event.text, _SAID_LENGTH),
        "turn_failed": ("interrupted", error_line(event.error or event.text or event.reason), _LINE_LENGTH),
        "subagent_start": ("task", event.text or event.title, _LINE_LENGTH),
        "subagent_end": (SAID, event.text, _SAID_LENGTH),
        "task_start": ("task", f"{event.title}: {event.text}" if event.text else event.title, _LINE_LENGTH),
        "task_end": ("done", event.title, _LINE_LENGTH),
        "question": ("question", event.text, _LINE_LENGTH),
        "pre_compact": ("compacted", event.reason, _LABEL_LENGTH),
        "post_compact": ("summary", event.text, _SUMMARY_LENGTH),
    }
    return simple.get(kind, ("", "", 0))


def _label(name: str) -> str:
    return flatten(_PLAIN_LABEL.sub(" ", name))[:_LABEL_LENGTH].strip(" ^") or "event"


def _change(text: str) -> str:
    """What an edit put there, after the files: the names that it defines, else its first telling line."""
    names = list(dict.fromkeys(found[1] for found in _DEFINED.finditer(text)))
    if names:
        return f" defines {as_line(', '.join(names[:_MOST_NAMES]), _LINE_LENGTH)}"
    lines = (line.strip().lstrip("+").strip() for line in text.splitlines())
    telling = next((line for line in lines if not _PATCH_LINE.match(line) and re.search(r"\w{2}|\w\W+\w", line)), "")
    return f": {as_code(telling, _SNIPPET_LENGTH)}" if telling else ""


def _arguments(given: str) -> str:
    """Arguments that came as JSON, as `name: value` in one line."""
    import json

    if not given.lstrip().startswith("{"):
        return given
    try:
        values = json.loads(given, strict=False)
    except (ValueError, RecursionError):
        return given
    told = [
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in values.items()
    ]
    return "; ".join(told)
