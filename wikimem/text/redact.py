"""The redaction gate: every text that wikimem stores, indexes, logs or prints passes here.

    gate = Redactor(key)
    gate.redact("the DB password is ...")   # ("the DB password is [redacted:password:9c1f02ab]", (Finding(...),))

Only the value of a secret is replaced; its name, and that it exists, stay. The tag is keyed, so equal secrets look
equal within one user's vaults and nobody without the key can test a guess against it.
Standard library only, and cheap to import: hooks use this module before anything else is loaded.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import namedtuple
from collections.abc import Iterable, Iterator, Sequence

from wikimem.errors import Invalid
from wikimem.text.redact_assign import find_assigned
from wikimem.text.redact_commands import find_in_commands
from wikimem.text.redact_rules import find_addresses, find_formats, find_headers, find_private_blocks, find_private_keys
from wikimem.text.redact_values import compiled

TAG_DIGITS = 8  # hex digits of the tag: 32 bits tell secrets of one vault apart, and say nothing about them

_PLACEHOLDER = r"\[redacted:[a-z0-9][a-z0-9-]{0,40}:[0-9a-f]{8}\]"
_EXTRA_NAME = r"[a-z0-9][a-z0-9-]{0,40}"

# Characters that nobody sees: soft hyphen, joiners, zero-width spaces, direction marks, variation selectors, and the
# colour codes of terminals. They are taken out before matching, and lie inside the redacted span afterwards.
_INVISIBLE = (
    r"[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff]+"
    r"|\x1b\[[0-9;]*[A-Za-z]"
)
# One character for one: full-width forms, typographic quotes and odd blanks read as their ASCII.
_LOOKS_LIKE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {
    ord(char): plain
    for chars, plain in (("\u3000\u00a0\u2007\u202f", " "), ("\u201c\u201d\u201e", '"'), ("\u2018\u2019\u201a", "'"))
    for char in chars
}
_LOOKALIKE = "[\uff01-\uff5e\u3000\u00a0\u2007\u202f\u201c-\u201e\u2018-\u201a]"

# Where spans overlap, the kind that says most wins.
_RANK_ASSIGNED, _RANK_PLACE, _RANK_FORMAT, _RANK_EXTRA, _RANK_WHOLE = range(5)
_ROUNDS = 8


class Finding(namedtuple("Finding", ("kind", "start", "end", "tag"))):  # noqa: PYI024 - see redact_rules
    """One secret: what kind, where in the text that was searched, and the tag that stands for its value."""

    __slots__ = ()

    @property
    def placeholder(self) -> str:
        """What stands in the secret's place."""
        return f"[redacted:{self.kind}:{self.tag}]"


class _Span(namedtuple("_Span", ("start", "end", "kind", "rank"))):  # noqa: PYI024 - see redact_rules
    """What a rule found."""

    __slots__ = ()


class Redactor:
    """Finds secrets and replaces them by placeholders; `key` is this user's, and never stored in a vault.

    `extra` adds rules as (name, regular expression). The name becomes the kind; the first group of the expression is
    the secret, or the whole match where it has no group.
    Raises Invalid for an empty key, a bad name or a bad expression.
    """

    def __init__(self, key: bytes, extra: Sequence[tuple[str, str]] = ()) -> None:
        if not key:
            raise Invalid("the redaction key is empty", hint="Give the user's key file at least 16 random bytes.")
        self._key = key
        self._extra = tuple(_compile_extra(name, pattern) for name, pattern in extra)

    def find(self, text: str) -> tuple[Finding, ...]:
        """Every secret in `text`, in order, without overlap."""
        spans = self._scan(text)
        if not spans:
            return ()
        # A placeholder can expose what the secret's own characters had hidden, so the result is searched again, until
        # nothing more is found: redacting twice then changes nothing.
        for _ in range(_ROUNDS):
            masked, pieces = self._replace(text, spans)
            more = self._scan(masked)
            if not more:
                break
            spans = _merge([*spans, *_moved_back(more, pieces)])
        return tuple(
            Finding(span.kind, span.start, span.end, self._tag(span.kind, text[span.start : span.end]))
            for span in spans
        )

    def redact(self, text: str) -> tuple[str, tuple[Finding, ...]]:
        """`text` with each secret replaced, and what was found; offsets are those of the text given."""
        findings = self.find(text)
        if not findings:
            return text, ()
        parts: list[str] = []
        at = 0
        for finding in findings:
            parts += (text[at : finding.start], finding.placeholder)
            at = finding.end
        parts.append(text[at:])
        return "".join(parts), findings

    def mask(self, text: str) -> str:
        """`text` with each secret replaced."""
        return self.redact(text)[0]

    def _tag(self, kind: str, value: str) -> str:
        import hmac  # it loads OpenSSL, which a hook that finds nothing need not wait for

        plain = compiled(_INVISIBLE).sub("", value).translate(_LOOKS_LIKE)
        return hmac.digest(self._key, (kind + plain).encode("utf-8", "surrogatepass"), "sha256").hex()[:TAG_DIGITS]

    def _replace(self, text: str, spans: Sequence[_Span]) -> tuple[str, list[tuple[int, int, _Span | None]]]:
        """The masked text, and its pieces as (start in it, start in `text`, the span replaced or None)."""
        parts: list[str] = []
        pieces: list[tuple[int, int, _Span | None]] = []
        at = size = 0
        for span in spans:
            pieces.append((size, at, None))
            size += span.start - at
            pieces.append((size, span.start, span))
            placeholder = f"[redacted:{span.kind}:{self._tag(span.kind, text[span.start : span.end])}]"
            size += len(placeholder)
            parts += (text[at : span.start], placeholder)
            at = span.end
        pieces.append((size, at, None))
        parts.append(text[at:])
        return "".join(parts), pieces

    def _scan(self, text: str) -> list[_Span]:
        """One search: spans of `text`, merged; a placeholder that is there already is never part of one alone."""
        view, origin = _plain_view(text)
        placeholders = [found.span() for found in compiled(_PLACEHOLDER).finditer(view)] if "[redacted:" in view else []
        if placeholders:
            view = compiled(_PLACEHOLDER).sub(_starred, view)
        low = view.replace("\u0130", "i").lower()  # the one letter that grows in lower case
        raw = [
            *_ranked(find_private_blocks(view, low), _RANK_WHOLE),
            *_ranked(find_private_keys(view), _RANK_WHOLE),
            *_ranked(find_formats(view, low), _RANK_FORMAT),
            *_ranked(find_headers(view, low), _RANK_PLACE),
            *_ranked(find_addresses(view), _RANK_PLACE),
            *_ranked(find_in_commands(view, low), _RANK_PLACE),
            *_ranked(find_assigned(view, low), _RANK_ASSIGNED),
        ]
        for kind, pattern in self._extra:
            group = 1 if pattern.groups else 0
            spots = (found.span(group) for found in pattern.finditer(view))
            raw += (_Span(start, end, kind, _RANK_EXTRA) for start, end in spots if start < end)
        if not raw:
            return []
        if placeholders:
            raw = _outside_placeholders(raw, placeholders)
        merged = _merge(raw)
        if origin is None:
            return merged
        return [_Span(origin[span.start], origin[span.end - 1] + 1, span.kind, span.rank) for span in merged]


def mask_without_key(text: str) -> str:
    """`text` with each secret replaced, for a message where no vault, and so no key, is open: its tags mean nothing."""
    import os

    return Redactor(os.urandom(16)).mask(text)


def _compile_extra(name: str, pattern: str) -> tuple[str, re.Pattern[str]]:
    kind = name.strip().lower().replace("_", "-").replace(" ", "-")
    if not compiled(_EXTRA_NAME).fullmatch(kind):
        raise Invalid(
            f"redaction rule '{name}' has a bad name",
            hint="Use up to 41 letters, digits and hyphens, such as acme-key.",
        )
    try:
        return kind, re.compile(pattern)
    except (re.error, OverflowError) as error:
        raise Invalid(
            f"redaction rule '{name}' is not a regular expression: {error}",
            hint="Correct the rule in your own configuration; the syntax is that of Python's re module.",
        ) from error


def _ranked(found: Iterable[tuple[str, int, int]], rank: int) -> list[_Span]:
    return [_Span(start, end, kind, rank) for kind, start, end in found if start < end]


def _plain_view(text: str) -> tuple[str, list[int] | None]:
    """The text as it is matched, and for each of its characters the offset in `text` (None: the same)."""
    if text.isascii() and "\x1b" not in text:
        return text, None
    view = text.translate(_LOOKS_LIKE) if compiled(_LOOKALIKE).search(text) else text
    hidden = [found.span() for found in compiled(_INVISIBLE).finditer(view)]
    if not hidden:
        return view, None
    origin: list[int] = []
    parts: list[str] = []
    at = 0
    for start, end in hidden:
        parts.append(view[at:start])
        origin.extend(range(at, start))
        at = end
    parts.append(view[at:])
    origin.extend(range(at, len(view)))
    return "".join(parts), origin


def _starred(found: re.Match[str]) -> str:
    """As many stars: no rule can read a name or a value in a placeholder."""
    return "*" * len(found.group())


def _outside_placeholders(raw: Sequence[_Span], placeholders: Sequence[tuple[int, int]]) -> list[_Span]:
    """Without the spans that lie in a placeholder; one that cuts into a placeholder takes all of it."""
    starts = [start for start, _ in placeholders]
    kept: list[_Span] = []
    for span in raw:
        start, end = span.start, span.end
        first = bisect_right(starts, start) - 1
        if first >= 0 and start < placeholders[first][1]:
            if end <= placeholders[first][1]:
                continue
            start = placeholders[first][0]
        last = bisect_right(starts, end - 1) - 1
        if last >= 0 and end <= placeholders[last][1]:
            end = placeholders[last][1]
        kept.append(_Span(start, end, span.kind, span.rank))
    return kept


def _merge(spans: Iterable[_Span]) -> list[_Span]:
    """Non-overlapping spans that cover all of `spans`.

    A group of overlapping ones becomes their union. Its kind is that of the highest rank among those that cover the
    union, or among all where none does.
    """
    merged: list[_Span] = []
    group: list[_Span] = []
    end = -1
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if group and span.start >= end:
            merged.append(_union(group))
            group = []
        group.append(span)
        end = max(end, span.end) if len(group) > 1 else span.end
    if group:
        merged.append(_union(group))
    return merged


def _union(group: Sequence[_Span]) -> _Span:
    start = group[0].start
    end = max(span.end for span in group)
    covering = [span for span in group if span.start == start and span.end == end]
    best = max(covering or group, key=lambda span: span.rank)
    return _Span(start, end, best.kind, best.rank)


def _moved_back(spans: Iterable[_Span], pieces: Sequence[tuple[int, int, _Span | None]]) -> Iterator[_Span]:
    """Spans found in the masked text, as spans of the text that was masked."""
    offsets = [masked for masked, _, _ in pieces]
    for span in spans:
        masked, original, replaced = pieces[bisect_right(offsets, span.start) - 1]
        start = replaced.start if replaced else original + span.start - masked
        masked, original, replaced = pieces[bisect_right(offsets, span.end - 1) - 1]
        end = replaced.end if replaced else original + span.end - masked
        yield _Span(start, end, span.kind, span.rank)
