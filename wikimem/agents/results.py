"""What a tool's result says: its text, taken out of whatever an agent wraps it in, and whether the run failed.

Agents that run a command put what it printed and how it went into one text for their model (Gemini CLI, Codex), into
fields of an object, or into the JSON of such an object.
"""

from __future__ import annotations

import json

from wikimem.agents import spellings as say
from wikimem.text.redact_values import compiled
from wikimem.text.terminal import without_sequences
from wikimem.vault.spool import ONLY_ERRORS

_MOST_WRAPPINGS = 8
_PARTS = ("stdout", "stderr", "textResultForLlm", "output", "content", "text", "error", "message", "llmContent")
_NOT_TOLD = frozenset({"originalFile", "oldString", "newString", "structuredPatch", "base64", "data", "image"})
_CODES = ("exit_code", "exitCode", "exit_status", "exitStatus", "returncode", "returnCode")

_HEAD = r"(?:Command|Directory|Output|Stdout|Error|Exit Code): "
_TRAILER = r"(Exit Code|Signal|Background PIDs|Process Group PGID): ?([^\n]*)\Z"
_MOST_TRAILERS = 8
_OUTPUT = r"(?:\A|\n)(?:Output|Stdout): "
_PART = r"(?m)^(Stderr|Error): "
_NOTHING = frozenset({"", "(none)", "(empty)"})
_STOPPED = r"Command (?:was (?:automatically )?cancelled|timed out)\b"
_RAN = (
    r"(?:(?:Chunk ID|Wall time|Total output lines|Original token count|Exit code|Process exited with code)\b[^\n]*\n)+"
    r"Output:\n?"
)
_WRITTEN_ESCAPE = r"(?<!\\)((?:\\\\)*)\\u001b"
_RAN_CODE = r"(?m)^(?:Exit code:|Process exited with code) *(-?\d+)"


class Told:
    """What a result says: `text`, and `failed` (None where the result does not say how the run went)."""

    __slots__ = ("failed", "text")

    def __init__(self, text: str, failed: bool | None = None) -> None:
        self.text = text
        self.failed = failed


def output_of(result: object, action: str) -> str:
    """The text in a result; one that came on the standard error alone says so, since it does not tell how it went."""
    result = as_object(result)
    told = _run_told(result) if action == "run" else Told(_told(result))
    text = told.text
    if isinstance(result, dict) and result.get("stderr") and not result.get("stdout") and "stdout" in result:
        return f"{ONLY_ERRORS}\n{text}"
    code = _code(result) if action == "run" else 0
    return f"Exit code {code}\n{text}".rstrip("\n") if code and told.failed is None else text


def has_failed(payload: dict[str, object], action: str) -> bool:
    """Whether a payload that says its tool has run also says that it failed; `action` is what the tool does."""
    result = as_object(first(payload, say.OUTPUT))
    inner = result if isinstance(result, dict) else {}
    return (
        payload.get("success") is False
        or inner.get("success") is False
        or inner.get("is_error") is True
        or inner.get("isError") is True
        or str(inner.get("resultType", "")) in ("failure", "error", "denied")
        or (action == "run" and bool(_code(inner) or _code(payload) or _run_told(result).failed))
    )


def _run_told(result: object) -> Told:
    """What a command printed, out of the text in which an agent tells its model of the run."""
    text = _told(result)
    for_model = isinstance(result, dict) and "llmContent" in result
    if compiled(_STOPPED).match(text):
        return Told(text, failed=True)
    if compiled(_HEAD).match(text):
        return _labelled(text, is_sure=for_model)
    found = compiled(_RAN).match(text)
    if found is None:
        return Told(text)
    code = compiled(_RAN_CODE).search(found[0])
    return _with_code(text[found.end() :], int(code[1]) if code else None)


def _labelled(text: str, *, is_sure: bool) -> Told:
    """A text of lines such as `Output: …`, `Exit Code: 2`, `Process Group PGID: 7`; as it is where it only looks so."""
    trailer: dict[str, str] = {}
    body = text.rstrip()
    for _ in range(_MOST_TRAILERS):
        cut = body.rfind("\n")
        found = compiled(_TRAILER).match(body, cut + 1)
        if found is None:
            break
        trailer.setdefault(found[1], found[2].strip())
        body = body[: max(cut, 0)].rstrip()
    start = compiled(_OUTPUT).search(body)
    if not trailer and (start is None or not is_sure):
        return Told(text)
    printed = body[start.end() :] if start else body
    kept = _parts(printed) if start else [("", printed)]
    told = "\n".join(f"{'Error: ' if label == 'Error' else ''}{part}" for label, part in kept)
    code = trailer.get("Exit Code", "")
    if code.lstrip("-").isdigit():
        return _with_code(told, int(code))
    killed = trailer.get("Signal", "") not in _NOTHING
    never_ran = bool(kept) and all(label == "Error" for label, _ in kept)
    return Told(told, failed=killed or never_ran)


def _parts(printed: str) -> list[tuple[str, str]]:
    """Output, standard error and error of a run with their labels, without those that are empty."""
    found: list[tuple[str, str]] = []
    label, at = "", 0
    for mark in [*compiled(_PART).finditer(printed), None]:
        part = printed[at : mark.start() if mark else len(printed)].strip("\n")
        if part.strip() not in _NOTHING:
            found.append((label, part))
        if mark is not None:
            label, at = mark[1], mark.end()
    return found


def _with_code(text: str, code: int | None) -> Told:
    if not code:
        return Told(text, failed=None if code is None else False)
    return Told(f"Exit code {code}\n{text}".rstrip("\n"), failed=True)


def _code(result: object) -> int:
    """The exit code that an object names, itself or in its `metadata`; 0 where it names none."""
    if not isinstance(result, dict):
        return 0
    metadata = result.get("metadata")
    for fields in (result, metadata if isinstance(metadata, dict) else {}):
        for name in _CODES:
            code = fields.get(name)
            if isinstance(code, int) and not isinstance(code, bool):
                return code
    return 0


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
    """A value as text, without colours: itself, or its JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return without_sequences(value)
    try:
        written = json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return ""
    if "\\u001b" in written:
        written = without_sequences(compiled(_WRITTEN_ESCAPE).sub("\\1\x1b", written))
    return written
