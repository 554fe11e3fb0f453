"""What in a sentence names a thing, and the sentence with each such name put as one sign, so that rules can be short.

names_in(sentence, known) -> Coded
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from wikimem.graph.extraction.found import Named
from wikimem.graph.extraction.wellknown import CAPITALISED, LIBRARIES

OPEN: Final = "\ue000"
CLOSE: Final = "\ue001"
MENTION: Final = rf"{OPEN}\d+{CLOSE}"
"""A name in coded text; its number is its place in `Coded.named`."""

Known = Mapping[str, Named]
"""Names by their casefolded form: titles and aliases of pages about entities."""

_EXTENSIONS: Final = """
    py pyi js jsx mjs cjs ts tsx mts cts vue svelte go rs rb java kt kts scala c h cc cpp hpp cs swift php sh
    bash zsh sql prisma graphql proto html css scss sass json jsonc yaml yml toml ini cfg conf env lock md mdx
    txt xml gradle tf dart ex exs erl clj lua r jl ipynb
    """.split()  # noqa: SIM905
_FILE: Final = re.compile(
    rf"(?<![\w/@:.])(?:\.{{0,2}}/)?(?:[\w.@\[\]-]+/)*[\w@\[\]-][\w.@\[\]-]*\.(?:{'|'.join(_EXTENSIONS)})(?::\d+(?::\d+)?)?"
    r"(?![\w/])|(?<![\w/])(?:Dockerfile|Makefile|Jenkinsfile|Gemfile|Procfile)(?![\w/])"
)
_FUNCTION: Final = re.compile(r"(?<![\w.])[A-Za-z_$][\w$]*(?:(?:\.|::|#)[A-Za-z_$][\w$]*)*\(\)")
_CODE_FUNCTION: Final = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|#|->)[A-Za-z_$][\w$]*)*\([^()`]{0,60}\)")
_ERROR: Final = re.compile(
    r"(?<![\w.])(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Panic)(?![A-Za-z0-9_(])"
    r"|(?<!\w)E(?:ACCES|ADDRINUSE|AGAIN|BADF|BUSY|CONNABORTED|CONNREFUSED|CONNRESET|EXIST|HOSTUNREACH|INVAL|IO|ISDIR"
    r"|MFILE|NOENT|NOSPC|NOTDIR|NOTEMPTY|NOTFOUND|PERM|PIPE|RESOLVE|TIMEDOUT|XDEV)(?![A-Za-z0-9_])"
    r"|(?<!\w)ERR_[A-Z][A-Z0-9_]{3,}|(?<!\w)ORA-\d{4,5}|(?<!\w)(?:TS|CS|SQLSTATE |P|E|C|LNK)\d{4}(?![A-Za-z0-9_])"
)
_HANDLE: Final = re.compile(r"(?<![\w`/.@])@[A-Za-z][\w-]{1,38}(?![\w/.-])")
_WIKILINK: Final = re.compile(r"!?\[\[([^\[\]|#\n]+)(?:#[^\[\]|\n]*)?(?:\|([^\[\]\n]*))?\]\]")
_CODE: Final = re.compile(r"(?<!`)(`{1,2})(?!`)(.+?)(?<!`)\1(?!`)")
_SCOPED: Final = re.compile(r"(?<![\w/@])@[a-z0-9][\w.-]*/[a-z0-9][\w.-]*")
_URL: Final = re.compile(r"https?://[^\s)>\]]+")


@dataclass(slots=True)
class Coded:
    """`text` is the sentence with signs for names; `named` what they name, `written` how that was written.

    A name whose type is not known is a `concept` and in `vague`: it counts only where a rule expects a name.
    """

    text: str = ""
    named: list[Named] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    vague: set[int] = field(default_factory=set)

    def put(self, named: Named, written: str, *, vague: bool = False) -> str:
        """Keep a name, and give the sign for it."""
        if vague:
            self.vague.add(len(self.named))
        self.named.append(named)
        self.written.append(written)
        return f"{OPEN}{len(self.named) - 1}{CLOSE}"

    def numbers(self, text: str) -> list[int]:
        """The names in a piece of coded text, in order."""
        return [int(number) for number in re.findall(rf"{OPEN}(\d+){CLOSE}", text)]

    def plain(self, text: str) -> str:
        """A piece of coded text with the names as a reader wants them: without code marks and brackets."""
        return re.sub(rf"{OPEN}(\d+){CLOSE}", lambda match: self.named[int(match[1])].name, text)


def names_in(sentence: str, known: Known) -> Coded:
    """Find what a sentence names. `known` are the names that the vault's pages introduce."""
    coded = Coded()
    text = sentence.replace(OPEN, " ").replace(CLOSE, " ")
    text = _URL.sub(lambda match: coded.put(Named("concept", match[0]), match[0], vague=True), text)
    text = _WIKILINK.sub(lambda match: _link(coded, match, known), text)
    text = _CODE.sub(lambda match: _code(coded, match, known), text)
    for pattern, kind in ((_FILE, "file"), (_FUNCTION, "function"), (_ERROR, "error"), (_SCOPED, "library")):
        text = pattern.sub(_keeping(coded, kind), text)
    text = _HANDLE.sub(lambda match: coded.put(known.get(match[0][1:].casefold()) or person(match[0]), match[0]), text)
    text = _known_names(coded, text, known)
    coded.text = _well_known(coded, text)
    return coded


def person(name: str) -> Named:
    """A person by a handle or a name."""
    return Named("person", name.removeprefix("@"))


def classified(code: str, known: Known) -> Named | None:
    """What a piece of code names, by its shape or because it is known; None where that cannot be told."""
    text = code.strip()
    if text.casefold() in known:
        return known[text.casefold()]
    if _FILE.fullmatch(text) and not _library(text):
        return Named("file", re.sub(r":\d+(?::\d+)?$", "", text))
    if _CODE_FUNCTION.fullmatch(text):
        return Named("function", re.sub(r"\(.*\)$", "()", text))
    if _ERROR.fullmatch(text):
        return Named("error", text)
    if _SCOPED.fullmatch(text):
        return Named("library", text)
    library = _library(text)
    return Named("library", library) if library else None


def _keeping(coded: Coded, kind: str) -> Callable[[re.Match[str]], str]:
    def keep(match: re.Match[str]) -> str:
        name = re.sub(r":\d+(?::\d+)?$", "", match[0]) if kind == "file" else match[0]
        if kind == "file" and _library(name):
            return match[0]
        return coded.put(Named(kind, name), match[0])

    return keep


def _link(coded: Coded, match: re.Match[str], known: Known) -> str:
    target = match[1].strip().rsplit("/", 1)[-1].removesuffix(".md")
    named = known.get(target.casefold()) or known.get(match[1].strip().casefold())
    return coded.put(named or Named("concept", target), match[0], vague=named is None)


def _code(coded: Coded, match: re.Match[str], known: Known) -> str:
    named = classified(match[2], known)
    return coded.put(named or Named("concept", match[2].strip()), match[0], vague=named is None)


def _known_names(coded: Coded, text: str, known: Known) -> str:
    pattern = _pattern(tuple(sorted(name for name in known if len(name) >= 3)))
    if pattern is None:
        return text

    def keep(match: re.Match[str]) -> str:
        named = known[match[0].casefold()]
        # A name of everyday words is a name only as it is written, with its capitals.
        if named.type not in ("library", "person", "file", "function") and match[0] != named.name:
            return match[0]
        return coded.put(named, match[0])

    return pattern.sub(keep, text)


@lru_cache(4)
def _pattern(names: tuple[str, ...]) -> re.Pattern[str] | None:
    if not names:
        return None
    longest = sorted(names, key=len, reverse=True)
    return re.compile(rf"(?<![\w@/.-])(?:{'|'.join(map(re.escape, longest))})(?![A-Za-z0-9_/@-]|\.\w)", re.IGNORECASE)


_SPELT: Final = {name.casefold(): name for name in LIBRARIES}
_WELL_KNOWN: Final = re.compile(
    rf"(?<![\w@/.-])(?:(?i:{'|'.join(re.escape(name) for name in sorted(LIBRARIES, key=len, reverse=True))})"
    rf"|(?<=[^\s.!?:] )(?:{'|'.join(sorted(CAPITALISED))})|(?:{'|'.join(sorted(CAPITALISED))})(?=\s?[가-힣]))"
    r"(?![A-Za-z0-9_/@-]|\.\w)"
)


def _library(text: str) -> str | None:
    return _SPELT.get(text.casefold()) or (text if text in CAPITALISED else None)


def _well_known(coded: Coded, text: str) -> str:
    return _WELL_KNOWN.sub(
        lambda match: coded.put(Named("library", _SPELT.get(match[0].casefold(), match[0])), match[0]), text
    )
