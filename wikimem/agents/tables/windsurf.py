"""Windsurf, also called Devin Desktop. Nothing that a hook prints reaches its model."""

from __future__ import annotations

from wikimem.agents.agent import Agent, Meaning

EVENTS: dict[str, Meaning] = {
    "pre_user_prompt": ("prompt", ""),
    "pre_read_code": ("tool_start", "read"),
    "post_read_code": ("tool", "read"),
    "pre_write_code": ("tool_start", "edit"),
    "post_write_code": ("tool", "edit"),
    "pre_run_command": ("tool_start", "shell"),
    "post_run_command": ("tool", "shell"),
    "pre_mcp_tool_use": ("tool_start", "mcp"),
    "post_mcp_tool_use": ("tool", "mcp"),
    "post_cascade_response": ("turn_end", ""),
    "post_cascade_response_with_transcript": ("turn_end", ""),
}

AGENT = Agent("windsurf", EVENTS, dialect="none", bodies=("tool_info",))
