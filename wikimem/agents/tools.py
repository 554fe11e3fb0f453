"""What a tool's run says that is worth keeping: what it did, the command, the files, the change, the outcome.

The whole output of a tool is noise a week later: that of a command is kept, shortened; the text of a file that was
read is not.
"""

from __future__ import annotations

import json

from wikimem.agents import spellings as say
from wikimem.text.redact_values import compiled
from wikimem.vault.spool import ONLY_ERRORS

ACTIONS: dict[str, str] = {
    "run": "bash shell run_shell_command execute_command run_terminal_cmd runcommand terminal powershell exec "
    "runterminalcommand executebash run_in_terminal shellcommand bashoutput",
    "edit": "edit multiedit applypatch apply_patch replace str_replace strreplace search_replace notebookedit "
    "replace_in_file apply_diff patch edit_file insert_edit_into_file replace_string_in_file str_replace_editor "
    "fs_edit",
    "write": "write write_file write_to_file create create_file createfile fs_write",
    "read": "read read_file readfile read_many_files view view_image notebookread fs_read cat",
    "search": "grep glob list_directory ls search_file_content search_files list_files codebase_search grep_search "
    "file_search semantic_search",
    "fetch": "webfetch web_fetch websearch web_search google_web_search fetch browser",
    "agent": "task agent spawn_agent new_task delegate",
    "plan": "todowrite todoread write_todos update_plan exitplanmode enterplanmode taskcreate taskupdate",
    "ask": "askuserquestion ask_followup_question ask_user",
}
"""What well-known tools do, by the names that agents give them."""

_BY_TOOL = {name.replace("_", ""): action for action, names in ACTIONS.items() for name in names.split()}
_PATCHED = r"(?m)^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$"
_OWN_TOOL = r"(?:^|[^a-z0-9])wikimem(?:$|[^a-z0-9])"
_OWN_COMMAND = (
    r"(?:\w+=\S*\s+)*(?:(?:uvx|uv run|pipx run|exec|command|time)\s+)*"
    r"(?:(?:\S*/)?wikimem|(?:\S*/)?python[\d.]*\s+-m\s+wikimem)(?:\s|$)"
)
_BETWEEN_COMMANDS = r"&&|\|\||[;|\n]"
_ASIDE = r"\s*(?:cd|pushd|popd|head|tail|cat|jq|less|true|echo)(?:\s|$)"
_MOST_FILES = 50
_MOST_WRAPPINGS = 8
_PARTS = ("stdout", "stderr", "textResultForLlm", "output", "content", "text", "error", "message", "llmContent")
_NOT_TOLD = frozenset({"originalFile", "oldString", "newString", "structuredPatch", "base64", "data", "image"})
_FLAT = {"shell": "run", "edit": "edit", "read": "read", "mcp": "mcp"}


def action_of(tool: str) -> str:
    """What a tool does, in one word of `Event.action`, or nothing where that is not known."""
    plain = tool.lower().replace("_", "").replace("-", "")
    if tool.lower().startswith(("mcp__", "mcp_")):
        return "mcp"
    return _BY_TOOL.get(plain, _FLAT.get(plain, ""))


def is_own_tool(tool: str, server: str) -> bool:
    """Whether a tool is one of wikimem's own: what it was told or answered is in the vault already."""
    named = server.lower() if "wikimem" in server.lower() else tool.lower() if action_of(tool) == "mcp" else ""
    return "wikimem" in named and compiled(_OWN_TOOL).search(named) is not None


def own_share(command: str) -> str:
    """`all` where a command line only runs wikimem, `some` where it also does, else nothing."""
    if "wikimem" not in command:
        return ""
    own = other = False
    for part in compiled(_BETWEEN_COMMANDS).split(command):
        if compiled(_OWN_COMMAND).match(part.strip()):
            own = True
        elif part.strip() and not compiled(_ASIDE).match(part):
            other = True
    return "" if not own else "some" if other else "all"


def tool_run(payload: dict[str, object], action: str) -> dict[str, object]:
    """The fields of a tool's run: `command`, `files`, `input` and `output` as far as the payload says them."""
    given = as_object(first(payload, say.INPUT))
    arguments = given if isinstance(given, dict) else {}
    nothing: dict[str, object] = {}
    spread = {**(payload if not arguments else nothing), **arguments}
    command = first(spread, say.COMMAND) or (first(payload, say.COMMAND) if action == "run" else None)
    change = _change(given, arguments, payload, action)
    return {
        "command": _joined(command) if action == "run" or isinstance(command, str) else "",
        "files": _files(spread, payload, change),
        "input": change if action in ("edit", "write") else _rest(given, arguments),
        "output": "" if action in ("edit", "write", "read") else _output(as_object(first(payload, say.OUTPUT))),
    }


def _output(result: object) -> str:
    """The text in a result; one that came on the standard error alone says so, since it does not tell how it went."""
    told = _told(result)
    if isinstance(result, dict) and result.get("stderr") and not result.get("stdout") and "stdout" in result:
        return f"{ONLY_ERRORS}\n{told}"
    return told


def has_failed(payload: dict[str, object]) -> bool:
    """Whether a payload that says its tool has run also says that it failed."""
    result = first(payload, say.OUTPUT)
    inner = result if isinstance(result, dict) else {}
    return (
        payload.get("success") is False
        or inner.get("is_error") is True
        or inner.get("isError") is True
        or str(inner.get("resultType", "")) in ("failure", "error", "denied")
    )


def first(payload: dict[str, object], names: tuple[str, ...]) -> object:
    """The first of the fields `names` that has a value."""
    for name in names:
        value = payload.get(name)
        if value is not None and value != "":
            return value
    return None


def as_object(value: object) -> object:
    """`value`, parsed where it is the text of a JSON object, as some agents send arguments."""
    if isinstance(value, str) and value.lstrip()[:1] == "{":
        try:
            return json.loads(value, strict=False, parse_constant=str)
        except (ValueError, RecursionError):
            return value
    return value


def as_text(value: object) -> str:
    """A value as text: itself, or its JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return ""


def _joined(command: object) -> str:
    if isinstance(command, list):
        return " ".join(part for part in command if isinstance(part, str))
    return command if isinstance(command, str) else ""


def _files(spread: dict[str, object], payload: dict[str, object], change: str) -> list[str]:
    named = [spread.get(name) for name in say.FILES] + [payload.get("file_path")]
    for name in say.FILE_LISTS:
        listed = spread.get(name)
        named += listed[:_MOST_FILES] if isinstance(listed, list) else []
    if "*** " in change:
        named += [found[1] or found[2] for found in compiled(_PATCHED).finditer(change)]
    return list(dict.fromkeys(name for name in named if isinstance(name, str) and name.strip()))[:_MOST_FILES]


def _change(given: object, arguments: dict[str, object], payload: dict[str, object], action: str) -> str:
    """What an edit put there: the new text, without the old."""
    if action not in ("edit", "write"):
        return ""
    if isinstance(given, str):
        return given
    for name in ("content", "contents", "file_text", "new_string", "newString", "new_str", "new_source", "patch",
                 "input", "diff", "code_edit", "text"):  # fmt: skip
        if isinstance(arguments.get(name), str):
            return str(arguments[name])
    edits = arguments.get("edits", payload.get("edits"))
    if isinstance(edits, list):
        pieces = [edit.get("new_string", edit.get("newText")) for edit in edits if isinstance(edit, dict)]
        return "\n".join(piece for piece in pieces if isinstance(piece, str))
    command = arguments.get("command")
    return _joined(command) if isinstance(command, str | list) else ""


def _rest(given: object, arguments: dict[str, object]) -> str:
    """Arguments that have no place of their own, as JSON."""
    if isinstance(given, str):
        return given
    rest = {
        name: value
        for name, value in arguments.items()
        if name not in say.COMMAND and name not in say.FILES and value not in (None, "", False)
    }
    return as_text(rest) if rest else ""


def _told(result: object, depth: int = 0) -> str:
    """The text in a result, whatever it is wrapped in."""
    if not isinstance(result, dict | list) or depth > _MOST_WRAPPINGS:
        return as_text(result)
    if isinstance(result, list):
        return "\n".join(part for one in result[:100] if (part := _told(one, depth + 1)))
    parts = [_told(result[name], depth + 1) for name in _PARTS if result.get(name)]
    if parts:
        return "\n".join(part for part in parts if part)
    rest = {name: value for name, value in result.items() if name not in _NOT_TOLD and value not in (None, "", False)}
    return as_text(rest) if rest else ""
