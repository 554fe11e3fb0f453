"""What an editor shows in a box beside the cursor, as Markdown and as plain text."""

from __future__ import annotations

import re
from typing import Final

from wikimem.model.authoring import Hovered, PageCard
from wikimem.text.oneline import as_code, as_line

_LONGEST: Final = 200


def hover_markdown(hovered: Hovered) -> str:
    """A property's meaning and a page's card. The page's own words stand in a block of code, so that an editor shows
    them and loads no picture that they name."""
    parts = []
    if hovered.property:
        parts.append(f"{as_code(hovered.property, _LONGEST)}: {hovered.meaning}")
    if hovered.card is not None:
        parts += _card(hovered.card)
    return "\n\n".join(parts)


def _card(card: PageCard) -> list[str]:
    facts = "\n".join(f"- {name}: {as_line(value, _LONGEST)}" for name, value in _facts(card))
    parts = [f"**{as_line(card.title, _LONGEST)}**", facts]
    if card.excerpt:
        fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", card.excerpt) or [""]))
        parts.append(f"{fence}markdown\n{card.excerpt}\n{fence}")
    return parts


def hover_text(hovered: Hovered) -> str:
    """The same for an editor that shows no Markdown."""
    lines = [f"{hovered.property}: {hovered.meaning}", ""] if hovered.property else []
    if card := hovered.card:
        lines += [card.title, *(f"{name}: {value}" for name, value in _facts(card))]
        lines += ["", card.excerpt] if card.excerpt else []
    return "\n".join(lines)


def _facts(card: PageCard) -> list[tuple[str, str]]:
    kind = card.type if card.status == "active" else f"{card.type}, {card.status}"
    holds = [f"from {card.valid_from}"] if card.valid_from else []
    holds += [f"until {card.valid_to}"] if card.valid_to else []
    holds += [f"its `ttl` ends on {card.expires}"] if card.expires else []
    sources = [*card.sources, *([f"{card.more_sources} more"] if card.more_sources else [])]
    found = [
        ("type", kind),
        ("project", card.project or ""),
        ("holds", ", ".join(holds)),
        ("replaced by", ", ".join(card.superseded_by)),
        ("confidence", "" if card.confidence is None else f"{card.confidence:g}"),
        ("trust", card.trust),
        ("sources", "; ".join(sources)),
        ("path", card.path),
        ("id", card.id),
    ]
    return [(name, value) for name, value in found if value]
