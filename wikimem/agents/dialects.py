"""How each agent takes an answer from a hook: text for its model, or nothing to say.

An agent that reads standard output as JSON gets valid JSON and no key that it might refuse. wikimem never allows,
denies or blocks anything.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from wikimem.agents.agent import Agent

MOST_CHARACTERS = 8000
"""What agents pass on whole: above 10,000 characters some show the model only the beginning."""

Writer = Callable[[str, str | None], str]
"""Writes the answer to the event of that name; None is an answer without text for the model."""


def answer_for(agent: Agent, event: str, text: str | None) -> str:
    """What to print in answer to an event; `text` reaches the model where this agent takes it at this event."""
    name = agent.event_named(event) or event
    return WRITERS[agent.dialect](name, text[:MOST_CHARACTERS] if text and name in agent.injects else None)


def takes_text(agent: Agent, event: str) -> bool:
    """Whether text that answers this event reaches the model."""
    return agent.event_named(event) in agent.injects


def _specific(event: str, text: str | None) -> str:
    if text is None:
        return ""
    return _json({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})


def _specific_object(event: str, text: str | None) -> str:
    return _specific(event, text) or "{}"


def _additional(_event: str, text: str | None) -> str:
    return "{}" if text is None else _json({"additional_context": text})


def _context_only(_event: str, text: str | None) -> str:
    return "" if text is None else _json({"additionalContext": text})


def _context(_event: str, text: str | None) -> str:
    return "" if text is None else _json({"context": text})


def _modification(_event: str, text: str | None) -> str:
    return _json({"cancel": False, "contextModification": text or "", "errorMessage": ""})


def _plain(_event: str, text: str | None) -> str:
    return text or ""


def _none(_event: str, _text: str | None) -> str:
    return ""


def _json(answer: dict[str, object]) -> str:
    return json.dumps(answer, ensure_ascii=True, separators=(",", ":"))


WRITERS: dict[str, Writer] = {
    "specific": _specific,
    "specific-object": _specific_object,
    "additional": _additional,
    "context-only": _context_only,
    "context": _context,
    "modification": _modification,
    "plain": _plain,
    "none": _none,
}
"""The dialects by name: what an agent's table says under `dialect`."""
