"""Reads the lines that wikimem writes itself many at a time; what is written otherwise goes to the strict parser.

A plain line is what `render_triple` gives where nothing needs an escape and no literal has a language: nearly all lines
of nearly all files. One regular expression takes a whole file apart, which is several times as fast as line by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from wikimem.errors import Invalid
from wikimem.text.lazyregex import lazily
from wikimem.text.triples import BadLine, Literal, Triple, parse_line

_IRI: Final = r"<([A-Za-z][A-Za-z0-9+.-]*+:[!#-;=?-\[\]_a-z~]*+)>"
"""Of ASCII, and nothing in it that an IRI may not hold."""
_PLAIN: Final = lazily(rf"^{_IRI} {_IRI} (?:{_IRI}|\"([^\"\\\n\r]*+)\"(?:\^\^{_IRI})?) \.$", re.MULTILINE)
_GROUPS: Final = 6
"""What `split` gives for each plain line: what stands before it, and its five groups."""
_STRING_TYPE: Final = "http://www.w3.org/2001/XMLSchema#string"


def read_lines(text: str) -> tuple[list[Triple], list[BadLine]]:
    """As `read_triples`, and the same triples; in the order of the lines where all of them are plain."""
    parts = _PLAIN.split(text.removeprefix("\ufeff"))
    found = [
        Triple(
            subject,
            predicate,
            iri if iri is not None else Literal(said, "" if datatype in (None, _STRING_TYPE) else datatype),
        )
        for subject, predicate, iri, said, datatype in zip(
            parts[1::_GROUPS], parts[2::_GROUPS], parts[3::_GROUPS], parts[4::_GROUPS], parts[5::_GROUPS], strict=True
        )
    ]
    bad: list[BadLine] = []
    between = parts[::_GROUPS]
    if any(gap != "\n" for gap in between[1:-1]) or between[0] or between[-1] not in ("", "\n"):
        for number, line in _other_lines(between):
            try:
                triple = parse_line(line.removesuffix("\r"))
            except Invalid as error:
                bad.append(BadLine(number, error.message))
                continue
            if triple is not None:
                found.append(triple)
    return found, bad


def _other_lines(between: list[str]) -> Iterator[tuple[int, str]]:
    """The lines that are not plain, with their numbers. Each plain line lies between two of these texts."""
    number = 1
    for gap in between:
        lines = gap.split("\n")
        for place, line in enumerate(lines):
            if line:
                yield number + place, line
        number += len(lines) - 1
