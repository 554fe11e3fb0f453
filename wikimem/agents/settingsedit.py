"""wikimem's own entries in the text of an agent's settings: put in, found again, taken out. No file is touched here."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from wikimem.agents.wiring import END, SERVER, SettingsFile, is_ours
from wikimem.errors import Invalid
from wikimem.text.jsonedit import JsonText
from wikimem.text.jsonedit import Path as JsonPath

BEGIN: Final = "# >>> wikimem >>> written by `wikimem connect`; `wikimem disconnect` takes it out"
CLOSE: Final = "# <<< wikimem <<<"
_BLOCK: Final = re.compile(
    rf"(?:\r?\n)?^# >>> wikimem >>>.*?^{re.escape(CLOSE)}[ \t]*(?:\r?\n|\Z)", re.MULTILINE | re.DOTALL
)
_AT_LINE: Final = re.compile(r"at line (\d+)")


@dataclass(frozen=True, slots=True)
class Edited:
    """A text after an edit. `pieces` were put in, and cut out again give the text before; `kept` is why an entry of
    this name was left as it is."""

    text: str
    pieces: tuple[str, ...] = ()
    kept: str = ""


def with_ours(text: str, wanted: SettingsFile) -> Edited:
    """`text`, which holds no hook of wikimem's, with what is wanted; a server of its name that is there is kept.

    Raises Invalid, with the line in `data`, where the text does not parse strictly or something else is in the way.
    """
    return _with_block(text, wanted.block) if wanted.block is not None else _with_entries(text, wanted)


def without_ours(text: str, wanted: SettingsFile, *, server: bool) -> str:
    """`text` without what is wikimem's in it, and without objects and lists that are empty then.

    `server` says whether the MCP server of this name is wikimem's too. Raises Invalid as `with_ours`.
    """
    if wanted.block is not None:
        _toml(text)
        return _BLOCK.sub("", text)
    edited = JsonText(text)
    while (path := next(_ours(edited.value, server=server), None)) is not None:
        edited.remove(path)
        path = path[:-1]
        while path and not _at(edited.value, path):
            edited.remove(path)
            path = path[:-1]
    return edited.text


def holds(text: str, wanted: SettingsFile) -> bool:
    """Whether all hooks that are wanted are there once, and no others of wikimem's, and a server of its name that is
    not an outdated one. What a person changed besides (a time-out, an argument) is theirs. Raises Invalid."""
    server = server_in(text, wanted)
    asked = server_of(wanted)
    if asked is not None and (server is None or is_outdated(server, asked)):
        return False
    if wanted.block is not None:
        return True
    value = JsonText(text).value
    found = sorted((str(path[1]), _command(_at(value, path))) for path in _ours(value, server=False))
    return found == sorted((str(e.path[1]), _command(e.value)) for e in wanted.entries if e.path[0] == "hooks")


def server_of(wanted: SettingsFile) -> Any:
    """The MCP server that is wanted in this file, or None."""
    if wanted.block is not None:
        return wanted.block
    return next((entry.value for entry in wanted.entries if entry.path[0] == "mcpServers"), None)


def is_outdated(server: Any, asked: Any) -> bool:
    """Whether this server runs a wikimem, but another than the one that is asked for."""
    return runs_wikimem(server) and server["command"] != asked["command"]


def runs_wikimem(server: Any) -> bool:
    """Whether an MCP server of an agent's settings is a wikimem."""
    if not isinstance(server, dict) or not isinstance(server.get("command"), str):
        return False
    words = [server["command"], *(word for word in server.get("args") or () if isinstance(word, str))]
    name = re.split(r"[/\\]", words[0])[-1].removesuffix(".exe")
    return name == "wikimem" or words[1:3] == ["-m", "wikimem"]


def server_in(text: str, wanted: SettingsFile) -> Any:
    """The MCP server of wikimem's name in the text; None where there is none. Raises Invalid."""
    if wanted.block is not None:
        servers = _toml(text).get("mcp_servers")
        return servers.get(SERVER) if isinstance(servers, dict) else None
    value = JsonText(text).value
    servers = value.get("mcpServers") if isinstance(value, dict) else None
    return servers.get(SERVER) if isinstance(servers, dict) else None


def by_hand(wanted: SettingsFile) -> str:
    """What to add to the file, for a person to copy."""
    if wanted.block is not None:
        return _block(wanted.block, "\n")
    text = JsonText(wanted.blank)
    for entry in wanted.entries:
        text.add(entry.path, entry.value)
    return text.text


def _with_entries(text: str, wanted: SettingsFile) -> Edited:
    edited = JsonText(text)
    kept = ""
    for entry in (*wanted.needs, *wanted.entries):
        there = _at(edited.value, entry.path) if entry.path[-1] != END else None
        if there is None:
            edited.add(entry.path, entry.value)
        elif entry in wanted.entries and there != entry.value:
            kept = f"it has a server named '{SERVER}' already, which was left as it is"
    return Edited(edited.text, tuple(edited.added), kept)


def _with_block(text: str, server: Mapping[str, Any]) -> Edited:
    before = _toml(text)
    servers = before.get("mcp_servers", {})
    if isinstance(servers, dict) and SERVER in servers:
        same = servers[SERVER] == server
        return Edited(text, (), "" if same else f"it has a server named '{SERVER}' already, which was left as it is")
    newline = "\r\n" if "\r\n" in text else "\n"
    start = "" if not text or text.endswith("\n") else newline
    piece = f"{start}{newline if text.strip() else ''}{_block(server, newline)}"
    after = text + piece
    expected = {**before, "mcp_servers": {**servers, SERVER: dict(server)}} if isinstance(servers, dict) else None
    try:
        done = tomllib.loads(after)
    except tomllib.TOMLDecodeError:
        done = None
    if done is None or done != expected:
        raise Invalid("`mcp_servers` is written in a form that cannot be added to", data={"line": _line(text)})
    return Edited(after, (piece,))


def _block(server: Mapping[str, Any], newline: str) -> str:
    # A JSON text of ASCII is a basic string of TOML, and a list of such texts is a list.
    lines = [
        BEGIN,
        f"[mcp_servers.{SERVER}]",
        *(f"{name} = {json.dumps(value)}" for name, value in server.items()),
        CLOSE,
    ]
    return newline.join([*lines, ""])


def _line(text: str) -> int:
    at = text.find("mcp_servers")
    return text.count("\n", 0, max(at, 0)) + 1


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _AT_LINE.search(str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        raise Invalid(f"line {line}: {str(error).partition(' (at ')[0]}", data={"line": line}) from error


def _ours(value: Any, *, server: bool) -> Iterator[JsonPath]:
    """Where something of wikimem's stands, the last first, so that removing one leaves the places of the others."""
    if not isinstance(value, dict):
        return
    servers = value.get("mcpServers")
    if server and isinstance(servers, dict) and SERVER in servers:
        yield "mcpServers", SERVER
    hooks = value.get("hooks")
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for at in reversed(range(len(groups) if isinstance(groups, list) else 0)):
            yield from _ours_of(groups[at], ("hooks", event, at))


def _ours_of(group: Any, path: JsonPath) -> Iterator[JsonPath]:
    if not isinstance(group, dict):
        return
    handlers = group.get("hooks")
    if not isinstance(handlers, list):
        if is_ours(group.get("command")):
            yield path
        return
    ours = [at for at, each in enumerate(handlers) if isinstance(each, dict) and is_ours(each.get("command"))]
    if ours and len(ours) == len(handlers):
        yield path
    else:
        yield from ((*path, "hooks", at) for at in reversed(ours))


def _command(group: Any) -> str:
    handlers = group.get("hooks")
    return str(handlers[0].get("command") if isinstance(handlers, list) else group.get("command"))


def _at(value: Any, path: JsonPath) -> Any:
    for part in path:
        if isinstance(part, str):
            value = value.get(part) if isinstance(value, dict) else None
        else:
            value = value[part] if isinstance(value, list) and part < len(value) else None
    return value
