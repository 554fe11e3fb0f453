"""What wikimem can do. The list lies in `every` and is loaded when it is asked for: a hook, for one, never does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wikimem.operations.every import OPERATIONS, PLANNED

CORE: tuple[str, ...] = ("search", "context", "read", "remember", "edit", "graph", "log", "forget")
"""What MCP offers unless it is asked for all."""

__all__ = ["CORE", "OPERATIONS", "PLANNED"]


def __getattr__(name: str) -> Any:
    if name not in ("OPERATIONS", "PLANNED"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import wikimem.operations.every as every

    return getattr(every, name)
