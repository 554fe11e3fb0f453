"""What an editor is told of the page that somebody has open in it. Offsets are character offsets in a page's text."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from wikimem.model.page import Heading

SuggestionKind = Literal["page", "alias", "heading", "block", "property", "value"]
Severity = Literal["error", "warning", "note"]


class Suggestion(Struct, frozen=True):
    """A way to go on: `text` in place of what is being written. `retired` where the page no longer counts."""

    label: str
    text: str
    kind: SuggestionKind
    detail: str = ""
    retired: bool = False


class Completions(Struct, frozen=True):
    """Suggestions, best first, for `text[start:end]`. `more` where typing on would bring others."""

    start: int = 0
    end: int = 0
    suggestions: tuple[Suggestion, ...] = ()
    more: bool = False


class Finding(Struct, frozen=True):
    """A problem of the open page, at `text[start:end]`, with the rule of `check` that found it and what to do."""

    rule: str
    severity: Severity
    message: str
    remedy: str
    start: int
    end: int


class PageCard(Struct, frozen=True):
    """What a reader should know of a page before believing it. Dates are ISO 8601 texts, secrets are masked."""

    title: str
    path: str
    id: str
    type: str
    status: str
    project: str | None
    confidence: float | None
    trust: str
    valid_from: str | None
    valid_to: str | None
    expires: str | None
    sources: tuple[str, ...]
    more_sources: int
    superseded_by: tuple[str, ...]
    excerpt: str


class Hovered(Struct, frozen=True):
    """What is known of `text[start:end]`: a page, a property, or a property and its page."""

    start: int
    end: int
    card: PageCard | None
    property: str = ""
    meaning: str = ""


class Place(Struct, frozen=True):
    """A part of a page: `text[start:end]` of the page at `path`, as it is in the editor or else on disk."""

    path: str
    text: str
    start: int
    end: int


class Section(Struct, frozen=True):
    """A heading, the end of what stands under it, and the headings there."""

    heading: Heading
    end: int
    inner: tuple[Section, ...] = ()
