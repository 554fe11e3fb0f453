"""Texts of an event made fit to be kept: without private parts and what wikimem injected, redacted, shortened.

A text is shortened around its middle. Whatever is left out, a secret on either edge is either wholly out or replaced,
because the redactor is shown more than is kept.
"""

from __future__ import annotations

from collections import Counter

from wikimem.text.redact_values import compiled
from wikimem.text.terminal import without_sequences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wikimem.text.redact import Redactor

MARGIN = 4096
"""Characters beyond what is kept that the redactor is shown: more than a token, a cookie or a key file has."""

_SURROGATE = "[\ud800-\udfff]"
_BLOCK = r"(?s)(?<!`)(?P<fence>`{3,}+)wikimem\n.*?(?:\n(?P=fence)(?!`)|\Z)"
_MARKS = (("<wikimem>", "</wikimem>"), ("<!-- wikimem:begin", "<!-- wikimem:end -->"))
_PREFACE_STARTS = "Recalled from the user's memory vault."
_PREFACE = r"Recalled from the user's memory vault\.[^\n]*\n?"


class Cleaner:
    """Cleans the texts of one event, and keeps count of what it did."""

    def __init__(self, redactor: Redactor) -> None:
        self.redactor = redactor
        self.redacted: Counter[str] = Counter()
        self.cut: list[str] = []

    def text(self, name: str, value: str, limit: int) -> str:
        """`value` fit to be kept under `name`, at most about `limit` characters long."""
        value = without_private(without_injected(plain(value))).strip()
        if len(value) <= limit:
            masked, findings = self.redactor.redact(value)
            self.redacted.update(finding.kind for finding in findings)
            return masked
        self.cut.append(name)
        kept = limit * 2 // 3
        head, tail = self._head(value, kept), self._tail(value, limit - kept)
        return f"{head}\n[… {len(value) - limit} characters left out …]\n{tail}".rstrip("\n")

    def _head(self, value: str, keep: int) -> str:
        window = value[: keep + MARGIN]
        parts: list[str] = []
        at = 0
        for finding in self.redactor.find(window):
            if finding.start >= keep:
                break
            parts += (window[at : finding.start], finding.placeholder)
            self.redacted[finding.kind] += 1
            at = finding.end
        if at < keep:
            parts.append(window[at:keep])
        return "".join(parts)

    def _tail(self, value: str, keep: int) -> str:
        first = _outside_key_block(value, len(value) - keep)
        begin = max(first - MARGIN, 0)
        parts: list[str] = []
        at = first
        for finding in self.redactor.find(value[begin:]):
            start, end = begin + finding.start, begin + finding.end
            if end <= first:
                continue
            if start >= first:
                parts += (value[at:start], finding.placeholder)
                self.redacted[finding.kind] += 1
            at = end
        parts.append(value[at:])
        return "".join(parts)


def plain(text: str) -> str:
    """`text` without colours, NUL, and halves of characters, which no file can hold."""
    text = without_sequences(text)
    if "\0" in text:
        text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    if text.isascii() or not compiled(_SURROGATE).search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def without_private(text: str) -> str:
    """`text` without what stands between `<private>` and `</private>`, tags and all."""
    if "<" not in text:
        return text
    low = text.lower()
    if "<private" not in low:
        return text
    from wikimem.text.redact_rules import find_private_blocks

    if len(low) != len(text):
        low = "".join(char.lower() if char.isascii() else char for char in text)
    parts: list[str] = []
    at = 0
    for _, start, end in find_private_blocks(text, low):
        parts.append(text[at:start])
        at = end
    return "".join([*parts, text[at:]])


def without_injected(text: str) -> str:
    """`text` without what wikimem itself had put there: recalled memory is not captured again as news."""
    if "wikimem" in text:
        text = compiled(_BLOCK).sub("", text)
        for opening, closing in _MARKS:
            text = _without_marked(text, opening, closing)
    if _PREFACE_STARTS in text:
        text = compiled(_PREFACE).sub("", text)
    return text


def _without_marked(text: str, opening: str, closing: str) -> str:
    """`text` without what stands between two marks. A mark that is never closed is talked about, and stays."""
    start = text.find(opening)
    parts: list[str] = []
    at = 0
    while start >= 0 and (end := text.find(closing, start)) >= 0:
        parts.append(text[at:start])
        at = end + len(closing)
        start = text.find(opening, at)
    return "".join([*parts, text[at:]])


def _outside_key_block(value: str, first: int) -> int:
    """`first`, or the end of the private key that is open there and began too long before to be recognised."""
    opened = value.rfind("-----BEGIN", 0, first)
    if opened < 0 or value.find("-----END", opened, first) >= 0:
        return first
    closed = value.find("-----END", first)
    if closed < 0:
        return len(value) if _still_key(value, first) else first
    line = value.find("\n", closed)
    return len(value) if line < 0 else line + 1


def _still_key(value: str, first: int) -> bool:
    return compiled(r"[A-Za-z0-9+/=\s\\]*").fullmatch(value, first, first + 200) is not None
