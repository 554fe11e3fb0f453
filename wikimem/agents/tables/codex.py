"""Codex CLI. It refuses an answer with one unknown key, so nothing is answered but what it asks for."""

from __future__ import annotations

from wikimem.agents.agent import Agent, Meaning

EVENTS: dict[str, Meaning] = {
    "SessionStart": ("session_start", ""),
    "SessionEnd": ("session_end", ""),
    "UserPromptSubmit": ("prompt", ""),
    "PreToolUse": ("tool_start", ""),
    "PostToolUse": ("tool", ""),
    "PermissionRequest": ("permission", ""),
    "PreCompact": ("pre_compact", ""),
    "PostCompact": ("post_compact", ""),
    "SubagentStart": ("subagent_start", ""),
    "SubagentStop": ("subagent_end", ""),
    "Stop": ("turn_end", ""),
    "Interrupt": ("turn_failed", ""),
}

AGENT = Agent(
    "codex",
    EVENTS,
    dialect="specific",
    injects=("SessionStart", "UserPromptSubmit", "SubagentStart", "PostToolUse"),
)
