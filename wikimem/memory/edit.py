"""edit: change one part of a page and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from wikimem.errors import Invalid, Refused, StaleRevision
from wikimem.memory.wording import check_text, checked_tags, checked_title
from wikimem.model.page import MEMORY_TYPES, STATUSES, TRUST_ORDER, Page, PropertyValue
from wikimem.text.dates import parse_duration, parse_iso
from wikimem.text.frontmatter import set_properties
from wikimem.text.ids import revision_of
from wikimem.text.page import append_text, edit_section, parse_page, replace_body, replace_text

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

Mode = Literal["replace", "append", "prepend"]

LIST_KEYS: Final = ("tags", "aliases", "sources", "supersedes", "superseded_by", "remotes")
_KEY: Final = re.compile(r"[^\W\d][\w .-]{0,79}")
FIXED_KEYS: Final = ("id", "created", "trust")
"""Who said it first, when, and which page it is: never changed by an edit."""
RAISING_KEYS: Final = ("pinned", "importance")
"""What puts a page before others: set by people only, or an agent could pin itself in front of every context."""
GUARDED_KEYS: Final = ("status", "valid_from", "valid_to", "supersedes", "superseded_by", "confidence", "ttl",
                       "importance", "pinned", "type")  # fmt: skip
"""What closes, replaces or raises a page: an agent cannot set these on a page that a person stated."""


class Edit(Struct, frozen=True):
    """One change. Exactly one of `set`, `replace`, `section` with `text`, or `text` alone."""

    set: Sequence[str] = ()
    replace: Sequence[str] = ()
    section: str | None = None
    text: str | None = None
    mode: Mode = "replace"
    base: str | None = None


class Edited(Struct, frozen=True):
    path: str
    id: str
    commit: str | None
    revision: str


def edit(wiki: Wiki, address: str, change: Edit) -> Edited:
    """Apply `change` to the page at `address`. An edit that changes nothing makes no commit.

    Raises StaleRevision, with the current revision and text, where `base` is not what is on disk.
    """
    apply = _planned(change)
    row = wiki.find_to_write(address)
    with wiki.transaction("edit") as draft:
        data = draft.read(row.path)
        page = parse_page(row.path, data)
        _check_base(wiki, page, change)
        _check_trust(wiki, page, change)
        _check_validity(page, change)
        after = apply(data, row.path)
        draft.put(row.path, after)
        draft.subject = f"edit: {page.title} ({_worded(change)})"
        draft.pages = [row.id]
    commit = draft.committed.commit if draft.committed else None
    return Edited(row.path, row.id, commit, revision_of(after))


def _planned(change: Edit) -> Callable[[bytes, str], bytes]:
    given = [bool(change.set), bool(change.replace), change.text is not None]
    if sum(given) != 1 or (change.section is not None and change.text is None):
        raise Invalid(
            "an edit is one of: set, replace, section with text, or text",
            hint="Give `set` (such as confidence=0.9), `replace` (old words and new), `section` and `text`, or `text`.",
        )
    if change.set:
        changes, removed = parse_assignments(change.set)
        return lambda data, path: set_properties(data, changes, remove=removed, path=path)
    for text in (*change.replace[1:], change.text or ""):
        check_text(text)
    if change.replace:
        if len(change.replace) != 2 or not change.replace[0]:
            raise Invalid("replace: takes the old text and the new one", hint="The old text must not be empty.")
        old, new = change.replace
        return lambda data, path: replace_text(data, old, new, path=path)
    text = change.text or ""
    if change.section is not None:
        heading, mode = change.section, change.mode
        return lambda data, path: edit_section(data, heading, text, mode, path=path)
    if change.mode == "append":
        return lambda data, path: append_text(data, text, path=path)
    if change.mode == "prepend":
        raise Invalid("mode: prepend needs a section", hint="Name the section that the text begins.")
    if change.base is None:
        raise Invalid(
            "text: replacing a whole page needs the revision that you read",
            hint="Give the `revision` that `read` answered as `base`, or use the mode append.",
        )
    return lambda data, path: replace_body(data, text, path=path)


def parse_assignments(assignments: Sequence[str]) -> tuple[dict[str, PropertyValue | bool | float | int], list[str]]:
    """`KEY=VALUE` texts as typed property changes, and the keys to remove (`KEY=`). Raises Invalid."""
    changes: dict[str, PropertyValue | bool | float | int] = {}
    removed: list[str] = []
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        key = key.strip()
        if not equals or not _KEY.fullmatch(key):
            raise Invalid(f"set: '{assignment}' is not KEY=VALUE", hint="For example --set confidence=0.9.")
        if key in changes or key in removed:
            raise Invalid(f"set: '{key}' is given twice", hint="Give it once.")
        if key.casefold() in FIXED_KEYS:
            raise Refused(f"set: '{key}' is never changed by an edit", hint="Make a new page that supersedes this one.")
        if not value:
            removed.append(key)
        else:
            changes[key] = _typed(key, value)
    return changes, removed


def _typed(key: str, value: str) -> PropertyValue | bool | float | int:
    """The value as the schema has it; a key that wikimem does not know stays text. Raises Invalid."""
    if key in LIST_KEYS:
        return _list_of(key, value)
    if key in ("confidence", "importance"):
        return _share_of(key, value)
    if key == "pinned":
        if value.lower() not in ("true", "false"):
            raise Invalid(f"set: pinned is true or false, not '{value}'")
        return value.lower() == "true"
    if key == "title":
        return checked_title(value)
    if key in ("valid_from", "valid_to", "confirmed") and parse_iso(value) is None:
        raise Invalid(f"set: {key} is a date such as 2025-09-12, not '{value}'")
    if key == "ttl":
        parse_duration(value, "set: ttl")
    allowed = {"status": STATUSES, "type": MEMORY_TYPES}.get(key)
    if allowed and value not in allowed:
        raise Invalid(f"set: {key} '{value}' is unknown", hint="One of: " + ", ".join(allowed) + ".")
    return value


def _list_of(key: str, value: str) -> tuple[str, ...]:
    items = tuple(dict.fromkeys(item.strip() for item in value.split(",") if item.strip()))
    if key == "tags":
        return checked_tags(items)
    if key in ("supersedes", "superseded_by"):
        return tuple(item if item.startswith("[[") else f"[[{item}]]" for item in items)
    return items


def _share_of(key: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise Invalid(f"set: {key} is a number from 0 to 1, not '{value}'")
    return number


def _check_trust(wiki: Wiki, page: Page, change: Edit) -> None:
    """An agent adds to what a person stated, and changes none of it; and it cannot raise any page."""
    if wiki.caller.agent is None:
        return
    keys = [assignment.partition("=")[0].strip() for assignment in change.set]
    raised = [key for key in keys if key in RAISING_KEYS]
    if raised:
        raise Refused(
            f"an agent cannot set {', '.join(raised)}", hint="A person decides what is pinned and what matters most."
        )
    if TRUST_ORDER.index(page.meta.trust) <= TRUST_ORDER.index(wiki.caller.trust):
        return
    stated = page.properties.get("trust") == "human"
    whole = change.text is not None and change.section is None and change.mode == "replace"
    guarded = [key for key in keys if stated or key in GUARDED_KEYS]
    words = stated and (change.replace or (change.section is not None and change.mode == "replace"))
    if guarded or whole or words:
        what = f"change {', '.join(guarded)} of" if guarded else "replace words of"
        raise Refused(
            f"an agent cannot {what} '{page.path}', which a person stated",
            hint="Append to it, or remember a page that supersedes it: that opens a dispute for a person to decide.",
        )


def _check_validity(page: Page, change: Edit) -> None:
    dates = {"valid_from": page.meta.valid_from, "valid_to": page.meta.valid_to}
    for assignment in change.set:
        key, _, value = assignment.partition("=")
        if key.strip() in dates:
            period = parse_iso(value)
            dates[key.strip()] = period.start if period else None
    start, end = dates["valid_from"], dates["valid_to"]
    if start and end and end < start and any(key in assignment for key in dates for assignment in change.set):
        raise Invalid(
            f"set: valid_to ({end:%Y-%m-%d}) would be before valid_from ({start:%Y-%m-%d})",
            hint="Give both dates in order.",
        )


def _check_base(wiki: Wiki, page: Page, change: Edit) -> None:
    if change.base is None or change.base == page.revision:
        return
    raise StaleRevision(
        f"'{page.path}' has changed: its revision is {page.revision}, not {change.base}",
        hint="Read the page again and repeat the edit on the current text.",
        data={"revision": page.revision, "body": wiki.redactor.mask(page.body)},
    )


def _worded(change: Edit) -> str:
    if change.set:
        return "set " + ", ".join(assignment.partition("=")[0].strip() for assignment in change.set)
    if change.replace:
        return "replace a passage"
    if change.section is not None:
        return f"{change.mode} section {change.section}"
    return "replace the text" if change.mode == "replace" else f"{change.mode} text"
