"""Which entity a name means: (type, normalised name), within a project for what belongs to one; and its IRI.

Entity  make_entity  parse_entity_iri  page_iri

file       the path from the project's root, with /, without ./ and a line number; case matters
function   `Foo#bar(x)`, `Foo::bar` and `foo.bar` are one: separators become dots, arguments go, case is ignored
library    a package manager's name, with or without its prefix (`npm:`, `pypi:`), without a version. PyPI's rules
           make `Foo_Bar` and `foo.bar` one; scoped npm names, paths and Maven names only lose their capitals
person     case and a leading @ are ignored
the rest   case and repeated blanks are ignored
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from functools import lru_cache
from typing import Final
from urllib.parse import quote, unquote

from msgspec import Struct

from wikimem.errors import Invalid
from wikimem.graph.vocabulary import ENTITY_TYPES
from wikimem.text.lazyregex import lazily

LONGEST_NAME: Final = 500
"""Characters of an entity's name."""
_URN: Final = "urn:wikimem:"
_PAGE: Final = "urn:wikimem:page:"
_SAFE: Final = "/@+"
_LINE_NUMBER: Final = lazily(r"(?<=[^:/]):\d+(?::\d+)?$|#L\d+(?:-L?\d+)?$")
_ARGUMENTS: Final = lazily(r"\s*\([^()]*\)\s*$")
_ECOSYSTEM: Final = lazily(
    r"(?:npm|pypi|pip|cargo|crate|crates|gem|go|maven|nuget|composer|hex|deno|jsr):(?=.)", re.IGNORECASE
)
_VERSION: Final = lazily(r"(?<=[^@/])(?:@[^@/]*|\s*(?:[=~!<>^]=?|===?)\s*v?\d[^/]*)$")


class Entity(Struct, frozen=True):
    """`key` is the normalised name, `label` the name as it was written; `project` is None for global types."""

    type: str
    key: str
    project: str | None
    label: str

    @property
    def iri(self) -> str:
        scope = f"{_quoted(self.project or '')}:" if ENTITY_TYPES[self.type].scoped else ""
        return f"{_URN}{self.type}:{scope}{_quoted(self.key)}"

    @property
    def address(self) -> str:
        """`type:name`, as an ENTITY is written."""
        return f"{self.type}:{self.label}"


def make_entity(type: str, name: str, project: str | None = None) -> Entity:
    """The entity of that type and name. Raises Invalid for an unknown type and for what is no name."""
    kind = ENTITY_TYPES.get(type)
    if kind is None:
        raise Invalid(f"there is no entity type '{type}'", hint=f"Choose one of: {', '.join(ENTITY_TYPES)}.")
    label = " ".join(unicodedata.normalize("NFC", name).split())
    key = normalised(type, label)
    if not key or len(label) > LONGEST_NAME or not _is_text(label):
        raise Invalid(
            f"'{name[:40]!s}' is no name for a {type}".encode("utf-8", "replace").decode(),
            hint=f"Give one line of 1 to {LONGEST_NAME} characters.",
        )
    return Entity(type, key, project.casefold() if project and kind.scoped else None, label)


def normalised(type: str, label: str) -> str:
    """The name of an entity as it is compared; `label` is NFC with single blanks."""
    if type == "file":
        return _path(label)
    if type == "function":
        return _function(label)
    if type == "library":
        return _library(label)
    name = label.casefold()
    return name.removeprefix("@").strip() if type == "person" else name


@lru_cache(1 << 14)
def parse_entity_iri(iri: str) -> Entity | None:
    """The entity of an IRI that `Entity.iri` gave, with its key for a label; None for any other IRI."""
    if not iri.startswith(_URN):
        return None
    type_name, _, rest = iri.removeprefix(_URN).partition(":")
    kind = ENTITY_TYPES.get(type_name)
    if kind is None or not rest:
        return None
    project = ""
    if kind.scoped:
        project, _, rest = rest.partition(":")
    key = unquote(rest)
    return Entity(type_name, key, unquote(project) or None, key) if key else None


def page_iri(page_id: str) -> str:
    """The IRI of a page, and of what it says as a source."""
    return _PAGE + page_id


def page_id_of(iri: str) -> str | None:
    """The id of the page that an IRI names, as a whole or by one of its blocks."""
    return iri.removeprefix(_PAGE).partition("#")[0] if iri.startswith(_PAGE) else None


def quoted_iri(text: str) -> str:
    """`text` with everything percent-encoded that no IRI may hold; what is encoded already stays."""
    return quote(text, safe=":/?#[]@!$&'()*+,;=%-._~")


def _quoted(text: str) -> str:
    return quote(text, safe=_SAFE)


def _is_text(label: str) -> bool:
    return not any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in label)


def _path(label: str) -> str:
    path = _LINE_NUMBER.sub("", label.replace("\\", "/"))
    path = posixpath.normpath(path.removeprefix("file:")) if path else ""
    return "" if path in (".", "/") else path.removeprefix("./")


def _function(label: str) -> str:
    name = _ARGUMENTS.sub("", label)
    return re.sub(r"::|->|#", ".", name).strip(".").strip().casefold()


def _library(label: str) -> str:
    name = _VERSION.sub("", _ECOSYSTEM.sub("", label)).strip().casefold()
    # Scoped names of npm, paths of Go, groups of Maven: there the punctuation tells packages apart.
    return name if name.startswith("@") or "/" in name or ":" in name else re.sub(r"[-_.]+", "-", name).strip("-")
