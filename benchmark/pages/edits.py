"""The edits that every tool is asked for, each of one frontmatter key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

Value = str | int | tuple[str, ...]
NEW_KEY: Final = "added"


@dataclass(frozen=True, slots=True)
class KeyEdit:
    """Set a key to `value`, or remove it where that is None."""

    name: str
    value: Value | None
    new_key: bool = False

    def key(self, of_page: str) -> str:
        """The key that the edit is about, on a page whose own key is `of_page`."""
        return NEW_KEY if self.new_key else of_page


EDITS: Final = (
    KeyEdit("text", "new words"),
    KeyEdit("text that needs quotes", "new: [[x]] #y"),
    KeyEdit("lines", "one\ntwo\n"),
    KeyEdit("number", 7),
    KeyEdit("list", ("a", "new, item", "[[C]]")),
    KeyEdit("new key", "fresh", new_key=True),
    KeyEdit("new key with a list", ("p", "q: r"), new_key=True),
    KeyEdit("removal", None),
)
