"""What only the pages' own text shows: property types across the vault, pages that say the same, block ids."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from wikimem.model.hit import PageRow
from wikimem.model.page import Metadata, Problem, PropertyValue
from wikimem.text.dates import parse_iso
from wikimem.text.frontmatter import read_frontmatter
from wikimem.text.markdown import hidden_spans, within

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

TEXT_RULES: Final = ("mixed-property-type", "near-duplicate", "duplicate-block-id")
"""Rules for which every page is read."""

NEAR: Final = 0.85
"""Share of five-word runs that two pages have in common, of all that either has, from which they say the same."""
LEAST_WORDS: Final = 40
"""Shorter pages are alike by accident; only equal ones of at least `LEAST_EQUAL` characters are reported."""
LEAST_EQUAL: Final = 80

_RUN: Final = 5
_SKETCH: Final = 48
_SHARED: Final = 24
_MOST_OF_A_RUN: Final = 50
"""Pages with one run of words; more of them share a template's words, which says nothing."""

_BLOCK_ID: Final = re.compile(r"(?:^|(?<=\s))\^(?P<id>[A-Za-z0-9-]+)[ \t]*$", re.MULTILINE)
_NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?", re.ASCII)
_TYPES_FILE: Final = ".obsidian/types.json"
_ANY: Final = ("text", "list", "number", "checkbox", "date")
_FITTING: Final[Mapping[str, Collection[str]]] = {
    "text": ("text", "number", "checkbox", "date"),
    "multitext": _ANY,
    "tags": _ANY,
    "aliases": _ANY,
    "number": ("number",),
    "checkbox": ("checkbox",),
    "date": ("date",),
    "datetime": ("date",),
}
"""Obsidian's type of a property -> what values of it may look like. A single text in a list is shown as a list."""

_OWN_KEYS: Final = frozenset(Metadata.__struct_fields__) | {"tag", "alias", "cssclasses", "cssclass"}
"""Read by wikimem's schema, which reports values that do not fit, or by Obsidian as lists in either form."""


class _Use(Struct, frozen=True):
    """One page's value of a property: what it looks like, and where it stands."""

    kind: str
    path: str
    line: int | None
    name: str


def check_texts(wiki: Wiki, rows: Sequence[PageRow]) -> Iterator[Problem]:
    """All problems of `TEXT_RULES`; reads every page once."""
    uses: dict[str, list[_Use]] = defaultdict(list)
    likeness = _Likeness(lambda path: _body(wiki, path))
    for row in rows:
        text = _text(wiki, row.path)
        head = read_frontmatter(text, row.path)
        yield from check_block_ids(row.path, text, head.body_start)
        for key, value in head.properties.items():
            if kind := kind_of(value):
                uses[key.casefold()].append(_Use(kind, row.path, head.lines.get(key), key))
        if row.status == "active" and row.type != "session":
            likeness.add(row, text[head.body_start :])
    yield from _mixed_types(uses, _obsidian_types(wiki))
    yield from likeness.problems()


def _text(wiki: Wiki, path: str) -> str:
    """The page as it is on disk, without the links and headings that `Wiki.read_page` looks for; empty where it is gone
    or no text, which other rules report."""
    try:
        return (wiki.root / path).read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _body(wiki: Wiki, path: str) -> str:
    text = _text(wiki, path)
    return text[read_frontmatter(text, path).body_start :]


def kind_of(value: PropertyValue) -> str:
    """What a property's value looks like: list, number, checkbox, date or text; empty where there is none."""
    if isinstance(value, tuple):
        return "list" if value else ""
    text = (value or "").strip()
    if not text:
        return ""
    if text.lower() in ("true", "false"):
        return "checkbox"
    if _NUMBER.fullmatch(text):
        return "number"
    return "date" if re.match(r"\d{4}-\d\d-\d\d", text) and parse_iso(text) else "text"


def _mixed_types(uses: Mapping[str, list[_Use]], types: Mapping[str, str]) -> Iterator[Problem]:
    """One problem for each property: at the first page that is unlike the others, or unlike the vault's settings."""
    for key, found in sorted(uses.items()):
        kinds = Counter(use.kind for use in found)
        told = types.get(key, "")
        if key in _OWN_KEYS:
            continue
        if told in _FITTING:
            odd = [use for use in found if use.kind not in _FITTING[told]]
            expected = f"is of the type {told} in {_TYPES_FILE}"
        elif len(kinds) == 1:
            continue
        else:
            usual = kinds.most_common(1)[0][0]
            odd = [use for use in found if use.kind != usual]
            expected = f"is a {usual} on {kinds[usual]} pages"
        if odd:
            others = f", as on {len(odd) - 1} more pages" if len(odd) > 1 else ""
            first = odd[0]
            message = f"`{first.name}` {expected} and a {first.kind} here{others}"
            yield Problem("mixed-property-type", first.path, message, first.line)


def _obsidian_types(wiki: Wiki) -> dict[str, str]:
    """The types that the vault's settings of Obsidian give, by property; none where they cannot be read."""
    try:
        document: Any = json.loads((wiki.root / _TYPES_FILE).read_bytes())
        types = document["types"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    if not isinstance(types, dict):
        return {}
    return {key.casefold(): kind for key, kind in types.items() if isinstance(kind, str)}


def check_block_ids(path: str, text: str, start: int) -> Iterator[Problem]:
    """Block ids that a page has twice; its body begins at `start`."""
    found = list(_BLOCK_ID.finditer(text, start))
    counts = Counter(match["id"] for match in found)
    if all(count == 1 for count in counts.values()):
        return
    hidden = hidden_spans(text, start)
    seen: set[str] = set()
    for match in found:
        if within(hidden, match.start()):
            continue
        if match["id"] in seen:
            line = text.count("\n", 0, match.start()) + 1
            yield Problem("duplicate-block-id", path, f"the block id '^{match['id']}' is there already", line)
        seen.add(match["id"])


class _Likeness:
    """Finds pages that say the same. Of each page a sketch of its five-word runs is kept, not its text."""

    def __init__(self, read: Callable[[str], str]) -> None:
        self._read = read
        self._equal: dict[bytes, PageRow] = {}
        self._pages: dict[int, list[PageRow]] = defaultdict(list)
        self._found: list[Problem] = []

    def add(self, row: PageRow, body: str) -> None:
        """Compare a page with those before it."""
        words = _words(body)
        plain = " ".join(words)
        if len(plain) < LEAST_EQUAL:
            return
        digest = blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        other = self._equal.setdefault(digest, row)
        if other is not row:
            self._report(row, other, "says the same as")
            return
        if len(words) < LEAST_WORDS:
            return
        runs = _runs(words)
        sketch = sorted(runs)[:_SKETCH]
        met = Counter(
            earlier.path for each in sketch if len(self._pages[each]) <= _MOST_OF_A_RUN for earlier in self._pages[each]
        )
        rows = {earlier.path: earlier for each in sketch for earlier in self._pages[each]}
        for path, shared in met.most_common():
            if shared < _SHARED:
                break
            others = _runs(_words(self._read(path)))
            common = len(runs & others) / len(runs | others)
            if common >= NEAR:
                self._report(row, rows[path], f"shares {common:.0%} of its words' order with")
                break
        for each in sketch:
            self._pages[each].append(row)

    def _report(self, row: PageRow, other: PageRow, how: str) -> None:
        if row.id != other.id:
            self._found.append(Problem("near-duplicate", row.path, f"{how} '{other.path}'"))

    def problems(self) -> Iterable[Problem]:
        return self._found


def _runs(words: Sequence[str]) -> frozenset[int]:
    return frozenset(_hash(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1))


def _words(body: str) -> list[str]:
    """Words in lower case; where a script writes none apart, its characters."""
    text = unicodedata.normalize("NFC", body).casefold()
    return re.findall(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+", text)


def _hash(words: Sequence[str]) -> int:
    return int.from_bytes(blake2b(" ".join(words).encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
