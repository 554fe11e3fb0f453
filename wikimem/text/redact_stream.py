"""Redaction of a text that is too large to hold: part by part, with the result that the whole would have had."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from wikimem.text.redact import Redactor

REACH: Final = 32_768
"""Characters on either side of a place that can decide whether it is secret: more than any rule of ours looks at."""

CHUNK: Final = 262_144
"""Characters that are decided at a time."""


def mask_parts(redactor: Redactor, parts: Iterable[str], *, chunk: int = CHUNK) -> Iterator[str]:
    """`parts` of one text with each secret replaced, wherever the parts were cut.

    What comes out, joined, is what `redactor.mask` makes of the joined parts. At most about twice REACH and `chunk`
    are held, or as much as the largest single secret has (a private block that is never closed is one). A rule of the
    user that looks further than REACH sees no more than that.
    """
    text = ""  # some of what is decided, for rules that look back, and all that is not
    decided = 0
    wanted = chunk + REACH
    for part in parts:
        text += part
        if len(text) - decided < wanted:
            continue
        masked, cut = _decide(redactor, text, decided, len(text) - REACH)
        # Where one secret fills the window, see more before looking again.
        wanted = 2 * (len(text) - decided) if cut - decided < chunk // 2 else chunk + REACH
        yield masked
        start = max(cut - REACH, 0)
        text, decided = text[start:], cut - start
    yield _decide(redactor, text, decided, len(text))[0]


def _decide(redactor: Redactor, text: str, decided: int, border: int) -> tuple[str, int]:
    """The masked text from `decided` to `border`, or to the start of a secret that may go on beyond; and where."""
    parts: list[str] = []
    at = decided
    last = border == len(text)
    for finding in redactor.find(text):
        if finding.end <= decided:
            continue
        if not last and (finding.start >= border or finding.end > border):
            border = min(border, max(finding.start, at))
            break
        parts += (text[at : max(finding.start, at)], finding.placeholder)
        at = finding.end
    parts.append(text[at:border])
    return "".join(parts), border
