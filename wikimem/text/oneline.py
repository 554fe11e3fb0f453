"""Any text as a part of one line of Markdown: it is shown as it was written, and does nothing there.

    as_line(text)      prose from anywhere, on one line, with everything that Markdown or Obsidian would act on escaped
    as_code(text)      the same as a code span
    as_written(line)   back from either: what a reader sees

Code spans of the text stay code spans. What a link, an image, a comment, HTML, a tag, math or a block id would begin
with gets a backslash; placeholders of redacted secrets stay as they are, so that they are known again.
"""

from __future__ import annotations

import re
from typing import Final

from wikimem.text.terminal import without_sequences

ELLIPSIS: Final = "…"
"""Stands where a text was cut."""

_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)
_PLACEHOLDER: Final = r"\[redacted:[a-z0-9][a-z0-9-]{0,40}:[0-9a-f]{8}\]"
_CODE: Final = r"(?<!`)(?P<ticks>`+)(?!`)(?:.+?)(?<!`)(?P=ticks)(?!`)"
_ACTIVE: Final = (
    r"\\(?=[!-/:-@\[-`{-~])|[`*\[$]|!(?=\[)|<(?=[A-Za-z/!?])|%(?=%)|(?<=%)%|&(?=[#\w]+;)|(?<!\S)#(?=\S)"
    r"|(?<!\S)\^(?=[A-Za-z0-9-]+(?:\s|\Z))"
)
_TOKEN: Final = re.compile(rf"(?P<kept>{_PLACEHOLDER})|(?P<code>{_CODE})|(?P<active>{_ACTIVE})")
_WRITTEN: Final = re.compile(rf"(?P<code>{_CODE})|\\(?P<plain>[!-/:-@\[-`{{-~])")
_CUT_PLACEHOLDER: Final = re.compile(r"\[[a-z0-9:-]{0,70}\Z")


def flatten(text: str) -> str:
    """`text` on one line: white space of every kind is one blank, what nobody sees is gone, colours too."""
    text = without_sequences(text)
    return " ".join(_UNSEEN.sub("", text.encode("utf-8", "replace").decode("utf-8")).split())


def shorten(text: str, limit: int) -> str:
    """`text` where it has at most `limit` characters, else its beginning, cut between words, with an ellipsis."""
    if len(text) <= limit:
        return text
    kept = text[: limit - 1]
    blank = kept.rfind(" ", limit // 2)
    kept = kept[:blank] if blank > 0 and text[limit - 1] != " " else kept
    return _CUT_PLACEHOLDER.sub("", kept).rstrip() + ELLIPSIS


def as_line(text: str, limit: int) -> str:
    """`text` as inline Markdown that shows it, of at most `limit` characters before escaping; see the module."""
    return _TOKEN.sub(_escaped, shorten(flatten(text), limit))


def as_code(text: str, limit: int) -> str:
    """`text` as a code span; empty for nothing."""
    flat = shorten(flatten(text), limit)
    if not flat:
        return ""
    runs = {len(run) for run in re.findall("`+", flat)}
    fence = "`" * next(size for size in range(1, len(runs) + 2) if size not in runs)
    pad = " " if flat[0] == "`" or flat[-1] == "`" else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def as_written(line: str) -> str:
    """What a reader sees of a line made by `as_line` or `as_code`; marks of code stay only in what was prose."""
    return _WRITTEN.sub(lambda found: found["code"] or found["plain"], line)


def code_spans(line: str) -> list[str]:
    """The texts of the code spans of a line, in order."""
    return [
        span.strip("`").strip() if span.startswith("``") else span[1:-1]
        for found in _WRITTEN.finditer(line)
        if (span := found["code"])
    ]


def _escaped(found: re.Match[str]) -> str:
    return f"\\{found[0]}" if found["active"] else found[0]
