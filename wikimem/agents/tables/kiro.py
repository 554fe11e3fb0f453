"""Kiro: what a hook prints with exit 0 is given to the model as it is."""

from __future__ import annotations

from wikimem.agents.agent import Agent, Meaning

EVENTS: dict[str, Meaning] = {
    "SessionStart": ("session_start", ""),
    "agentSpawn": ("session_start", ""),
    "UserPromptSubmit": ("prompt", ""),
    "PreToolUse": ("tool_start", ""),
    "PostToolUse": ("tool", ""),
    "Stop": ("turn_end", ""),
    "PreCompact": ("pre_compact", ""),
    "PostCompact": ("post_compact", ""),
    "PostFileSave": ("file", ""),
    "PostFileCreate": ("file", ""),
    "PostFileDelete": ("file", ""),
    "PreTaskExec": ("task_start", ""),
    "PostTaskExec": ("task_end", ""),
}

AGENT = Agent("kiro", EVENTS, dialect="plain", injects=("SessionStart", "agentSpawn", "UserPromptSubmit"))
