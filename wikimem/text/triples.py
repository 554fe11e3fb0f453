"""N-Triples: read and write statements, one to a line.

    Triple  Literal  parse_line  read_triples  parse_triples  render_triples

Strict where it matters: IRIs are absolute, escapes are complete, and there are no blank nodes, because a name that
holds within one file only cannot be merged by lines. What is written is the canonical form of N-Triples: single blanks,
no comment, only what must be escaped is, lines sorted and each once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from msgspec import Struct

from wikimem.errors import Damaged, Invalid
from wikimem.text.lazyregex import lazily


class Literal(NamedTuple):
    """A value: its text, and the IRI of its datatype or its language where it is more than a plain string."""

    text: str
    datatype: str = ""
    language: str = ""


Term = str | Literal
"""The object of a triple: an IRI as a plain text, or a Literal."""


class Triple(NamedTuple):
    """One statement. Subject and predicate are IRIs."""

    subject: str
    predicate: str
    object: Term


class BadLine(Struct, frozen=True):
    """A line that is no triple; `line` counts from 1."""

    line: int
    message: str


_ESCAPE: Final = r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"
_IRI_CHARACTERS: Final = r"[^\x00-\x20<>\"{}|^`\\]*+"
_IRI: Final = rf"<({_IRI_CHARACTERS}(?:(?:{_ESCAPE}){_IRI_CHARACTERS})*+)>"
_STRING_CHARACTERS: Final = r"[^\"\\\n\r]*+"
_STRING: Final = rf"\"({_STRING_CHARACTERS}(?:(?:\\[tbnrf\"'\\]|{_ESCAPE}){_STRING_CHARACTERS})*+)\""
_LANGUAGE: Final = r"@([A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*)"
_TAG: Final = lazily(_LANGUAGE.removeprefix("@"))
_LINE: Final = lazily(
    rf"[ \t]*{_IRI}[ \t]*{_IRI}[ \t]*(?:{_IRI}|{_STRING}(?:\^\^{_IRI}|{_LANGUAGE})?)[ \t]*\.[ \t]*(?:#.*)?", re.DOTALL
)
_NOTHING: Final = lazily(r"[ \t]*(?:#.*)?", re.DOTALL)
_ABSOLUTE: Final = lazily(r"[A-Za-z][A-Za-z0-9+.-]*:")
_NOT_IN_IRI: Final = lazily(r"[\x00-\x20\x7f-\xa0\u2028\u2029<>\"{}|^`\\\ud800-\udfff]")
"""With the separators of Unicode, at which other readers cut lines."""
_ESCAPED: Final = lazily(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_MUST_ESCAPE: Final = lazily('["\\\\\x00-\x1f\x7f-\x9f\u2028\u2029]')
_SHORT: Final = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_LONG: Final = {char: f"\\{name}" for name, char in _SHORT.items() if name != "'"}
_SHOWN: Final = 80
_STRING_TYPE: Final = "http://www.w3.org/2001/XMLSchema#string"


def parse_line(line: str) -> Triple | None:
    """The triple on one line without its end; None on a line that says nothing. Raises Invalid with what is wrong."""
    match = _LINE.fullmatch(line)
    if match is None:
        if _NOTHING.fullmatch(line):
            return None
        raise Invalid(f"no triple: {_what_is_wrong(line)}", hint="Write: <subject> <predicate> <object> .")
    subject, predicate, iri, text, datatype, language = match.groups()
    if text is None:
        return Triple(_iri(subject), _iri(predicate), _iri(iri))
    kind = _iri(datatype) if datatype else ""
    value = Literal(_unescaped(text), "" if kind == _STRING_TYPE else kind, (language or "").lower())
    return Triple(_iri(subject), _iri(predicate), value)


def read_triples(text: str) -> tuple[list[Triple], list[BadLine]]:
    """All triples of a file, and the lines that are none: one bad line takes nothing away from the others."""
    found: list[Triple] = []
    bad: list[BadLine] = []
    # Not splitlines: other separators of Unicode may stand inside a literal.
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        try:
            triple = parse_line(line.removesuffix("\r"))
        except Invalid as error:
            bad.append(BadLine(number, error.message))
            continue
        if triple is not None:
            found.append(triple)
    return found, bad


def parse_triples(text: str, name: str) -> list[Triple]:
    """As `read_triples`, where every line must be right. Raises Damaged with the file's `name` and the line."""
    found, bad = read_triples(text)
    if bad:
        raise Damaged(f"{name}:{bad[0].line}: {bad[0].message}", hint="Mend that line, or take it out.")
    return found


def render_triple(triple: Triple) -> str:
    """One line without its end. Raises Invalid for what N-Triples cannot hold: a relative IRI, half a character."""
    return f"{render_term(triple.subject)} {render_term(triple.predicate)} {render_term(triple.object)} ."


def render_triples(triples: Iterable[Triple]) -> str:
    """The lines of a file: sorted, each once, each with its newline."""
    return "".join(f"{line}\n" for line in sorted({render_triple(triple) for triple in triples}))


def render_term(term: Term) -> str:
    """An IRI between angle brackets, a literal in quotes with its datatype or language. Raises Invalid."""
    if isinstance(term, str):
        if not _ABSOLUTE.match(term) or _NOT_IN_IRI.search(term):
            raise Invalid(f"'{term[:_SHOWN]}' is no absolute IRI", hint="Percent-encode what is no part of an IRI.")
        return f"<{term}>"
    try:
        term.text.encode()
    except UnicodeEncodeError as error:
        raise Invalid("a text holds bytes that are no UTF-8", hint="Give it as UTF-8.") from error
    quoted = '"' + _MUST_ESCAPE.sub(_escape, term.text) + '"'
    if term.language:
        if not _TAG.fullmatch(term.language):
            raise Invalid(f"'{term.language[:_SHOWN]}' is no language", hint="Write a tag such as en or zh-Hans.")
        return f"{quoted}@{term.language.lower()}"
    return f"{quoted}^^{render_term(term.datatype)}" if term.datatype else quoted


def _escape(match: re.Match[str]) -> str:
    return _LONG.get(match[0]) or f"\\u{ord(match[0]):04X}"


@lru_cache(1 << 14)
def _iri(written: str) -> str:
    iri = _unescaped(written) if "\\" in written else written
    if not _ABSOLUTE.match(iri) or _NOT_IN_IRI.search(iri):
        raise Invalid(f"'{iri[:_SHOWN]}' is no absolute IRI")
    return iri


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(_character, text) if "\\" in text else text


def _character(match: re.Match[str]) -> str:
    if match[3]:
        return _SHORT[match[3]]
    number = int(match[1] or match[2], 16)
    if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        raise Invalid(f"'{match[0]}' is no character")
    return chr(number)


def _what_is_wrong(line: str) -> str:
    shown = line.strip()[:_SHOWN]
    if re.match(r"[ \t]*(?:_:|<[^<>]*>[ \t]*(?:_:|<[^<>]*>[ \t]*_:))", line):
        return f"'{shown}' has a blank node, which no other file can name"
    if line.startswith(("<<<<<<<", "=======", ">>>>>>>", "|||||||")):
        return "a merge left its markers here"
    if not line.rstrip().endswith("."):
        return f"'{shown}' does not end in a full stop"
    return f"'{shown}'"
