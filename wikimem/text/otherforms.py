"""Properties in a form that wikimem does not read, at the beginning of a page that has no frontmatter by its reading.

Other programs read them: Hugo TOML and JSON, and Obsidian, Jekyll and Hugo an empty block where wikimem sees headings
between two rules. A block in front would make body of all that.
"""

from __future__ import annotations

import json
import re
from typing import Final

from wikimem.errors import Refused
from wikimem.text.yamlblock import BREAK, find_fences

_TOML: Final = re.compile(
    r"\ufeff?\+\+\+[ \t]*(?:\r\n|\n|\r)(?:.*?(?:\r\n|\n|\r))??\+\+\+[ \t]*(?=[\r\n]|\Z)", re.DOTALL
)
_JSON: Final = re.compile(r"\ufeff?(?=\{\s*[\"}])")


def refuse_other_forms(text: str, place: str) -> None:
    """Raises Refused where a block of frontmatter in front of `text` would hide what another program reads there.

    `text` has no frontmatter that wikimem reads; `place` begins the message.
    """
    if _TOML.match(text):
        raise Refused(f"{place}: the frontmatter is TOML (`+++`)", hint="Change it in an editor.")
    if _is_json(text):
        raise Refused(f"{place}: the page begins with properties in JSON", hint="Change them in an editor.")
    fences = find_fences(text)
    if fences is None:
        return
    lines = BREAK.split(text[fences.start : fences.end])
    if all(line.startswith("#") or not line.strip() for line in lines):
        raise Refused(
            f"{place}: nothing but lines with # stand between the first two `---`, "
            "which other programs read as frontmatter without properties",
            hint="Write a property between them in an editor, or put something in front of the first `---`.",
        )


def _is_json(text: str) -> bool:
    opening = _JSON.match(text)
    if opening is None:
        return False
    try:
        value, _ = json.JSONDecoder().raw_decode(text, opening.end())
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict)
