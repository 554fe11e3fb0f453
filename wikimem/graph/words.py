"""Facts and paths in words, as in `[concept] JWT auth (provider = jose) --uses--> [library] jose since 2025-09-12`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from wikimem.graph.fold import Fact
from wikimem.graph.vocabulary import PROPERTY, relation_name
from wikimem.graph.walk import Step

LONGEST_REASON: Final = 160
"""Characters of the reasoning that a path repeats."""


class Description(Struct, frozen=True):
    """What an entity is, what it is called, and its properties (name -> value) on the date that was asked about."""

    type: str
    label: str
    properties: Mapping[str, str] = field(default_factory=dict)

    def in_words(self) -> str:
        """`[library] jose`."""
        return f"[{self.type}] {self.label}"


Describe = Callable[[str], Description]


def fact_in_words(fact: Fact, describe: Describe) -> str:
    """One fact, from its subject to its object."""
    edge = fact.edge
    subject = with_properties(describe(edge.subject))
    object_ = describe(edge.object).in_words() if isinstance(edge.object, str) else edge.object.text
    return f"{subject} --{relation_name(edge.predicate)}--> {object_}{_said_of(fact)}"


def path_in_words(path: Sequence[Step], start: str, describe: Describe) -> str:
    """A path from where it starts. An edge that is walked against its direction is written `<--uses--`."""
    words = with_properties(describe(start))
    for step in path:
        name = relation_name(step.fact.edge.predicate)
        arrow = f"--{name}-->" if step.forward else f"<--{name}--"
        words += f" {arrow} {describe(step.end).in_words()}{_said_of(step.fact)}"
    return words


def with_properties(named: Description) -> str:
    """`[concept] JWT auth (provider = jose)`."""
    said = ", ".join(f"{name.removeprefix(PROPERTY)} = {value}" for name, value in named.properties.items())
    return f"{named.in_words()} ({said})" if said else named.in_words()


def validity_in_words(valid_from: str | None, valid_to: str | None) -> str:
    """`since 2025-09-12`, `until 2025`, `from 2025-02-03 until 2025-09-12`; nothing where neither is known."""
    if valid_from and valid_to:
        return f"from {valid_from} until {valid_to}"
    if valid_to:
        return f"until {valid_to}"
    return f"since {valid_from}" if valid_from else ""


def _said_of(fact: Fact) -> str:
    reason = " ".join(fact.reasoning.split())
    if len(reason) > LONGEST_REASON:
        reason = reason[: LONGEST_REASON - 1].rstrip() + "…"
    validity = validity_in_words(fact.valid_from, fact.valid_to)
    return (f" ({reason})" if reason else "") + (f" {validity}" if validity else "")
