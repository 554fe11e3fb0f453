"""GitHub Copilot CLI."""

from __future__ import annotations

from wikimem.agents.agent import Agent, Meaning

EVENTS: dict[str, Meaning] = {
    "sessionStart": ("session_start", ""),
    "sessionEnd": ("session_end", ""),
    "userPromptSubmitted": ("prompt", ""),
    "userPromptSubmit": ("prompt", ""),
    "userPromptTransformed": ("expansion", ""),
    "preToolUse": ("tool_start", ""),
    "preMcpToolCall": ("tool_start", "mcp"),
    "postToolUse": ("tool", ""),
    "postToolUseFailure": ("tool_failed", ""),
    "permissionRequest": ("permission", ""),
    "agentStop": ("turn_end", ""),
    "stop": ("turn_end", ""),
    "subagentStart": ("subagent_start", ""),
    "subagentStop": ("subagent_end", ""),
    "errorOccurred": ("turn_failed", ""),
    "preCompact": ("pre_compact", ""),
    "notification": ("notification", ""),
}

AGENT = Agent(
    "copilot-cli",
    EVENTS,
    dialect="context-only",
    injects=("sessionStart", "subagentStart", "postToolUse", "notification"),
)
