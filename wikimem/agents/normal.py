"""An agent's payload in the form that all agents share: the document of `wikimem.model.event.Event`, unredacted.

    document = normalised("claude", "PostToolUse", payload, environment)

None where the event is not to be captured. Values are as the payload has them, at their full length.
"""

from __future__ import annotations

from collections.abc import Mapping

from wikimem.agents import spellings as say
from wikimem.agents.agent import Agent, Meaning, agent_named, squash
from wikimem.agents.results import as_text, first, has_failed
from wikimem.agents.tools import action_of, is_own_tool, own_share, tool_run

TOOL_KINDS = frozenset({"tool_start", "tool", "tool_failed"})
NOT_CAPTURED = frozenset({"fragment"})

_USUAL_SOURCES = frozenset({"startup", "new", "user"})
_PROMPTED = frozenset({"prompt", "expansion"})
_SPEAKING = frozenset(
    {
        "turn_end", "turn_failed", "response", "notification", "question", "subagent_start", "subagent_end",
        "task_start", "task_end", "post_compact", "other",
    }
)  # fmt: skip
_MOST_EXTRAS = 20
_EXTRA_CHARACTERS = 300
_NAME_CHARACTERS = 60


def normalised(
    agent: str, event: str, payload: dict[str, object], environment: Mapping[str, str]
) -> dict[str, object] | None:
    """The document of the event that `agent` reports as `event` with `payload`."""
    table = agent_named(agent)
    fields = _flat(payload, table)
    name, (kind, implied) = _meaning(table, event, fields)
    if kind in NOT_CAPTURED:
        return None
    document: dict[str, object] = {
        "kind": kind,
        "agent": table.name if table else plain_name(agent),
        "event": name,
        "session": _text(fields, say.SESSION) or _variable(environment, say.SESSION_VARIABLES),
        "cwd": _cwd(fields, environment),
        "turn": _text(fields, say.TURN),
        "stamp": _text(fields, say.STAMP),
        "source": _source(fields),
        "reason": _text(fields, say.REASON),
        "title": _text(fields, say.TITLE),
        "subagent": _text(fields, say.SUBAGENT),
        "subagent_type": _text(fields, say.SUBAGENT_TYPE),
        "model": _model(fields),
        "transcript": _text(fields, say.TRANSCRIPT),
        "error": as_text(first(fields, say.ERROR)),
    }
    if kind in _PROMPTED:
        document["prompt"] = _text(fields, say.PROMPT)
    elif kind in TOOL_KINDS:
        if not _add_tool(document, fields, implied):
            return None
    elif kind in _SPEAKING:
        document["text"] = _text(fields, say.TEXT)
    elif kind == "file":
        document["files"] = tool_run(fields, "")["files"]
    document["extra"] = _extras(fields)
    return document


def plain_name(name: str) -> str:
    """A name from outside as one that is safe in a file name and a log."""
    kept = "".join(char if char.isascii() and (char.isalnum() or char in "-_.") else "-" for char in name)
    return kept[:_NAME_CHARACTERS].strip("-.") or "unknown"


def _flat(payload: dict[str, object], table: Agent | None) -> dict[str, object]:
    """The payload with the fields of its bodies beside its own, which win."""
    fields = dict(payload)
    for name in table.bodies if table else ():
        body = fields.pop(name, None)
        if isinstance(body, dict):
            fields.update({inner: value for inner, value in body.items() if fields.get(inner) is None})
    return fields


def _meaning(table: Agent | None, event: str, fields: dict[str, object]) -> tuple[str, Meaning]:
    spellings = [event, *(value for name in say.EVENT if isinstance(value := fields.get(name), str))]
    if table is not None:
        known = table.event_named(*spellings)
        if known is not None:
            return known, table.events[known]
    from wikimem.agents.tables.claude import AGENT as MOST_COPIED

    known = MOST_COPIED.event_named(*spellings)
    if known is not None:
        return plain_name(event), MOST_COPIED.events[known]
    return plain_name(event), ("other", "")


def _add_tool(document: dict[str, object], fields: dict[str, object], implied: str) -> bool:
    """Add what a tool's run says; False where the tool is wikimem's own."""
    tool = _text(fields, say.TOOL) or implied
    action = action_of(tool) or action_of(implied)
    server = _text(fields, say.SERVER)
    if implied == "mcp":
        action = "mcp"
        server += " " + as_text(first(fields, say.COMMAND))
    if is_own_tool(tool if action != "mcp" else f"mcp_{tool}", server):
        return False
    run = tool_run(fields, action)
    share = own_share(str(run["command"]))
    if share == "all":
        return False
    if share == "some":
        run["output"] = ""
    if document["kind"] == "tool" and has_failed(fields, action):
        document["kind"] = "tool_failed"
    if document["kind"] == "tool_start":
        run["output"] = ""
    document.update(tool=tool, action=action, call=_text(fields, say.CALL), **run)
    return True


def _text(fields: dict[str, object], names: tuple[str, ...]) -> str:
    """The first of the fields that is a text or a number."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
    return ""


def _cwd(fields: dict[str, object], environment: Mapping[str, str]) -> str:
    named = _text(fields, say.CWD)
    if named:
        return named
    for name in say.ROOTS:
        roots = fields.get(name)
        if isinstance(roots, list) and roots and isinstance(roots[0], str):
            return roots[0]
    return _variable(environment, say.PROJECT_VARIABLES)


def _variable(environment: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((value for name in names if (value := environment.get(name))), "")


def _source(fields: dict[str, object]) -> str:
    said = _text(fields, say.SOURCE)
    return "" if said in _USUAL_SOURCES else said


def _model(fields: dict[str, object]) -> str:
    model = fields.get("model")
    return _text(model, ("slug", "id", "name")) if isinstance(model, dict) else _text(fields, say.MODEL)


def _extras(fields: dict[str, object]) -> dict[str, object]:
    """Plain values that have no place of their own, in the payload's order."""
    kept: dict[str, object] = {}
    for name, value in fields.items():
        if name in say.LEFT_OUT or squash(name) == "" or len(kept) >= _MOST_EXTRAS or len(name) > _NAME_CHARACTERS:
            continue
        if isinstance(value, bool | int | float) or (isinstance(value, str) and 0 < len(value) <= _EXTRA_CHARACTERS):
            kept[name] = value
    return kept
