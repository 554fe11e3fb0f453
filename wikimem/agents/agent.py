"""What wikimem knows of one agent, and where the table of each lies.

No dataclass and nothing of `typing` here: both would cost every hook more than its own work does.
"""

from __future__ import annotations

from collections.abc import Mapping

Meaning = tuple[str, str]
"""What an event is: its kind (`wikimem.model.event.KINDS`), and the tool that it implies, or nothing."""


class Agent:
    """One agent's table.

    `events` maps the agent's own event names to what they are; `bodies` are the keys of objects in the payload whose
    fields count as fields of the payload; `dialect` names how an answer is written (`wikimem.agents.dialects`);
    `injects` are the events whose answer reaches the model.
    """

    __slots__ = ("bodies", "dialect", "events", "injects", "name", "squashed")

    def __init__(
        self,
        name: str,
        events: Mapping[str, Meaning],
        *,
        dialect: str,
        injects: tuple[str, ...] = (),
        bodies: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.events = events
        self.dialect = dialect
        self.injects = frozenset(injects)
        self.bodies = bodies
        self.squashed = {squash(event): event for event in events}

    @property
    def wants_answer(self) -> bool:
        """Whether this agent wants something on standard output even where there is nothing to say."""
        return self.dialect in ("specific-object", "additional", "modification")

    def event_named(self, *spellings: str) -> str | None:
        """The agent's own name for the first of `spellings` that it knows, however it is written."""
        for spelling in spellings:
            known = self.squashed.get(squash(spelling))
            if known is not None:
                return known
        return None


MODULES: dict[str, str] = {
    "claude": "claude",
    "claude-code": "claude",
    "codex": "codex",
    "gemini": "gemini",
    "gemini-cli": "gemini",
    "cursor": "cursor",
    "windsurf": "windsurf",
    "cline": "cline",
    "goose": "goose",
    "vscode": "vscode",
    "copilot": "copilot",
    "copilot-cli": "copilot",
    "kiro": "kiro",
    "qwen": "qwen",
    "hermes": "hermes",
    "opencode": "opencode",
}
"""The names that `wikimem hook` takes, and the module of `wikimem.agents.tables` that describes each agent."""


def squash(name: str) -> str:
    """An event's name without case and separators: `post_tool_use`, `postToolUse` and `PostToolUse` are one."""
    return name.replace("_", "").replace("-", "").replace(".", "").lower()


def agent_named(name: str) -> Agent | None:
    """The table of an agent, or None where wikimem has none."""
    module = MODULES.get(name.lower())
    if module is None:
        return None
    # `importlib` itself would have to be loaded for its function.
    found: Agent = __import__(f"wikimem.agents.tables.{module}", fromlist=["AGENT"]).AGENT
    return found
