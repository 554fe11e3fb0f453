"""Which settings files of which agent wikimem is written into, and what is written there.

    plan = wiring("codex", Command(("/home/u/.local/bin/wikimem",), ""), home=..., project=None)

Only events that every version of an agent in use knows are wired: some refuse a whole file for one that they do not.
More of them are where the version that is installed is known to take them.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from wikimem.text.jsonedit import Path as JsonPath

SERVER: Final = "wikimem"
"""The name of the MCP server in an agent's settings."""

START_S: Final = 10
OTHERWISE_S: Final = 5
"""Seconds after which an agent stops waiting for a hook: at a session's start, and at every other event."""

LENIENT: Final[Mapping[str, tuple[int, int, int]]] = {"claude": (2, 1, 101)}
"""Since which version an agent passes over events that it does not know. Claude Code before that refuses the file."""

END: Final = 1_000_000
"""As a place in a list: its end."""

_OURS: Final = re.compile(r"(?:\bwikimem(?:\.exe)?[\"']?|-m wikimem)\s+hook\s")


CLAUDE_NEWER: Final = (
    "PostToolUseFailure",
    "SubagentStart",
    "StopFailure",
    "PostCompact",
    "TaskCreated",
    "TaskCompleted",
)
"""Events of Claude Code that its older versions do not know."""


@dataclass(frozen=True, slots=True)
class Command:
    """How an agent starts wikimem: the words of the command, and the vault that is meant, or nothing."""

    words: tuple[str, ...]
    vault: str = ""

    def hook(self, agent: str, event: str) -> str:
        """The command line of a hook, for a shell."""
        named = ("--vault", self.vault) if self.vault else ()
        return shlex.join((*self.words, "hook", agent, event, *named))

    def server(self) -> dict[str, Any]:
        """The program of the MCP server and its arguments."""
        named = ("--vault", self.vault) if self.vault else ()
        return {"command": self.words[0], "args": [*self.words[1:], *named, "mcp"]}


@dataclass(frozen=True, slots=True)
class Entry:
    """A value to be added to a JSON file, and where; a last part that is a number means the end of a list."""

    path: JsonPath
    value: Any


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """One file of an agent, and what belongs into it: `entries` of a JSON file, or a `block` of a TOML file.

    `blank` is what a file that is missing begins as; `needs` are members that the agent wants in such a file.
    """

    path: Path
    entries: tuple[Entry, ...] = ()
    block: Mapping[str, Any] | None = None
    blank: str = "{}\n"
    needs: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class Wiring:
    """An agent as it is wired: the folders that show that it is installed, its files, and what to tell its person."""

    agent: str
    signs: tuple[Path, ...]
    files: tuple[SettingsFile, ...]
    notes: tuple[str, ...]


def is_ours(command: object) -> bool:
    """Whether this command line of a hook is wikimem's."""
    return isinstance(command, str) and _OURS.search(f"{command} ") is not None


def wiring(agent: str, command: Command, *, home: Path, project: Path | None, lenient: bool = False) -> Wiring:
    """The wiring of an agent in this user's own settings, or in those of the folder `project`. KeyError for others.

    `lenient`: the agent passes over events that it does not know, so that newer ones are wired too.
    """
    return CONNECTED[agent](command, home, project, lenient)


def _claude(command: Command, home: Path, project: Path | None, lenient: bool) -> Wiring:
    named = os.environ.get("CLAUDE_CONFIG_DIR", "")
    folder = Path(named) if named else home / ".claude"
    servers = folder / ".claude.json" if named else home / ".claude.json"
    if project is not None:
        hooks, servers_file = project / ".claude" / "settings.local.json", project / ".mcp.json"
    else:
        hooks, servers_file = folder / "settings.json", servers
    events = {"SessionStart": "startup|resume|clear|compact"} | dict.fromkeys(
        ("UserPromptSubmit", "PostToolUse", "PreCompact", "SubagentStop", "Stop", "SessionEnd"), ""
    )
    notes = ["Sessions of Claude Code that are running see the change when they are started again."]
    if lenient or _has_newer(hooks):
        events |= dict.fromkeys(CLAUDE_NEWER, "")
    else:
        least = ".".join(map(str, LENIENT["claude"]))
        notes.append(
            f"What fails in Claude Code is not captured: `claude --version` did not say {least} or newer. "
            "Connect again when it does."
        )
    entries = _grouped(command, "claude", events, seconds=1)
    server = Entry(("mcpServers", SERVER), {"type": "stdio", **command.server()})
    return Wiring(
        "claude",
        (folder, servers),
        (SettingsFile(hooks, entries), SettingsFile(servers_file, (server,))),
        tuple(notes),
    )


def _has_newer(file: Path) -> bool:
    """Whether newer events were wired before, so that they stay where the version cannot be asked now."""
    try:
        return f" hook claude {CLAUDE_NEWER[0]}".encode() in file.read_bytes()
    except OSError:
        return False


def _codex(command: Command, home: Path, project: Path | None, _lenient: bool) -> Wiring:
    named = os.environ.get("CODEX_HOME", "")
    folder = Path(named) if named else home / ".codex"
    where = folder if project is None else project / ".codex"
    events = {"SessionStart": "startup|resume|clear|compact"} | dict.fromkeys(
        ("UserPromptSubmit", "PostToolUse", "PreCompact", "SubagentStop", "Stop"), ""
    )
    return Wiring(
        "codex",
        (folder,),
        (
            SettingsFile(where / "hooks.json", _grouped(command, "codex", events, seconds=1)),
            SettingsFile(where / "config.toml", block=command.server(), blank=""),
        ),
        ("Codex skips new and changed hooks until you accept them: type /hooks in it.",),
    )


def _gemini(command: Command, home: Path, project: Path | None, _lenient: bool) -> Wiring:
    folder = home / ".gemini"
    where = folder if project is None else project / ".gemini"
    events = {
        "SessionStart": "",
        "BeforeAgent": "",
        "AfterTool": "",
        "AfterAgent": "",
        "PreCompress": "",
        "SessionEnd": "",
    }
    entries = _grouped(command, "gemini", events, seconds=1000, name=SERVER)
    server = Entry(("mcpServers", SERVER), command.server())
    notes = ("Gemini CLI asks before it runs hooks of a project for the first time.",) if project else ()
    return Wiring("gemini", (folder,), (SettingsFile(where / "settings.json", (*entries, server)),), notes)


def _cursor(command: Command, home: Path, project: Path | None, _lenient: bool) -> Wiring:
    folder = home / ".cursor"
    where = folder if project is None else project / ".cursor"
    events = ("sessionStart", "beforeSubmitPrompt", "afterShellExecution", "afterFileEdit", "afterAgentResponse",
              "stop", "sessionEnd")  # fmt: skip
    entries = tuple(
        Entry(
            ("hooks", event, END),
            {"command": command.hook("cursor", event), "timeout": START_S if event == events[0] else OTHERWISE_S},
        )
        for event in events
    )
    hooks = SettingsFile(where / "hooks.json", entries, blank='{\n  "version": 1\n}\n', needs=(Entry(("version",), 1),))
    servers = SettingsFile(where / "mcp.json", (Entry(("mcpServers", SERVER), command.server()),))
    note = "Cursor 3 does not pass on what a hook says at a session's start; its agent reaches memory through MCP."
    return Wiring("cursor", (folder,), (hooks, servers), (note,))


def _grouped(
    command: Command, agent: str, events: Mapping[str, str], *, seconds: int, name: str = ""
) -> tuple[Entry, ...]:
    """Hooks in the form of Claude Code, which others have taken over. `seconds` is what an agent writes for one."""
    entries = []
    for event, matcher in events.items():
        waits = (START_S if event == "SessionStart" else OTHERWISE_S) * seconds
        handler = {"name": name} if name else {}
        handler |= {"type": "command", "command": command.hook(agent, event)}
        group: dict[str, Any] = {"matcher": matcher} if matcher else {}
        entries.append(Entry(("hooks", event, END), group | {"hooks": [handler | {"timeout": waits}]}))
    return tuple(entries)


CONNECTED: Final[Mapping[str, Callable[[Command, Path, Path | None, bool], Wiring]]] = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "cursor": _cursor,
}
"""The agents that `wikimem connect` knows."""
