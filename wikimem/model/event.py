"""One thing that happened in an agent's session, in the form that all agents share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

from wikimem.errors import Invalid

EVENT_FORMAT: Final = 1
"""The version of an event's document in the spool."""

KINDS: Final[dict[str, str]] = {
    "setup": "the agent prepares itself",
    "session_start": "a session begins, or goes on: `source` is compact, resume, clear or fork, empty for a new one",
    "session_end": "a session ends; `reason` says why",
    "prompt": "what a person asked: `prompt`",
    "expansion": "a prompt that the agent made of a command: `prompt`, `title`",
    "tool_start": "a tool is about to run",
    "tool": "a tool has run: `tool`, `action`, `command`, `files`, `input`, `output`",
    "tool_failed": "a tool has failed: as `tool`, with `error`",
    "tool_batch": "several tools have run; each also reports itself",
    "permission": "a tool waits for permission, or was denied it",
    "notification": "the agent tells its person something: `text`",
    "question": "a server asks the person something, or has the answer",
    "response": "what the agent said, before its turn ended: `text`",
    "turn_end": "the agent has finished its turn: `text` is the last that it said",
    "turn_failed": "the turn ended with `error`, or was interrupted",
    "subagent_start": "an agent started another: `subagent`, `subagent_type`",
    "subagent_end": "it ended: `text` is the last that it said",
    "subagent_idle": "an agent of a team waits for work",
    "task_start": "a task was made: `title`, `text`",
    "task_end": "a task was done: `title`, `text`",
    "pre_compact": "the agent is about to shorten its context",
    "post_compact": "it has: `text` is the summary that it keeps",
    "setting": "a setting or the model was changed",
    "place": "the working directory, a folder or a worktree was changed",
    "file": "a file was changed: `files`",
    "fragment": "a part of what comes whole in another event; never captured",
    "other": "an event that wikimem has no name for; see `event`",
}
"""Every kind of event, and what it says."""


@dataclass(frozen=True, slots=True)
class Event:
    """What one hook reported. Texts are redacted, shortened and free of what wikimem itself had injected.

    `time` is when the hook ran, ISO 8601 with its offset; `stamp` the agent's own time, as it wrote it. `turn` and
    `call` are the agent's ids of the turn and of the tool's run. `action` is one of run, edit, write, read, search,
    fetch, mcp, agent, plan, ask, or empty. `ran_in` is the hook's own folder, where the agent named no `cwd`.
    `extra` holds what the payload said besides, in plain values. `cut` names the fields that were shortened, `flaws`
    say what was wrong with the payload, `redacted` counts the secrets taken out by kind. `key` names the event: two
    reports of the same one have the same key, or are told apart by `wikimem.vault.spool`.
    """

    kind: str
    agent: str
    event: str
    time: str
    key: str
    session: str = ""
    cwd: str = ""
    ran_in: str = ""
    turn: str = ""
    call: str = ""
    stamp: str = ""
    prompt: str = ""
    text: str = ""
    tool: str = ""
    action: str = ""
    command: str = ""
    files: tuple[str, ...] = ()
    input: str = ""
    output: str = ""
    error: str = ""
    source: str = ""
    reason: str = ""
    title: str = ""
    subagent: str = ""
    subagent_type: str = ""
    model: str = ""
    transcript: str = ""
    extra: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    cut: tuple[str, ...] = ()
    flaws: tuple[str, ...] = ()
    redacted: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def from_document(cls, document: object) -> Event:
        """The event that a spool file holds; keys that this version does not know are ignored.

        Raises Invalid where it is none, or of a format that a newer wikimem wrote.
        """
        if not isinstance(document, dict) or document.get("format") != EVENT_FORMAT:
            raise Invalid("this is no event of a format that this wikimem reads", hint="Use the wikimem that wrote it.")
        values: dict[str, Any] = {}
        for one in fields(cls):
            if one.name in document:
                values[one.name] = _checked(one.name, document[one.name])
        missing = [name for name in ("kind", "agent", "event", "time", "key") if not values.get(name)]
        if missing or values["kind"] not in KINDS:
            raise Invalid(f"the event has no {missing[0] if missing else 'known kind'}")
        return cls(**values)

    def to_document(self) -> dict[str, Any]:
        """What a spool file holds: JSON values, empty fields left out."""
        document: dict[str, Any] = {"format": EVENT_FORMAT}
        for one in fields(self):
            value = getattr(self, one.name)
            if value:
                document[one.name] = list(value) if isinstance(value, tuple) else value
        return document


_LISTS: Final = frozenset({"files", "cut", "flaws"})


def _checked(name: str, value: object) -> Any:
    if name in _LISTS:
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
    elif name == "redacted":
        if isinstance(value, dict) and all(type(count) is int for count in value.values()):
            return value
    elif name == "extra":
        if isinstance(value, dict) and all(isinstance(item, str | int | float | bool) for item in value.values()):
            return value
    elif isinstance(value, str):
        return value
    raise Invalid(f"the event's `{name}` has the wrong type")
