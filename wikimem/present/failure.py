"""Errors as machines read them: the same document at every door."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from wikimem.errors import WikimemError

Mask = Callable[[str], str]


def error_document(error: WikimemError, mask: Mask = str) -> dict[str, Any]:
    """`{"error": {...}}` with kind, message and hint, and the error's own data beside them; no text unmasked."""
    said = {"kind": error.kind, "message": mask(error.message), "hint": mask(error.hint)}
    return {"error": {**_masked(error.data, mask), **said}}


def bug_document(error: BaseException, hint: str, mask: Mask = str) -> dict[str, Any]:
    """The same for an error that wikimem did not foresee."""
    return {"error": {"kind": "bug", "message": mask(bug_message(error)), "hint": hint}}


def bug_message(error: BaseException) -> str:
    """What a traceback's last line says."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _masked(value: Any, mask: Mask) -> Any:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, Mapping):
        return {str(key): _masked(item, mask) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(item, mask) for item in value]
    return value if isinstance(value, int | float) or value is None else mask(str(value))
