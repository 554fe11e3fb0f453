"""OpenCode: its plugin passes on the events of its bus; what is printed at `system` joins the system prompt."""

from __future__ import annotations

from wikimem.agents.agent import Agent, Meaning

EVENTS: dict[str, Meaning] = {
    "session.created": ("session_start", ""),
    "session.deleted": ("session_end", ""),
    "session.idle": ("turn_end", ""),
    "session.error": ("turn_failed", ""),
    "session.compacted": ("post_compact", ""),
    "chat.message": ("prompt", ""),
    "tool.execute.before": ("tool_start", ""),
    "tool.execute.after": ("tool", ""),
    "file.edited": ("file", ""),
    "permission.updated": ("permission", ""),
    "system": ("setting", ""),
}

AGENT = Agent("opencode", EVENTS, dialect="plain", injects=("system",), bodies=("event", "properties", "info"))
