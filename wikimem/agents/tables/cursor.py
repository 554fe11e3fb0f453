"""Cursor. It wants an object on standard output whatever happens; permissions are never ours to give."""

from __future__ import annotations

from wikimem.agents.agent import Agent, Meaning

EVENTS: dict[str, Meaning] = {
    "sessionStart": ("session_start", ""),
    "sessionEnd": ("session_end", ""),
    "beforeSubmitPrompt": ("prompt", ""),
    "preToolUse": ("tool_start", ""),
    "postToolUse": ("tool", ""),
    "postToolUseFailure": ("tool_failed", ""),
    "beforeShellExecution": ("tool_start", "shell"),
    "afterShellExecution": ("tool", "shell"),
    "beforeMCPExecution": ("tool_start", "mcp"),
    "afterMCPExecution": ("tool", "mcp"),
    "beforeReadFile": ("tool_start", "read"),
    "afterFileEdit": ("tool", "edit"),
    "beforeTabFileRead": ("tool_start", "read"),
    "afterTabFileEdit": ("tool", "edit"),
    "afterAgentResponse": ("response", ""),
    "afterAgentThought": ("fragment", ""),
    "subagentStart": ("subagent_start", ""),
    "subagentStop": ("subagent_end", ""),
    "preCompact": ("pre_compact", ""),
    "stop": ("turn_end", ""),
    "workspaceOpen": ("place", ""),
}

AGENT = Agent("cursor", EVENTS, dialect="additional", injects=("sessionStart", "postToolUse"))
