"""edit: change one part of a page and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from wikimem.errors import Invalid, Refused, StaleRevision
from wikimem.memory.assignments import changes_of, parse_assignments
from wikimem.memory.wording import check_text
from wikimem.model.page import TRUST_ORDER, Page
from wikimem.text.dates import parse_iso
from wikimem.text.frontmatter import set_properties
from wikimem.text.ids import revision_of
from wikimem.text.page import append_text, edit_section, parse_page, replace_body, replace_text
from wikimem.text.schema import property_value

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

Mode = Literal["replace", "append", "prepend"]

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
    assigned = parse_assignments(change.set)
    apply = _planned(change, assigned)
    row = wiki.find_to_write(address)
    with wiki.transaction("edit") as draft:
        data = draft.read(row.path)
        page = parse_page(row.path, data)
        _check_base(wiki, page, change)
        _check_trust(wiki, page, change, assigned)
        _check_validity(page, assigned)
        after = apply(data, page)
        draft.put(row.path, after)
        draft.subject = f"edit: {page.title} ({_worded(change, assigned)})"
        draft.pages = [row.id]
    commit = draft.committed.commit if draft.committed else None
    return Edited(row.path, row.id, commit, revision_of(after))


def _planned(change: Edit, assigned: Mapping[str, tuple[str, ...]]) -> Callable[[bytes, Page], bytes]:
    given = [bool(change.set), bool(change.replace), change.text is not None]
    if sum(given) != 1 or (change.section is not None and change.text is None):
        raise Invalid(
            "an edit is one of: set, replace, section with text, or text",
            hint="Give `set` (such as confidence=0.9), `replace` (old words and new), `section` and `text`, or `text`.",
        )
    if change.set:
        return lambda data, page: _with_properties(data, page, assigned)
    for text in (*change.replace[1:], change.text or ""):
        check_text(text)
    if change.replace:
        if len(change.replace) != 2 or not change.replace[0]:
            raise Invalid("replace: takes the old text and the new one", hint="The old text must not be empty.")
        old, new = change.replace
        return lambda data, page: replace_text(data, old, new, path=page.path)
    text = change.text or ""
    if change.section is not None:
        heading, mode = change.section, change.mode
        return lambda data, page: edit_section(data, heading, text, mode, path=page.path)
    if change.mode == "append":
        return lambda data, page: append_text(data, text, path=page.path)
    if change.mode == "prepend":
        raise Invalid("mode: prepend needs a section", hint="Name the section that the text begins.")
    if change.base is None:
        raise Invalid(
            "text: replacing a whole page needs the revision that you read",
            hint="Give the `revision` that `read` answered as `base`, or use the mode append.",
        )
    return lambda data, page: replace_body(data, text, path=page.path)


def _with_properties(data: bytes, page: Page, assigned: Mapping[str, tuple[str, ...]]) -> bytes:
    changes, removed = changes_of(assigned, page)
    return set_properties(data, changes, remove=removed, path=page.path)


def _check_trust(wiki: Wiki, page: Page, change: Edit, keys: Collection[str]) -> None:
    """An agent adds to what a person stated, and changes none of it; and it cannot raise any page."""
    if wiki.caller.agent is None:
        return
    raised = [key for key in keys if key in RAISING_KEYS]
    if raised:
        raise Refused(
            f"an agent cannot set {', '.join(raised)}", hint="A person decides what is pinned and what matters most."
        )
    if TRUST_ORDER.index(page.meta.trust) <= TRUST_ORDER.index(wiki.caller.trust):
        return
    stated = page.meta.trust == "human" and bool(property_value(page.properties, "trust"))
    whole = change.text is not None and change.section is None and change.mode == "replace"
    guarded = [key for key in keys if stated or key in GUARDED_KEYS]
    words = stated and (change.replace or (change.section is not None and change.mode == "replace"))
    if guarded or whole or words:
        what = f"change {', '.join(guarded)} of" if guarded else "replace words of"
        raise Refused(
            f"an agent cannot {what} '{page.path}', which a person stated",
            hint="Append to it, or remember a page that supersedes it: that opens a dispute for a person to decide.",
        )


def _check_validity(page: Page, assigned: Mapping[str, tuple[str, ...]]) -> None:
    dates = {"valid_from": page.meta.valid_from, "valid_to": page.meta.valid_to}
    given = [key for key in dates if key in assigned]
    for key in given:
        period = parse_iso(assigned[key][0]) if assigned[key] else None
        dates[key] = period.start if period else None
    start, end = dates["valid_from"], dates["valid_to"]
    if given and start and end and end < start:
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


def _worded(change: Edit, keys: Collection[str]) -> str:
    if keys:
        return "set " + ", ".join(keys)
    if change.replace:
        return "replace a passage"
    if change.section is not None:
        return f"{change.mode} section {change.section}"
    return "replace the text" if change.mode == "replace" else f"{change.mode} text"
