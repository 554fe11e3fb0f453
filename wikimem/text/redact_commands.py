"""Secrets that a command, a call or a file of a fixed form takes at a known place, without a name before them.

What one pattern finds stands in the tables of `redact_spots` and `redact_tools`; here is what takes more than one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from wikimem.text.redact_fed import find_fed
from wikimem.text.redact_spots import SPOTS, VALUE, Spot
from wikimem.text.redact_tools import TOOLS, find_listed
from wikimem.text.redact_values import Place, compiled, is_placeholder, is_secret, looks_mixed, looks_random

Found = tuple[str, int, int]

_CURL_USER = rf"-[a-zA-Z]{{0,5}}u[ \t]*[\"']?[^\s:\"'/]{{1,100}}:{VALUE}"
_CURL_COOKIE = r"(?:-b|--cookie)(?:[ \t]+|=)(?:\"([^\"\n]{3,4000})\"|'([^'\n]{3,4000})'|([^\s\"'@]{3,4000}))"
_CURL_REACH = 4000  # characters: one command, with a body and many headers
_COOKIE_PAIR = r"(?:^|;)[ \t]*[^\s=;,]{1,200}=([^;\s]{3,})"

_INSERT = r"insert[ \t]+into[ \t]+[\w.`\"\[\]]{1,100}[ \t\n]*\(([^()]{1,600})\)[ \t\n]*values[ \t\n]*\("
_FIELD = r"[ \t\n]*(?:'((?:[^'\n]|''){0,400})'|\"([^\"\n]{0,400})\"|([^,()'\"\n]{0,100}))[ \t\n]*(,|\)|$)"
_SECRET_COLUMN = r"(?:\w*_)?(?:password|passwd|pwd|secret|token|api_?key|access_key|secret_key|private_key)"

_SECRET_DATA = r"(?m)^([ \t]{0,20})(?:string)?data:[ \t]*\n"
_DATA_LINE = r"([ \t]{1,40})[\w.\-]{1,253}:[ \t]*[\"']?([^\s\"'|>]{8,}|)[\"']?[ \t]*(?:\n|\Z)"
_MANIFEST_REACH = 4000  # characters of a manifest on either side of its `kind: Secret`

_JWK_PART = r"\"(?:d|p|q|dp|dq|qi|k)\"[ \t\n]*:[ \t\n]*\"([A-Za-z0-9_\-]{20,2000}=?)\""
_JWK_REACH = 4000


def find_in_commands(text: str, low: str) -> Iterator[Found]:
    """Secrets on command lines and in calls, SQL and files of a fixed form, as (kind, start, end)."""
    for anchor, spots in _spots_by_anchor():
        at = low.find(anchor)
        while at >= 0:
            for spot in spots:
                found = compiled(f"(?i:{spot.pattern})").match(text, at)
                if found is not None:
                    start, end = found.span(found.lastindex or 0)
                    value = text[start:end]
                    sure = spot.kind != "secret-key" or is_secret(value, Place.QUOTED, password=False)
                    if sure and not is_placeholder(value):
                        yield spot.kind, start, end
            at = low.find(anchor, at + len(anchor))
    yield from find_fed(text, low)
    yield from find_listed(text, low)
    yield from _curl(text, low)
    yield from _inserted(text, low)
    yield from _manifests(text, low)
    yield from _web_keys(text)


@cache
def _spots_by_anchor() -> tuple[tuple[str, tuple[Spot, ...]], ...]:
    """Each anchor once, as looking for it is most of the work, with the spots that it may stand for."""
    table: dict[str, list[Spot]] = {}
    for spot in (*SPOTS, *TOOLS):
        for anchor in spot.anchors:
            table.setdefault(anchor, []).append(spot)
    return tuple((anchor, tuple(spots)) for anchor, spots in table.items())


def _starts(low: str, anchor: str) -> Iterator[int]:
    at = low.find(anchor)
    while at >= 0:
        yield at
        at = low.find(anchor, at + len(anchor))


def _curl(text: str, low: str) -> Iterator[Found]:
    """`-u user:password` and `-b "name=value"`, wherever they stand in a command of curl and its like."""
    if "curl" not in low and "wget" not in low and "http" not in low:
        return
    for option in compiled(r"-(?:[a-zA-Z]{0,5}u|b|-cookie)").finditer(text):
        at = option.start()
        if at and not text[at - 1].isspace():
            continue
        user = compiled(_CURL_USER).match(text, at)
        cookie = None if user is not None else compiled(_CURL_COOKIE).match(text, at)
        found = user or cookie
        if found is None or not _in_command(text, low, at, found.end()):
            continue
        start, end = found.span(found.lastindex or 0)
        if cookie is not None:
            yield from _pairs(text, start, end)
        elif not is_placeholder(text[start:end]):
            yield "password", start, end


def _in_command(text: str, low: str, start: int, end: int) -> bool:
    """Is this part of a command that fetches: after the program's name, or before an address?"""
    after = low[end : end + 200].partition("\n")[0]
    if "http" in after:
        return True
    reach = max(start - _CURL_REACH, 0)
    at = max(low.rfind(name, reach, start) for name in ("curl", "wget", "http"))
    return at >= 0 and compiled(r"(?<!\\)\n").search(text, at, start) is None


def _pairs(text: str, start: int, end: int) -> Iterator[Found]:
    for pair in compiled(_COOKIE_PAIR).finditer(text[start:end]):
        if not is_placeholder(pair[1]):
            yield "cookie", start + pair.start(1), start + pair.end(1)


def _inserted(text: str, low: str) -> Iterator[Found]:
    """Literals of an INSERT that stand in a column named as a secret; those of its first row."""
    for at in _starts(low, "insert"):
        found = compiled(f"(?i:{_INSERT})").match(text, at)
        if found is None:
            continue
        wanted = [
            bool(compiled(f"(?i:{_SECRET_COLUMN})").fullmatch(name.strip(' \t\n`"[]'))) for name in found[1].split(",")
        ]
        place = found.end()
        for is_wanted in wanted:
            field = compiled(_FIELD).match(text, place)
            if field is None:
                break
            group = field.lastindex and next((number for number in (1, 2) if field[number] is not None), 0)
            if is_wanted and group and len(field[group]) >= 4 and not is_placeholder(field[group]):
                yield "password", *field.span(group)
            place = field.end()
            if field[4] != ",":
                break


def _manifests(text: str, low: str) -> Iterator[Found]:
    """The values of a Kubernetes Secret in YAML: each is secret by its place, whatever its name."""
    done = 0
    for at in _starts(low, "kind: secret"):
        if compiled(r"[ \t]*(?:\n|\Z)").match(text, at + len("kind: secret")) is None:
            continue
        far = min(at + _MANIFEST_REACH, len(text))
        low_end = max(text.rfind("\n---", max(at - _MANIFEST_REACH, 0), at), at - _MANIFEST_REACH, done)
        high_end = text.find("\n---", at, far)
        high_end = far if high_end < 0 else high_end
        for block in compiled(_SECRET_DATA).finditer(text, low_end, high_end):
            place = block.end()
            while (line := compiled(_DATA_LINE).match(text, place)) is not None and len(line[1]) > len(block[1]):
                if line[2] and not is_placeholder(line[2]):
                    yield "secret", *line.span(2)
                place = line.end()
        done = high_end


def _web_keys(text: str) -> Iterator[Found]:
    """The private parts of a JSON Web Key."""
    done = 0
    for at in _starts(text, '"kty"'):
        low_end, high_end = max(text.rfind("{", max(at - _JWK_REACH, 0), at), done), text.find("}", at, at + _JWK_REACH)
        high_end = high_end if high_end >= 0 else min(at + _JWK_REACH, len(text))
        for part in compiled(_JWK_PART).finditer(text, low_end, high_end):
            if looks_mixed(part[1]) or looks_random(part[1]):
                yield "private-key", *part.span(1)
        done = high_end
