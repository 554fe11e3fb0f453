"""What a title, a tag or a text of a memory may be."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from wikimem.errors import Invalid

MOST_OF_A_TITLE: Final = 300

_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
"""Control characters other than tab and line breaks: no editor shows them, and a terminal obeys them."""


def checked_title(title: str) -> str:
    """The title on one line, composed (NFC). Raises Invalid for one that is empty, too long or holds control marks."""
    title = unicodedata.normalize("NFC", " ".join(title.split()))
    if not title:
        raise Invalid("title: a memory needs a title", hint="Say in one line what is true, for example a decision.")
    if any(unicodedata.category(char) in ("Cc", "Cs") for char in title):
        raise Invalid("title: control characters are not allowed", hint="Use plain text.")
    if len(title) > MOST_OF_A_TITLE:
        raise Invalid(
            f"title: {len(title)} characters are too many",
            hint=f"Keep it under {MOST_OF_A_TITLE}; details go in the text.",
        )
    return title


def checked_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags without `#`, each once. Raises Invalid for one that Obsidian could not hold: with white space or commas."""
    clean = tuple(dict.fromkeys(tag.strip().lstrip("#") for tag in tags if tag.strip().lstrip("#")))
    for tag in clean:
        if any(char.isspace() or char in ",#" or unicodedata.category(char) == "Cc" for char in tag):
            raise Invalid(f"tags: {tag!r} is no tag", hint="A tag is one word; join words with - or /.")
    return clean


def check_text(text: str) -> None:
    """Raises Invalid for control characters, naming the first one and its line."""
    found = _CONTROL.search(text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        raise Invalid(
            f"text: control character U+{ord(found[0]):04X} in line {line}", hint="Write plain text without it."
        )
