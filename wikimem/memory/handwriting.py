"""What a commit of people's edits says: a subject that names the pages, a line on each page, and the trailers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

EDITED: Final = "edit"
CREATED: Final = "create"
DELETED: Final = "delete"
_RENAME: Final = "rename"
_KINDS: Final = (EDITED, CREATED, _RENAME, DELETED)

MOST_NAMES: Final = 3
_MOST_OF_A_TITLE: Final = 60


class PageEdit(Struct, frozen=True):
    """What was done to one page. `paths` are those that the commit changes: both of a renamed page, the old one first.

    `kind` is EDITED, CREATED, DELETED, or what `renamed` gives.
    """

    kind: str
    title: str
    id: str
    paths: tuple[str, ...]


def renamed(old_title: str) -> str:
    """The kind of an edit that gave another place or name to the page that was called `old_title`."""
    return f"{_RENAME} {old_title}"


def message_of(edits: Sequence[PageEdit], mask: Callable[[str], str]) -> str:
    """The whole commit message; `mask` is applied to all of it."""
    parts = [part for kind in _KINDS if (part := _part(kind, [each for each in edits if _verb(each) == kind]))]
    lines = [f"{_verb(each)}: {' -> '.join(each.paths)}" for each in edits]
    trailers = ["Wikimem-Op: edit", *(f"Wikimem-Page: {each.id}" for each in edits if each.id)]
    body = "\n".join(" ".join(line.split()) for line in lines)
    return mask(f"{'; '.join(parts)}\n\n{body}\n\n" + "\n".join(trailers) + "\n")


def _part(kind: str, edits: Sequence[PageEdit]) -> str:
    if not edits:
        return ""
    names = [_name(each) for each in edits[:MOST_NAMES]]
    rest = len(edits) - len(names)
    return f"{kind}: {', '.join(names)}{f' and {rest} more' if rest else ''}"


def _name(edit: PageEdit) -> str:
    if _verb(edit) != _RENAME:
        return _short(edit.title)
    old = edit.kind.removeprefix(_RENAME).strip()
    if old != edit.title:
        return f"{_short(old)} to {_short(edit.title)}"
    return f"{_short(edit.title)} ({_short(edit.paths[0])} to {_short(edit.paths[1])})"


def _verb(edit: PageEdit) -> str:
    return edit.kind.partition(" ")[0]


def _short(text: str) -> str:
    plain = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return plain if len(plain) <= _MOST_OF_A_TITLE else plain[: _MOST_OF_A_TITLE - 1] + "…"
