"""What a tool's run says that is worth keeping: what it did, the command, the files, the change, the outcome.

The whole output of a tool is noise a week later: that of a command is kept, shortened; the text of a file that was
read is not.
"""

from __future__ import annotations

from wikimem.agents import spellings as say
from wikimem.agents.results import as_object, as_text, first, output_of
from wikimem.text.redact_values import compiled

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
_MOST_FILES = 50
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
    """`all` where a command line only runs wikimem, `some` where it also does, or may; else nothing."""
    if "wikimem" not in command:
        return ""
    # Few commands name wikimem, and a hook waits for every import.
    from wikimem.agents.owncommands import share_of

    return share_of(command)


def tool_run(payload: dict[str, object], action: str) -> dict[str, object]:
    """The fields of a tool's run: `command`, `files`, `input` and `output` as far as the payload says them."""
    given = as_object(first(payload, say.INPUT))
    arguments = given if isinstance(given, dict) else {}
    nothing: dict[str, object] = {}
    spread = {**(payload if not arguments else nothing), **arguments}
    command = first(spread, say.COMMAND) or (first(payload, say.COMMAND) if action == "run" else None)
    change = _change(given, arguments, payload, action)
    asked = _asked(arguments, as_object(first(payload, say.OUTPUT))) if action == "ask" else ""
    return {
        "command": _joined(command) if action == "run" or isinstance(command, str) else "",
        "files": _files(spread, payload, change),
        "input": change if action in ("edit", "write") else asked or _rest(given, arguments),
        "output": "" if asked or action in ("edit", "write", "read") else output_of(first(payload, say.OUTPUT), action),
    }


def _asked(arguments: dict[str, object], result: object) -> str:
    """What a person was asked, each question with its answer; empty where the questions are no list of questions."""
    told = result if isinstance(result, dict) else {}
    listed = arguments.get("questions") or told.get("questions")
    questions = [one.get("question") for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    given = told.get("answers") or arguments.get("answers")
    answers = given if isinstance(given, dict) else {}
    lines = [
        f"{question} {_answer(answers.get(question))}".strip() for question in questions if isinstance(question, str)
    ]
    if lines and not answers and not isinstance(result, dict):
        lines.append(as_text(result))
    return "\n".join(line for line in lines if line)


def _answer(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


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
