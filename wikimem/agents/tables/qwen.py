"""Qwen Code: payloads and answers as Claude Code's."""

from __future__ import annotations

from wikimem.agents.agent import Agent, Meaning

EVENTS: dict[str, Meaning] = {
    "SessionStart": ("session_start", ""),
    "SessionEnd": ("session_end", ""),
    "UserPromptSubmit": ("prompt", ""),
    "PreToolUse": ("tool_start", ""),
    "PostToolUse": ("tool", ""),
    "PostToolUseFailure": ("tool_failed", ""),
    "PermissionRequest": ("permission", ""),
    "PreCompact": ("pre_compact", ""),
    "SubagentStart": ("subagent_start", ""),
    "SubagentStop": ("subagent_end", ""),
    "Stop": ("turn_end", ""),
    "Notification": ("notification", ""),
}

AGENT = Agent("qwen", EVENTS, dialect="specific-object", injects=("SessionStart", "UserPromptSubmit", "PostToolUse"))
