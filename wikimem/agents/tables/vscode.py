"""GitHub Copilot in VS Code."""

from __future__ import annotations

from wikimem.agents.agent import Agent, Meaning

EVENTS: dict[str, Meaning] = {
    "SessionStart": ("session_start", ""),
    "UserPromptSubmit": ("prompt", ""),
    "PreToolUse": ("tool_start", ""),
    "PostToolUse": ("tool", ""),
    "PreCompact": ("pre_compact", ""),
    "SubagentStart": ("subagent_start", ""),
    "SubagentStop": ("subagent_end", ""),
    "Stop": ("turn_end", ""),
}

AGENT = Agent("vscode", EVENTS, dialect="specific", injects=("SessionStart", "SubagentStart", "PostToolUse"))
