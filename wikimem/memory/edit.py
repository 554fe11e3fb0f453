"""edit: change one part of a page and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from wikimem.errors import Invalid, Refused, StaleRevision
from wikimem.model.hit import PageRow
from wikimem.model.page import MEMORY_TYPES, STATUSES, TRUST_ORDER, Page, PropertyValue
from wikimem.text.dates import parse_duration, parse_iso
from wikimem.text.frontmatter import set_properties
from wikimem.text.ids import revision_of
from wikimem.text.page import append_text, edit_section, parse_page, replace_body, replace_text

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

Mode = Literal["replace", "append", "prepend"]

LIST_KEYS: Final = ("tags", "aliases", "sources", "supersedes", "superseded_by", "remotes")
FIXED_KEYS: Final = ("id", "created", "trust")
"""Who said it first, when, and which page it is: never changed by an edit."""
GUARDED_KEYS: Final = ("status", "valid_from", "valid_to", "supersedes", "superseded_by", "confidence", "ttl",
                       "importance", "pinned", "type")  # fmt: skip
"""What closes, replaces or raises a page: an agent cannot set these on a page that a person stated."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One change. Exactly one of `set`, `replace`, `section` with `text`, or `text` alone."""

    set: Sequence[str] = ()
    replace: Sequence[str] = ()
    section: str | None = None
    text: str | None = None
    mode: Mode = "replace"
    base: str | None = None


@dataclass(frozen=True, slots=True)
class Edited:
    path: str
    id: str
    commit: str | None
    revision: str


def edit(wiki: Wiki, address: str, change: Edit) -> Edited:
    """Apply `change` to the page at `address`. An edit that changes nothing makes no commit.

    Raises StaleRevision, with the current revision and text, where `base` is not what is on disk.
    """
    apply = _planned(change)
    row = wiki.find(address)
    _check_trust(wiki, row, change)
    with wiki.transaction("edit") as draft:
        data = draft.read(row.path)
        page = parse_page(row.path, data)
        _check_base(wiki, page, change)
        after = apply(data, row.path)
        if change.text is not None and change.section is None and change.mode == "replace":
            _keep_masked_secrets(wiki, page, change.text)
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
            hint="See `wikimem edit --help` for an example of each.",
        )
    if change.set:
        changes, removed = parse_assignments(change.set)
        return lambda data, path: set_properties(data, changes, remove=removed, path=path)
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
            hint="Give --base with the `revision` of `wikimem read`, or use --mode append.",
        )
    return lambda data, path: replace_body(data, text, path=path)


def parse_assignments(assignments: Sequence[str]) -> tuple[dict[str, PropertyValue | bool | float | int], list[str]]:
    """`KEY=VALUE` texts as typed property changes, and the keys to remove (`KEY=`). Raises Invalid."""
    changes: dict[str, PropertyValue | bool | float | int] = {}
    removed: list[str] = []
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        key = key.strip()
        if not equals or not key:
            raise Invalid(f"set: '{assignment}' is not KEY=VALUE", hint="For example --set confidence=0.9.")
        if key in FIXED_KEYS:
            raise Refused(f"set: '{key}' is never changed by an edit", hint="Make a new page that supersedes this one.")
        if not value:
            removed.append(key)
        else:
            changes[key] = _typed(key, value)
    return changes, removed


def _typed(key: str, value: str) -> PropertyValue | bool | float | int:
    if key in LIST_KEYS:
        items = tuple(item.strip() for item in value.split(","))
        return tuple(item.lstrip("#") if key == "tags" else item for item in items if item)
    if key in ("confidence", "importance"):
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        if not 0 <= number <= 1:
            raise Invalid(f"set: {key} is a number from 0 to 1, not '{value}'")
        return number
    if key == "pinned":
        if value.lower() not in ("true", "false"):
            raise Invalid(f"set: pinned is true or false, not '{value}'")
        return value.lower() == "true"
    if key in ("valid_from", "valid_to", "confirmed") and parse_iso(value) is None:
        raise Invalid(f"set: {key} is a date such as 2025-09-12, not '{value}'")
    if key == "ttl":
        parse_duration(value)
    for name, allowed in (("status", STATUSES), ("type", MEMORY_TYPES)):
        if key == name and value not in allowed:
            raise Invalid(f"set: {name} '{value}' is unknown", hint="One of: " + ", ".join(allowed) + ".")
    return value


def _check_trust(wiki: Wiki, row: PageRow, change: Edit) -> None:
    if TRUST_ORDER.index(row.trust) <= TRUST_ORDER.index(wiki.caller.trust):
        return
    keys = [assignment.partition("=")[0].strip() for assignment in change.set]
    guarded = [key for key in keys if key in GUARDED_KEYS]
    whole = change.text is not None and change.section is None and change.mode == "replace"
    if guarded or whole:
        what = f"change {', '.join(guarded)} of" if guarded else "replace the text of"
        raise Refused(
            f"an agent cannot {what} '{row.path}', which a person stated",
            hint="Add a section, or remember a page that supersedes it: that opens a dispute for a person to decide.",
        )


def _check_base(wiki: Wiki, page: Page, change: Edit) -> None:
    if change.base is None or change.base == page.revision:
        return
    raise StaleRevision(
        f"'{page.path}' has changed: its revision is {page.revision}, not {change.base}",
        hint="Read the page again and repeat the edit on the current text.",
        data={"revision": page.revision, "body": wiki.redactor.mask(page.body)},
    )


def _keep_masked_secrets(wiki: Wiki, page: Page, text: str) -> None:
    """Whoever read the page saw its secrets masked; writing that text back would destroy the person's own value."""
    for finding in wiki.redactor.find(page.body):
        if finding.tag in text:
            raise Refused(
                f"'{page.path}' holds a secret ({finding.kind}) that reading masked; this text would overwrite it",
                hint="Change a section or an exact passage instead of the whole text.",
            )


def _worded(change: Edit) -> str:
    if change.set:
        return "set " + ", ".join(assignment.partition("=")[0].strip() for assignment in change.set)
    if change.replace:
        return "replace a passage"
    if change.section is not None:
        return f"{change.mode} section {change.section}"
    return "replace the text" if change.mode == "replace" else f"{change.mode} text"
