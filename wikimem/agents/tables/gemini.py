"""Gemini CLI. What it reads from a hook has to be JSON, so the answer to everything else is an empty object."""

from __future__ import annotations

from wikimem.agents.agent import Agent, Meaning

EVENTS: dict[str, Meaning] = {
    "SessionStart": ("session_start", ""),
    "SessionEnd": ("session_end", ""),
    "BeforeAgent": ("prompt", ""),
    "AfterAgent": ("turn_end", ""),
    "BeforeTool": ("tool_start", ""),
    "AfterTool": ("tool", ""),
    "BeforeModel": ("fragment", ""),
    "AfterModel": ("fragment", ""),
    "BeforeToolSelection": ("fragment", ""),
    "PreCompress": ("pre_compact", ""),
    "Notification": ("notification", ""),
}

AGENT = Agent("gemini", EVENTS, dialect="specific-object", injects=("SessionStart", "BeforeAgent", "AfterTool"))
