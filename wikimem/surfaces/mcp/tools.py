"""Tools: an operation's definition as MCP describes it, and a call as the operation takes it."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Mapping
from typing import Any, Final

import mcp_types as types

from wikimem.errors import Invalid, WikimemError
from wikimem.model.caller import Progress
from wikimem.operations import CORE, OPERATIONS, PLANNED
from wikimem.operations.planned import answer_unavailable
from wikimem.operations.registry import Operation
from wikimem.present.failure import bug_document, error_document
from wikimem.present.recalled import recalled
from wikimem.present.text import text
from wikimem.surfaces.mcp.desk import Desk

log = logging.getLogger(__name__)

BY_NAME: Final[dict[str, Operation]] = {operation.name: operation for operation in OPERATIONS}
_OBJECT: Final[dict[str, Any]] = {"type": "object"}


def offered(*, every_tool: bool) -> tuple[str, ...]:
    """The names of the tools, always in the same order: a host's prompt cache depends on it."""
    return tuple(dict.fromkeys([*CORE, *BY_NAME, *PLANNED])) if every_tool else CORE


def describe(name: str) -> types.Tool:
    """A tool as `tools/list` shows it."""
    operation = BY_NAME.get(name)
    if operation is None:
        return types.Tool(
            name=name,
            description=f"Not built yet: answers that it is unavailable. Will be: {PLANNED[name]}",
            input_schema=dict(_OBJECT),
            annotations=_annotations("read", idempotent=True),
        )
    return types.Tool(
        name=name,
        description=operation.description,
        input_schema=operation.input_schema(door="mcp"),
        output_schema=operation.output_schema(),
        annotations=_annotations(operation.effect, idempotent=operation.idempotent),
    )


def _annotations(effect: str, *, idempotent: bool) -> types.ToolAnnotations:
    return types.ToolAnnotations(
        read_only_hint=effect == "read",
        destructive_hint=effect == "destroy",
        idempotent_hint=idempotent,
        open_world_hint=False,
    )


GIVES_PAGE_TEXT: Final = ("search", "read", "list", "links", "check")
"""Tools whose answer holds what somebody wrote on a page; `context` fences its own."""


async def call(
    desk: Desk, name: str, arguments: Mapping[str, Any], *, agent: str, progress: Progress | None = None
) -> types.CallToolResult:
    """Run a tool. What goes wrong comes back as a result that the model can read and act on.

    A good result's content is one block, the text form; the JSON form is the structured content. Repeating the JSON
    as a second block, as the specification suggests for old hosts, would cost a model two to three times the tokens
    for nothing that the text form does not say.
    """
    try:
        operation = BY_NAME.get(name)
        if operation is None:
            answer_unavailable(name)
        _refuse_hidden(operation, arguments)
        return await desk.run(
            lambda wiki: _answer(operation, operation.run(wiki, arguments)), agent=agent, progress=progress
        )
    except WikimemError as error:
        return _failed(error_document(error, desk.mask))
    except Exception as error:  # noqa: BLE001 - the last translator: the server goes on after a bug in one tool
        log.error("the tool %s failed\n%s", name, desk.mask(traceback.format_exc()))
        return _failed(bug_document(error, "This is a bug in wikimem; report it.", desk.mask))


def _refuse_hidden(operation: Operation, arguments: Mapping[str, Any]) -> None:
    """A parameter that this door does not offer is as unknown as any other here."""
    for param in operation.params:
        if param.arg.only not in (None, "mcp") and param.name in arguments:
            raise Invalid(
                f"{operation.name}: unknown parameter `{param.name}`",
                hint="See the tool's input schema for its parameters.",
            )


def _answer(operation: Operation, result: Any) -> types.CallToolResult:
    notes = "".join(f"\nnote: {note}" for note in result.notes)
    said = recalled(text(result)) if operation.name in GIVES_PAGE_TEXT else text(result)
    return types.CallToolResult(
        content=[types.TextContent(text=encodable(said + notes))],
        structured_content=json.loads(encodable(json.dumps(operation.render(result), ensure_ascii=False))),
    )


def _failed(document: Mapping[str, Any]) -> types.CallToolResult:
    """An error as a result: its words, then the same as JSON with the data that a caller can act on.

    The JSON is a text block: structured content would have to satisfy the tool's output schema.
    """
    words = "\n".join(filter(None, [document["error"]["message"], document["error"]["hint"]]))
    return types.CallToolResult(
        content=[
            types.TextContent(text=encodable(words)),
            types.TextContent(text=encodable(json.dumps(document, ensure_ascii=False))),
        ],
        is_error=True,
    )


def encodable(said: str) -> str:
    """The text with what cannot be sent as UTF-8 (bytes of a file name that are no text) replaced."""
    return said.encode("utf-8", "replace").decode("utf-8")
