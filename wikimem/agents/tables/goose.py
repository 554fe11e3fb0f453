"""Goose. Nothing that a hook prints reaches its model."""

from __future__ import annotations

from wikimem.agents.agent import Agent, Meaning

EVENTS: dict[str, Meaning] = {
    "SessionStart": ("session_start", ""),
    "SessionEnd": ("session_end", ""),
    "UserPromptSubmit": ("prompt", ""),
    "PreToolUse": ("tool_start", ""),
    "PreToolUseResult": ("permission", ""),
    "PostToolUse": ("tool", ""),
    "PostToolUseFailure": ("tool_failed", ""),
    "BeforeReadFile": ("tool_start", "read"),
    "AfterFileEdit": ("tool", "edit"),
    "BeforeShellExecution": ("tool_start", "shell"),
    "AfterShellExecution": ("tool", "shell"),
    "Stop": ("turn_end", ""),
}

AGENT = Agent("goose", EVENTS, dialect="none")
