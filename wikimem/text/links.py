"""Links as people write them, with their offsets: wikilinks, embeds, Markdown links, inline fields.

    find_links  links_in_value  parse_wikilink  rewrite_link

Obsidian's rules, with Foam's reference definitions. Nothing is a link inside code, comments or display math. A target
with a scheme (`https:`, `obsidian:`) is no page and is left out, as are Obsidian's searches (`[[##x]]`, `[[^^x]]`).
Targets are as written, decoded: which page one means is for the index to say.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote, unquote

from msgspec.structs import replace

from wikimem.errors import Invalid
from wikimem.model.page import Link
from wikimem.text.blocks import DEFINITION, Line, Paragraph, Scan, Span, scan
from wikimem.text.lazyregex import lazily

_LONGEST_KEY: Final = 40
_MOST_KEY_WORDS: Final = 4
"""A longer key is a sentence that happens to hold `::`, not a field."""

_WIKILINK: Final = lazily(r"(!?)\[\[([^\[\]\r\n]+)\]\]")
_AFTER_TARGET: Final = lazily(r"\\?\||#")
"""A table cell needs its pipes escaped."""
_TOKEN: Final = lazily(r"\\.|[\[\]()]")
_INNER: Final = r"(?:[^\s()\\]|\\.)"
_DESTINATION: Final = lazily(
    rf"\([ \t]*+(<[^<>\r\n]*>|(?!<)(?:{_INNER}|\({_INNER}*+\))*+)"
    r"(?:[ \t]++(?:\"[^\"\r\n]*\"|'[^'\r\n]*'|\([^()\r\n]*\)))?[ \t]*+\)"
)
_KEY: Final = r"([^\[\]()\r\n:|`]{1,80})::(?=[\s\[!*_]|\Z)"
_LINE_FIELD: Final = lazily(rf"(?:\[[^\]\r\n]\][ \t]++)?{_KEY}")
_BRACKET_FIELD: Final = lazily(rf"[\[(]{_KEY}")
_PLAIN_KEY: Final = lazily(r"[^\W_][\w /-]*")
_SCHEME: Final = lazily(r"[A-Za-z][A-Za-z0-9+.-]*:")
_URL: Final = lazily(r"[A-Za-z][A-Za-z0-9+.-]*://")
_ESCAPED: Final = lazily(r"\\([!-/:-@\[-`{-~])")
_PATH_MARK: Final = lazily(r"[./#<]")
_NO_TARGET: Final = lazily(r"[\[\]|#\r\n`]")


def find_links(text: str, start: int = 0) -> tuple[Link, ...]:
    """Links of `text[start:]` to pages and files, in order; `text[link.start:link.end]` is the whole link.

    Inside an inline field (`uses:: [[jose]]`, `[uses:: [[jose]]]`, `(uses:: [[jose]])`) the kind is the field's key in
    lower case with dashes, where that key has at most 40 characters and four words.
    """
    page = scan(text, start)
    reader = _Reader(text, page)
    for paragraph in page.paragraphs:
        if text.find("[", page.lines[paragraph.first].content, page.lines[paragraph.last].end) >= 0:
            reader.read(paragraph)
    return tuple(sorted(reader.links, key=lambda link: link.start))


def links_in_value(key: str, value: str, *, start: int = 0, line: int = 0) -> tuple[Link, ...]:
    """Wikilinks in one frontmatter value; their kind is `key`. `start` is where the value stands in the page's text."""
    found = (_wikilink(match, start + match.start(), start + match.end(), line) for match in _WIKILINK.finditer(value))
    return tuple(replace(link, kind=key) for link in found if link)


def parse_wikilink(text: str) -> Link | None:
    """The link that `text` is as a whole, with brackets or bare: `[[a/b#h|c]]`, `a/b#h`. None where it is none."""
    stripped = text.strip()
    start = text.find(stripped)
    match = _WIKILINK.fullmatch(stripped) or _WIKILINK.fullmatch(f"[[{stripped}]]")
    return _wikilink(match, start, start + len(stripped), 0) if match else None


def _wikilink(match: re.Match[str], start: int, end: int, line: int) -> Link | None:
    target, rest = _split(match[2])
    target = target.strip()
    fragment, alias = "", ""
    if rest.startswith("#"):
        fragment, _, alias = rest[1:].partition("|")
        fragment = fragment.removesuffix("\\") if "|" in rest else fragment
    elif rest:
        alias = rest.partition("|")[2]
    fragment = fragment.strip()
    if not (target or fragment) or _URL.match(target) or (not target and fragment[0] == "#") or target[:2] == "^^":
        return None
    return Link(target, "embed" if match[1] else "wikilink", start, end, fragment, alias.strip(), line)


def _split(inner: str) -> tuple[str, str]:
    """What stands between a wikilink's brackets: the target with its white space, and the rest from `#` or `|` on."""
    mark = _AFTER_TARGET.search(inner)
    return (inner[: mark.start()], inner[mark.start() :]) if mark else (inner, "")


def _page_target(destination: str) -> tuple[str, str] | None:
    """Target and fragment of a Markdown link's destination as written; None where it leads outside the vault."""
    if destination.startswith("<"):
        destination = destination[1:-1]
    destination = _ESCAPED.sub(r"\1", destination)
    if _SCHEME.match(destination) or destination.startswith("//"):
        return None
    target, _, fragment = destination.partition("#")
    target, fragment = _decoded(target).strip(), _decoded(fragment).strip()
    return (target, fragment) if target or fragment else None


def _decoded(text: str) -> str:
    """Percent-decoded; text whose escapes are not UTF-8 names a file that holds a percent sign."""
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        return text


def _field_key(text: str) -> str:
    """The key in Dataview's normal form, or nothing where the words are too many to be one."""
    key = text.strip(" \t*_~=")
    if len(key) > _LONGEST_KEY or len(key.split()) > _MOST_KEY_WORDS or not _PLAIN_KEY.fullmatch(key):
        return ""
    return "-".join(key.lower().split())


class _Opener:
    """A `[` or `(` that is not closed yet; `key` where it begins an inline field on the line `line`."""

    __slots__ = ("first_link", "key", "line", "position")

    def __init__(self, position: int, line: int, key: str, first_link: int) -> None:
        self.position, self.line, self.key, self.first_link = position, line, key, first_link


class _Reader:
    def __init__(self, text: str, page: Scan) -> None:
        self.text, self.page = text, page
        self.links: list[Link] = []
        self.skipped: list[Span] = sorted(page.hidden + page.wikilinks)
        self.next_skip = 0
        self.wikilinks = frozenset(page.wikilinks)
        self.squares: list[_Opener] = []
        self.rounds: list[_Opener] = []
        self.outside = 0
        """How many of `squares` hold a link already and so cannot be one."""
        self.fieldless: list[int] = []
        """Indices of this line's links that no field has claimed, rising."""

    def read(self, paragraph: Paragraph) -> None:
        self.squares, self.outside = [], 0
        first = self.page.lines[paragraph.first]
        # The scan keeps definitions in paragraphs of their own.
        defining = not paragraph.level and DEFINITION.match(self.text, first.content, first.end) is not None
        for index in range(paragraph.first, paragraph.last + 1):
            if not (defining and self._definition(self.page.lines[index], index)):
                self._line(self.page.lines[index], index)

    def _definition(self, line: Line, index: int) -> bool:
        """Reads `[label]: path.md "title"`. A bare word after the colon is prose, such as `[TODO]: later`."""
        match = DEFINITION.match(self.text, line.content, line.end)
        if match is None or not (match[3] or _PATH_MARK.search(match[2])):
            return False
        if (found := _page_target(match[2])) and self._skip_at(match.start()) is None:
            end = match.end(3) if match[3] else match.end()
            self._add(Link(found[0], "markdown", match.start(), end, found[1], match[1].strip(), self._at(index)))
        return True

    def _at(self, index: int) -> int:
        return self.page.first_line + index

    def _add(self, link: Link) -> None:
        self.fieldless.append(len(self.links))
        self.links.append(link)

    def _skip_at(self, position: int) -> Span | None:
        """The hidden span or wikilink that holds `position`; positions are asked in rising order."""
        while self.next_skip < len(self.skipped) and self.skipped[self.next_skip][1] <= position:
            self.next_skip += 1
        if self.next_skip < len(self.skipped) and self.skipped[self.next_skip][0] <= position:
            return self.skipped[self.next_skip]
        return None

    def _line(self, line: Line, index: int) -> None:
        text, position = self.text, line.content
        self.rounds, self.fieldless = [], []
        field = _LINE_FIELD.match(text, position, line.end)
        while token := _TOKEN.search(text, position, line.end):
            position = token.end()
            if skip := self._skip_at(token.start()):
                position = max(position, skip[1])
                match = _WIKILINK.fullmatch(text, *skip) if skip in self.wikilinks else None
                if match and (link := _wikilink(match, *skip, self._at(index))):
                    self._add(link)
                continue
            mark = token[0]
            if mark in "[(":
                found = _BRACKET_FIELD.match(text, token.start(), line.end)
                key = _field_key(found[1]) if found else ""
                opener = _Opener(token.start(), index, key, len(self.links))
                (self.squares if mark == "[" else self.rounds).append(opener)
            elif mark == ")" and self.rounds:
                self._close_field(self.rounds.pop())
            elif mark == "]" and self.squares:
                position = self._close_square(position, line, index)
        if field and (key := _field_key(field[1])):
            self._claim(key, 0)

    def _close_square(self, position: int, line: Line, index: int) -> int:
        """After a `]`: a Markdown link, or the end of a field. Returns where reading goes on."""
        opener = self.squares.pop()
        may_link = len(self.squares) >= self.outside
        self.outside = min(self.outside, len(self.squares))
        match = _DESTINATION.match(self.text, position, line.end) if may_link else None
        if match is None:
            if opener.line == index:
                self._close_field(opener)
            return position
        image = self.text[opener.position - 1 : opener.position] == "!" and opener.position > line.start
        if not image:
            self.outside = len(self.squares)
        if found := _page_target(match[1]):
            alias = " ".join(self.text[opener.position + 1 : position - 1].split())
            kind, first = ("embed", opener.position - 1) if image else ("markdown", opener.position)
            self._add(Link(found[0], kind, first, match.end(), found[1], alias, self._at(opener.line)))
        return match.end()

    def _close_field(self, opener: _Opener) -> None:
        if opener.key:
            self._claim(opener.key, opener.first_link)

    def _claim(self, key: str, first_link: int) -> None:
        """Links from `first_link` on that no inner field has claimed belong to `key`; each is claimed once."""
        while self.fieldless and self.fieldless[-1] >= first_link:
            at = self.fieldless.pop()
            self.links[at] = replace(self.links[at], kind=key)


def rewrite_link(text: str, link: Link, new_target: str) -> str:
    """The source of `link` with another target; alias, fragment, embed mark, escapes and encoding stay as they are.

    Raises Invalid for a target that the link's form cannot hold.
    """
    source = text[link.start : link.end]
    target = new_target.strip()
    if not target or _NO_TARGET.search(target):
        raise Invalid(f"'{new_target}' cannot be the target of a link", hint="Leave out [ ] | # ` and line breaks.")
    if match := _WIKILINK.fullmatch(source):
        if _URL.match(target):
            raise Invalid(f"'{target}' is no page: a wikilink cannot hold a URL", hint="Name a page.")
        old, rest = _split(match[2])
        before, after = old[: len(old) - len(old.lstrip())], old[len(old.rstrip()) :] if old.strip() else ""
        return f"{match[1]}[[{before}{target}{after}{rest}]]"
    if definition := DEFINITION.match(source):
        written = _with_target(definition[2], target)
        if not (definition[3] or _PATH_MARK.search(written)):
            written = f"<{written}>"
        first, last = definition.span(2)
    else:
        first, last = _destination_span(source)
        written = _with_target(source[first:last], target)
    return source[:first] + written + source[last:]


def _destination_span(source: str) -> Span:
    """Where the destination stands in the source of a Markdown link."""
    position = source.find("](")
    while position >= 0:
        if match := _DESTINATION.fullmatch(source, position + 1):
            return match.span(1)
        position = source.find("](", position + 1)
    raise Invalid(f"'{source}' is not a link", hint="Read the page again: its text has changed.")


def _with_target(destination: str, target: str) -> str:
    bracketed = destination.startswith("<")
    path, mark, fragment = destination.strip("<>").partition("#") if bracketed else destination.partition("#")
    ascii_only = path.isascii() and re.search(r"%[89A-Fa-f][0-9A-Fa-f]", path) is not None
    if bracketed:
        written = re.sub(r"[%<>\\]", lambda match: quote(match[0]), target)
    elif ascii_only:
        written = quote(target, safe="/!$&'*+,;=@~")
    else:
        written = re.sub(r"[\s%<>()\\\"?:]", lambda match: quote(match[0], safe=""), target)
    if written.startswith("//"):
        written = "%2F" + written[1:]
    if _SCHEME.match(written):
        written = written.replace(":", "%3A", 1)
    if not bracketed and fragment.count("(") != fragment.count(")"):
        fragment = fragment.replace("(", "%28").replace(")", "%29")
    return f"<{written}{mark}{fragment}>" if bracketed else f"{written}{mark}{fragment}"
