"""Secrets known by what stands before them: `DB_PASSWORD=...`, `"token": "..."`, "the password is ...".

Three questions, in this order: is this the name of a secret (`redact_names`), does the text connect it to a value
(here), and is that value a secret (`redact_values`).
"""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Iterator

from wikimem.text.redact_names import CJK_PASSWORDS, CJK_SECRETS, MAX_NAME, NAME_CHARS, STEMS, kind_of_name
from wikimem.text.redact_rules import LEFT
from wikimem.text.redact_values import Place, compiled, is_secret, looks_random

_QUOTE = r"(?:\\{0,15}(?:\"\"\"|'''|[\"'`])|&quot;|&#3[49];)"
_CLOSE = rf"(?:{_QUOTE}|\*\*|__)?(?:\]|\}})?[?!]?"
_BE = (
    r"(?:(?:(?:is|was|has been|to be|should be|will be)[ ])?(?:(?:now|still|currently|just)[ ])?"
    r"(?:set|changed|reset|updated|rotated)[ ](?:to|as)"
    r"|will be|should be|is|was|are|be|becomes|equals?|=|ist|lautet|est|es|to|это)"
)
_AFTER = (
    rf"(?P<close>{_CLOSE})(?:[ ]\d{{1,2}}(?=[ ]?[:=]))?(?:[ \t]{{0,3}}\([^()\n]{{0,40}}\))?"
    r"(?:(?:[ \t]+(?:for|of|on|in|at|to|from)(?:[ \t]+(?!is\b|was\b)[\w@./'\-]{1,30}){1,4}?)??"
    r"(?:"
    rf"(?P<pair>\\*[\"']?(?:,?\s{{1,40}}|[ \t]{{0,8}}:?[ \t]{{0,8}}\{{[^{{}}]{{0,200}}?(?<![\w.\-]))(?:\\*[\"'])?"
    rf"(?:[Vv]alue|default)(?:\\*[\"'])?[ \t]{{0,8}}[:=][ \t]{{0,8}})"
    r"|(?P<strong>[ \t]{0,16}(?::=|=>|->|={1,3}|!={1,2}|:|%3[AaDd]|\u2192)(?:\*\*|__)?[ \t]{0,16})"
    r"|(?P<default>[)\]]{0,2}[ \t]{1,3}(?:\|\||\?\?|or)[ \t]{1,3}(?=[\"'`])|[ \t]{0,3},[ \t]{0,3}(?=[bru]?[\"']))"
    r"|(?P<josa>[은는이가을를]{1,2}[ \t]{1,3}:?[ \t]{0,3})"
    rf"|(?P<prose>[ \t]+(?i:{_BE})(?:[ \t]+(?:now|still|currently|just|simply|only))?[ \t]*:?[ \t]+)"
    r"|(?P<cell>[ \t]{1,40}\|[ \t]{1,40}))"
    r"|(?P<gap>[ \t]{1,3})|(?P<below>[ \t]*\r?\n(?:[ \t]*\r?\n)?[ \t]{0,8}`?))"
)
_TYPED = r"[&*]{0,2}[A-Za-z_][\w.\[\]|, ?]{0,40}?[ \t]{0,4}=[ \t]{0,4}(?=[bru]{0,2}[\"'`])"
_NEXT_LINE = (
    r"[ \t]*\n[ \t]*(?:\n[ \t]*)?(?:```\w*\n[ \t]*|[-*>][ \t]+)?"
    r"(?P<v>(?P<q>[`\"']?)[^\s\"'`<>]{8,300}(?P=q))[ \t]*(?=\n|$)"
)
_BLOCK = r"[|>][+\-0-9]{0,2}[ \t]*(?:#[^\n]*)?\r?\n"
_OPEN = rf"(?P<list>\[\s{{0,8}})?[bBrRuU]{{0,2}}(?P<q>{_QUOTE})"
_REACH = 8_192  # characters of a list, of a literal or of a block that are looked through
MAX_BARE = 400  # characters; an unquoted run as long as that is no word, and after such a name it is a secret
# Chinese, Japanese and Korean words follow a value without a blank.
_BARE_CHAR = r"[^\s\"'`<>\u3000-\u9fff\uac00-\ud7a3]"
_BARE = rf"{_BARE_CHAR}{{1,{MAX_BARE}}}+"
_LONG_BARE = rf"{_BARE_CHAR}*+"
_CJK_AFTER = (
    r"(?!화|학)(?:[ ]?\([^()\n]{0,30}\))?"
    r"[ \t]{0,3}(?:[\uac00-\ud7a3]{1,3}(?P<then>[ ][\uac00-\ud7a3]{1,4})?"
    r"|[\u3040-\u309f]{1,4}|[是为為改成了]{1,3}|\*\*|`)?"
    r"[ \t]{0,3}(?P<sign>[:=|\u2192]|->|=>)?[ \t]{0,3}(?P<q>[\"'`「『]|\*\*)?(?P<v>[!-~]{4,400})"
)
# Where an unquoted value stops before a blank does: at the next field, argument, line break or bracket.
_CUT = (
    r"[;&](?=[\w.\- ]{1,40}=|[;&\s]|$)|,(?=[\w.\-]{1,40}[=:]|[\s,\\]|$)|#(?=[\w\-/]*$)(?<=[A-Za-z0-9]{16}.)"
    r"|\\+[nrt](?=[A-Za-z_.\-]{1,40}[=:]|\\|$)|[|)}\]]+[;,.]?$"
)
# A line of an .env file belongs to its value; only a connection string that starts the line has more fields.
_CUT_LINE = r";(?=[\w.\- ]{1,40}=|\s*$)"
_DSN = r"(?i:\b(?:host|user|dbname|server|uid|database|data source|user id)=)"
_SETS = r"(?i)\b(?:set|sets|setting|reset|chang|updat|rotat|switch)"
_FAR = r"[A-Za-z0-9+/_\-]{24,200}={0,2}"

Found = tuple[str, int, int]


class _Named(namedtuple("_Named", ("text", "start", "end", "kind"))):  # noqa: PYI024 - see redact_rules
    """The name of a secret, where it stands in `text`."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return str(self.text[self.start : self.end])

    @property
    def shouted(self) -> bool:
        """In capitals, as the name of an environment variable."""
        return not any(char.islower() for char in self.name)

    @property
    def before(self) -> str:
        """The character before the name; a line break at the start of the text."""
        return str(self.text[self.start - 1]) if self.start else "\n"

    def line_before(self) -> str:
        """What stands before the name on its line, at most 160 characters of it."""
        low = max(self.start - 160, 0)
        return str(self.text[max(self.text.rfind("\n", low, self.start) + 1, low) : self.start])

    def accepts(self, value: str, place: Place) -> bool:
        return is_secret(value, place, password=self.kind == "password", shouted=self.shouted)

    def found(self, start: int, end: int) -> Found:
        """A finding; an AWS secret is called by its name, whatever the key is."""
        if "aws" in self.name.lower() and compiled(r"[A-Za-z0-9/+]{40}").fullmatch(self.text, start, end):
            return "aws-secret-key", start, end
        return self.kind, start, end


def find_assigned(text: str, low: str) -> Iterator[Found]:
    """Every value that its name, key, header or sentence gives away, as (kind, start, end)."""
    done = -1
    for start in _name_starts(text, low):
        if start < done:
            continue
        named = _named(text, start)
        if named is not None:
            for found in _after_name(named):
                done = found[2]
                yield found
    if not low.isascii():
        yield from _after_cjk_name(text, low)


def _name_starts(text: str, low: str) -> list[int]:
    """Where an identifier starts that holds one of the stems."""
    starts: set[int] = set()
    for stem in STEMS:
        at = low.find(stem)
        while at >= 0:
            before = text[max(at - MAX_NAME, 0) : at]
            starts.add(at - len(before) + len(before.rstrip(NAME_CHARS)))
            at = low.find(stem, at + len(stem))
    return sorted(starts)


def _named(text: str, start: int) -> _Named | None:
    window = text[start : start + MAX_NAME + 1]
    size = len(window) - len(window.lstrip(NAME_CHARS))
    if size > MAX_NAME:
        return None
    name = window[:size].rstrip(".")
    end = start + len(name)
    if name.lower() in ("key", "keys"):
        # "API key" is one name: its first word says whether the key is secret.
        owner = compiled(r"[A-Za-z]{2,15}[ \t]\Z").search(text[max(start - 17, 0) : start])
        kind = kind_of_name(f"{owner.group().strip()}_{name}") if owner else None
        return None if owner is None or kind is None else _Named(text, start - len(owner.group()), end, kind)
    kind = kind_of_name(name)
    return None if kind is None else _Named(text, start, end, kind)


def _after_name(named: _Named) -> list[Found]:
    after = compiled(_AFTER).match(named.text, named.end)
    if after is None:
        return _in_element(named)
    # "pass" alone is a verb, unless a sign follows.
    if named.name.lower() in ("pass", "pw") and (after["gap"] or after["prose"] or after["below"]):
        return []
    values = list(_values(named, after))
    if not values and (after["gap"] or after["below"] is not None):
        values = list(_random(named, after))
    if not values and (after["gap"] or after["prose"]):
        values = _far(named)
    return values or _in_element(named)


def _values(named: _Named, after: re.Match[str]) -> Iterator[Found]:
    at = after.end()
    if after["strong"] is not None:
        if after["strong"].lstrip().startswith(":"):
            typed = compiled(_TYPED).match(named.text, at)
            at = typed.end() if typed else at
        block = compiled(_BLOCK).match(named.text, at)
        if block is not None:
            yield from _block(named, block.end())
            return
        below = compiled(_NEXT_LINE).match(named.text, at)
        if below is not None:
            start, end = below.start("v") + len(below["q"]), below.end("v") - len(below["q"])
            if named.accepts(named.text[start:end], Place.LOOSE):
                yield named.found(start, end)
            return
    if after["below"] is not None or (after["default"] is not None and not _has_default(named, after)):
        return
    if after["cell"] is not None and not named.line_before().rstrip(' \t*_`"').endswith("|"):
        return
    # "set the password to X", but not "send the password to X".
    is_to = after["prose"] is not None and after["prose"].split()[0].lower() == "to"
    if is_to and not compiled(_SETS).search(named.line_before()):
        return
    sure = after["pair"] is not None or after["strong"] is not None
    opened = compiled(_OPEN).match(named.text, at)
    if opened is not None and (sure or opened["list"] is None):
        said = sure or after["prose"] is not None or after["josa"] is not None
        yield from _quoted(named, opened, Place.QUOTED if said else Place.LOOSE)
        return
    place = _place(named, after)
    found = compiled(_BARE).match(named.text, at)
    if found is not None and place is not None:
        yield from _bare(named, found, place)


def _has_default(named: _Named, after: re.Match[str]) -> bool:
    """Is this `getenv("NAME", "value")`, `env.NAME || "value"`, rather than one of several strings?"""
    if "," not in after["default"]:
        return True
    at = named.start - 2
    return bool(after["close"]) and at >= 0 and named.before in "\"'" and named.text[at] == "("


def _random(named: _Named, after: re.Match[str]) -> Iterator[Found]:
    """What follows a name after a blank alone, or below a heading, and can hardly be a word of the sentence."""
    text, at = named.text, after.end()
    found = compiled(r"[A-Za-z0-9+/_\-]{8,300}={0,2}(?![A-Za-z0-9])").match(text, at)
    if found is None or not (looks_random(found.group()) or compiled(r"[0-9a-f]{32,}").fullmatch(found.group())):
        return
    if after["below"] is not None and not (_ends_line(text, found.end()) and not named.line_before().strip("#*->_ \t")):
        return
    value = found.group()
    mixed = any(char.isupper() for char in value) and any(char.islower() for char in value)
    if (mixed or len(value) >= 32) and named.accepts(value, Place.LOOSE):
        yield named.found(at, found.end())


def _quoted(named: _Named, opened: re.Match[str], place: Place) -> Iterator[Found]:
    """A quoted value, or each one of a list of them."""
    quote = opened["q"]
    at = opened.end()
    while True:
        end = _closing(named.text, at, quote)
        if end is None:
            found = compiled(_BARE).match(named.text, at)
            if found is not None and named.accepts(found.group(), place):
                yield named.found(at, _run_end(named.text, found))
            return
        value = named.text[at:end]
        start = at + len(value) - len(value.lstrip())
        value = value.strip()
        # Between backticks a shell has a command.
        if not (quote == "`" and " " in value) and named.accepts(value, place):
            yield named.found(start, start + len(value))
        if opened["list"] is None or end - opened.end() > _REACH:
            return
        more = compiled(rf"\s{{0,8}},\s{{0,40}}{re.escape(quote)}").match(named.text, end + len(quote))
        if more is None:
            return
        at = more.end()


def _closing(text: str, at: int, quote: str) -> int | None:
    """Where the literal that starts at `at` ends; None when not closed on its line, or within _REACH."""
    limit = at + _REACH
    if quote in ('"', "'"):
        found = compiled(rf"(?:[^{quote}\\\n]|\\.)*+(?={quote})").match(text, at, limit)
        return found.end() if found else None
    # Inside an escaped string a quote of its own has more backslashes than the one that closes it.
    found = compiled(rf"(?<!\\){re.escape(quote)}").search(text, at, limit)
    if found is None or (not quote.endswith(('"""', "'''")) and "\n" in text[at : found.start()]):
        return None
    return found.start()


def _run_end(text: str, found: re.Match[str]) -> int:
    """The end of a run without quotes, of which at most MAX_BARE characters were judged."""
    rest = compiled(_LONG_BARE).match(text, found.end())
    return rest.end() if rest is not None and len(found.group()) >= MAX_BARE else found.end()


def _bare(named: _Named, found: re.Match[str], place: Place) -> Iterator[Found]:
    """A value without quotes."""
    text, value, start = named.text, found.group(), found.start()
    if len(value) >= MAX_BARE and named.accepts(value, place):
        yield named.found(start, _run_end(text, found))
        return
    whole_line = (
        place is Place.EXACT and named.line_before().strip() in ("", "export") and _ends_line(text, found.end())
    )
    default = compiled(r"\$\{[\w.\-]{1,64}:?[-=]?([^${}]+)\}").match(value)
    if default is not None:
        if named.accepts(default[1], Place.LOOSE):
            yield named.found(start + default.start(1), start + default.end(1))
        return
    cut = compiled(_CUT_LINE if whole_line else _CUT).search(value)
    if cut is not None:
        value = value[: cut.start()]
    value = value.rstrip(";,\\" if whole_line else ".,;:)]}\\")
    if value.startswith("{") and named.before == ";" and looks_random(value):
        value, start = value[1:], start + 1  # ODBC
    for decoration in ("**", "__", "-"):
        if value.startswith(decoration):
            value, start = value[len(decoration) :], start + len(decoration)
    value = value.removesuffix("**").removesuffix("__")
    is_code = place is Place.LOOSE and (value.startswith(("(", "[", "{")) or text.startswith("(", start + len(value)))
    if value and not is_code and named.accepts(value, place):
        yield named.found(start, start + len(value))


def _ends_line(text: str, at: int) -> bool:
    return compiled(r"[ \t]*(?:#[^\n]*|//[^\n]*)?(?:\r?\n|\Z)").match(text, at) is not None


def _place(named: _Named, after: re.Match[str]) -> Place | None:
    """How sure an unquoted value is, from the sign before it and what stands around; None where there is none."""
    if after["gap"] is not None:
        return _place_after_blank(named)
    if after["pair"] is not None:
        return Place.LINE
    sign = (after["strong"] or "").strip(" \t*_")
    value = compiled(_BARE).match(named.text, after.end())
    if not sign or value is None or named.before == "{":
        return Place.LOOSE
    ends = _ends_line(named.text, value.end())
    if after["strong"] == "=" and not after["close"]:
        return _place_after_equals(named, ends=ends and not value.group().endswith(","))
    if ":" in sign:
        ends = ends or compiled(r"[ \t]*[,}][^\n]*(?:\n|\Z)").match(named.text, value.end()) is not None
        return Place.LINE if ends else Place.LOOSE
    return Place.LINE if sign == "=" and ends and not named.name.islower() else Place.LOOSE


def _place_after_equals(named: _Named, *, ends: bool) -> Place:
    """`name=value` without blanks: a shell, an .env file, a query, a connection string - or an argument in code."""
    before = named.before
    if before in "?&;" or named.name.startswith("-") or (named.shouted and before in "\n \t"):
        return Place.EXACT
    line = named.line_before()
    if "(" not in line and compiled(r"(?:^|[ \t])-{1,2}[\w\-]+(?:[ \t]+|=)[\"']?$").search(line):
        return Place.EXACT
    if not line.strip():
        return Place.LOOSE if not ends else Place.LINE if line else Place.EXACT
    return Place.EXACT if "(" not in line and compiled(_DSN).search(line) else Place.LOOSE


def _place_after_blank(named: _Named) -> Place | None:
    """Does a blank assign here: `--password X`, `ENV TOKEN X`, netrc's `login L password X`?"""
    if named.name.startswith("-"):
        return Place.LOOSE
    if compiled(r"^\s*(?:ENV|ARG|setx?|machine|default)\b|\blogin[ \t]+\S+[ \t]+$").search(named.line_before()):
        return Place.LINE
    return None


def _block(named: _Named, body: int) -> Iterator[Found]:
    """A YAML block scalar: the lines indented more than the line of the key."""
    text = named.text
    line = named.line_before()
    indent = len(line) - len(line.lstrip(" -"))
    end = at = body
    while at < min(len(text), body + _REACH):
        stop = text.find("\n", at)
        stop = len(text) if stop < 0 else stop
        content = text[at:stop]
        if content.strip():
            if len(content) - len(content.lstrip(" \t")) <= indent:
                break
            end = at + len(content.rstrip())
        at = stop + 1
    start = end - len(text[body:end].lstrip())
    lines = text[start:end].splitlines()
    if any(is_secret(part.strip(), Place.QUOTED, password=named.kind == "password", shouted=True) for part in lines):
        yield named.kind, start, end


def _in_element(named: _Named) -> list[Found]:
    """`<password>value</password>`, `<entry key="password">value</entry>`."""
    opened = None
    if named.before in "<:":
        opened = compiled(">").match(named.text, named.end)
    elif named.before in "\"'" and compiled(r"\b(?:key|name)=[\"']$").search(named.line_before()):
        opened = compiled(r"[\"'][^<>\n]{0,80}>").match(named.text, named.end)
    if opened is None:
        return []
    found = compiled(r"[^<\n]{1,400}(?=</)").match(named.text, opened.end())
    return (
        [named.found(*found.span())] if found is not None and named.accepts(found.group().strip(), Place.LINE) else []
    )


def _far(named: _Named) -> list[Found]:
    """A long random run in the same sentence: "the token that works is in fact ..."."""
    if compiled(r"[A-Za-z0-9+/_\-]{24}").search(named.text, named.end, named.end + 300) is None:
        return []
    window = named.text[named.end : named.end + 300]
    found = compiled(f"{LEFT}{_FAR}").search(window)
    if found is None or found.start() > 100 or compiled(r"\n|://|sha\d+-|base64,").search(window, 0, found.start()):
        return []
    value = found.group()
    mixed = any(char.isupper() for char in value) and any(char.islower() for char in value)
    # A hash or the identifier of another thing has one case only; a token's alphabet has both.
    if not mixed or sum(char.isdigit() for char in value) < 3 or value.count("/") >= 3 or value.count("-") >= 4:
        return []
    if not named.accepts(value, Place.LOOSE):
        return []
    return [named.found(named.end + found.start(), named.end + found.end())]


def _after_cjk_name(text: str, low: str) -> Iterator[Found]:
    for kind, names in (("password", CJK_PASSWORDS), ("secret", CJK_SECRETS)):
        for name in names:
            at = low.find(name)
            while at >= 0:
                step = at + len(name)
                found = compiled(_CJK_AFTER).match(text, step)
                if found is not None:
                    value = found["v"]
                    if found["q"] and found["q"] in value:
                        value = value[: value.index(found["q"])]
                    value = value.rstrip(".,;:)]}`\"'")
                    place = Place.LINE if found["sign"] or found["q"] else Place.LOOSE
                    if (not found["then"] or looks_random(value)) and is_secret(
                        value, place, password=kind == "password"
                    ):
                        step = found.start("v") + len(value)
                        yield kind, found.start("v"), step
                at = low.find(name, step)
