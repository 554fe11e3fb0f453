"""Hermes Agent."""

from __future__ import annotations

from wikimem.agents.agent import Agent, Meaning

EVENTS: dict[str, Meaning] = {
    "on_session_start": ("session_start", ""),
    "on_session_end": ("session_end", ""),
    "pre_llm_call": ("prompt", ""),
    "post_llm_call": ("turn_end", ""),
    "pre_tool_call": ("tool_start", ""),
    "post_tool_call": ("tool", ""),
    "pre_verify": ("permission", ""),
    "subagent_start": ("subagent_start", ""),
    "subagent_stop": ("subagent_end", ""),
}

AGENT = Agent("hermes", EVENTS, dialect="context", injects=("pre_llm_call",), bodies=("extra",))
