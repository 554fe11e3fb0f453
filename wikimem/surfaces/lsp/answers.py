"""What the operations answer, in the protocol's words. Texts are masked where they are made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import unquote_to_bytes, urlsplit

from lsprotocol import types

from wikimem.model.authoring import Completions, Finding, Hovered, Place, Section
from wikimem.present.editor import hover_markdown, hover_text
from wikimem.surfaces.lsp.positions import Encoding, Lines

SOURCE: Final = "wikimem"

_SEVERITIES: Final = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}
_KINDS: Final = {
    "page": types.CompletionItemKind.File,
    "alias": types.CompletionItemKind.Reference,
    "heading": types.CompletionItemKind.Module,
    "block": types.CompletionItemKind.Constant,
    "property": types.CompletionItemKind.Property,
    "value": types.CompletionItemKind.EnumMember,
}
Locate = Callable[[Place], str]
"""The URI of the page that a place is on."""


def file_of(uri: str) -> Path | None:
    """The file that a URI names on this machine; None for any other, such as an editor's unnamed buffer."""
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    named = unquote_to_bytes(parts.path)
    if not named.startswith(b"/") or b"\0" in named:
        return None
    return Path(named.decode("utf-8", "surrogateescape"))


def diagnostics(findings: Iterable[Finding], lines: Lines) -> list[types.Diagnostic]:
    """Each with the rule as its code, and the remedy below the message."""
    return [
        types.Diagnostic(
            range=lines.range(each.start, each.end),
            message=f"{each.message}\n{each.remedy}".strip(),
            severity=_SEVERITIES[each.severity],
            code=each.rule,
            source=SOURCE,
        )
        for each in findings
    ]


def completion_list(found: Completions, lines: Lines) -> types.CompletionList:
    """In our order, whatever the editor's own would be."""
    where = lines.range(found.start, found.end)
    items = [
        types.CompletionItem(
            label=each.label,
            kind=_KINDS[each.kind],
            detail=each.detail or None,
            tags=[types.CompletionItemTag.Deprecated] if each.retired else None,
            sort_text=f"{number:04}",
            # An editor compares this with all that it replaces, the blank after a colon too.
            filter_text=each.text[: len(each.text) - len(each.text.lstrip())] + each.label,
            text_edit=types.TextEdit(where, each.text),
        )
        for number, each in enumerate(found.suggestions)
    ]
    return types.CompletionList(is_incomplete=found.more, items=items)


def hover(found: Hovered, lines: Lines, *, markdown: bool) -> types.Hover:
    """As Markdown where the editor shows it, else as plain text."""
    kind = types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText
    said = hover_markdown(found) if markdown else hover_text(found)
    return types.Hover(types.MarkupContent(kind, said), lines.range(found.start, found.end))


def locations(places: Sequence[Place], uri_of: Locate, encoding: Encoding) -> list[types.Location]:
    """Where the places are. Each page's lines are counted once."""
    counted: dict[str, Lines] = {}
    for place in places:
        if place.path not in counted:
            counted[place.path] = Lines(place.text, encoding)
    return [types.Location(uri_of(each), counted[each.path].range(each.start, each.end)) for each in places]


def symbols(sections: Iterable[Section], lines: Lines) -> list[types.DocumentSymbol]:
    """Headings as an outline."""
    return [
        types.DocumentSymbol(
            name=each.heading.text or "#" * each.heading.level,
            kind=types.SymbolKind.String,
            range=lines.range(each.heading.start, each.end),
            selection_range=lines.range(each.heading.start, each.heading.end),
            children=symbols(each.inner, lines),
        )
        for each in sections
    ]
