"""Secrets that a command, a call or a file of a fixed form takes at a known place, without a name before them.

A spot is tried only where its anchor stands in the text, as in `redact_rules`; patterns are compiled when first needed,
and every run in them is bounded.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator

from wikimem.text.redact_values import Place, compiled, is_placeholder, is_secret, looks_mixed, looks_random

Found = tuple[str, int, int]


class Spot(namedtuple("Spot", ("kind", "anchors", "pattern"))):  # noqa: PYI024 - see redact_rules
    """Where a secret stands: `pattern` is matched at one of the `anchors`, without regard to case.

    The secret is the last group that matched.
    """

    __slots__ = ()


_VALUE = r"(?:\"([^\"\n\\]{3,200})\"|'([^'\n]{3,200})'|([^\s\"'`;|&<>(){},]{3,200}))"
_LITERAL = r"[bBrRuU]{0,2}(?:\"([^\"\n]{4,300})\"|'([^'\n]{4,300})')"
# The rest of one command, which may go on after a backslash.
_ARGUMENTS = r"(?:[^\n|;&\\]|\\\n|\\[^\n]){0,240}?"


def _option(commands: str, option: str) -> str:
    return rf"(?:{commands})\b{_ARGUMENTS}[ \t\n]{option}{_VALUE}"


SPOTS: tuple[Spot, ...] = (
    # Options with the secret attached, or after a blank, as each program has it.
    Spot("password", ("mysql", "mariadb"), _option(r"mysql\w*|mariadb[\w\-]*", r"-p(?=[^\s,.:)\]])")),
    Spot("password", ("7z",), _option("7z[arz]?", r"-p(?=[^\s,.:)\]])")),
    Spot(
        "password",
        (
            "docker login",
            "podman login",
            "mongo",
            "cqlsh",
            "az login",
            "twine upload",
            "oc login",
            "cf login",
            "sshpass",
        ),
        _option(
            r"(?:docker|podman|az|oc|cf) login|mongo(?:sh|dump|restore|import|export)?|cqlsh|twine upload|sshpass",
            r"-p[ \t=]{1,8}",
        ),
    ),
    Spot("password", ("sshpass",), rf"sshpass[ \t]+-p{_VALUE}"),
    Spot(
        "password",
        ("zip ", "sqlcmd", "bcp ", "ipmitool", "mosquitto_"),
        _option(r"(?<![a-z])(?:un)?zip|sqlcmd|(?<![a-z])bcp|ipmitool|mosquitto_\w{3}", r"(?-i:-P)[ \t]{0,8}"),
    ),
    Spot(
        "password",
        ("ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldappasswd", "ldapwhoami"),
        _option(r"ldap[a-z]{3,8}", r"(?-i:-[wy])[ \t]{1,8}"),
    ),
    Spot("password", ("redis-cli",), _option("redis-cli", r"(?-i:-a|--pass)[ \t]{1,8}")),
    Spot("password", ("snmp",), _option(r"snmp[a-z]{3,8}", r"(?-i:-A)[ \t]{1,8}")),
    Spot("password", ("snmp",), _option(r"snmp[a-z]{3,8}", r"(?-i:-X)[ \t]{1,8}")),
    Spot("password", ("openssl enc",), _option("openssl enc", r"(?-i:-[kK])[ \t]{1,8}")),
    Spot("password", ("-pass",), rf"-pass(?:in|out)?(?:[ \t]{{1,8}}|=)[\"']?pass:{_VALUE}"),
    Spot(
        "password",
        ("smbclient", "rpcclient"),
        rf"(?:smb|rpc)client\b{_ARGUMENTS}-U[ \t]*[\"']?[^\s%\"']{{1,80}}%{_VALUE}",
    ),
    Spot("password", ("net use",), rf"net use\b[^\n]{{0,200}}?/user:\S{{1,80}}[ \t]+{_VALUE}"),
    Spot(
        "password", ("net use",), rf"net use[ \t]+(?:\S{{1,200}}[ \t]+){{1,2}}(?!/)(?=\S{{1,80}}[ \t]+/user:){_VALUE}"
    ),
    Spot("password", ("freerdp", "rdesktop"), rf"(?:freerdp|rdesktop)\b{_ARGUMENTS}[ \t](?:/p:|-p[ \t]+){_VALUE}"),
    Spot(
        "password",
        ("sqlplus", "sqlldr", "expdp", "impdp", "oracle:thin:"),
        r"(?:(?:sqlplus|sqlldr|expdp|impdp)[ \t]+(?:-\w+[ \t]+){0,3}|oracle:thin:)[\"']?"
        r"[\w$.]{1,60}/([^\s/@\"']{3,100})@",
    ),
    Spot(
        "password",
        ("htpasswd",),
        rf"htpasswd[ \t]+-[a-z]*b[a-z]*[ \t]+(?:\S{{1,200}}[ \t]+){{1,2}}?(?!-){_VALUE}[ \t]*(?:$|[\n;&|`])",
    ),
    Spot("password", ("mysqladmin",), rf"mysqladmin\b{_ARGUMENTS}[ \t]password[ \t]+{_VALUE}"),
    Spot(
        "password",
        ("wpa_passphrase", "bw unlock", "vault login", "operator unseal"),
        rf"(?:wpa_passphrase[ \t]+\S{{1,60}}|bw unlock|vault login|operator unseal)[ \t]+(?!-|\w+=){_VALUE}",
    ),
    Spot(
        "secret",
        ("kv put", "etcdctl put"),
        r"(?:kv|etcdctl) put[ \t]+[\w./\-]{0,100}(?:password|passwd|secret|token|api[_-]?key)[\w\-]{0,20}"
        rf"[ \t]+(?!\w+=){_VALUE}",
    ),
    Spot(
        "password",
        ("echo ", "printf "),
        rf"(?:echo|printf)[ \t]+(?:-n[ \t]+)?{_VALUE}[ \t]*\|"
        r"[^\n]{0,200}?(?:-stdin\b|\bsudo[ \t]+-[A-Za-z]{0,9}S|chpasswd|--with-token)",
    ),
    Spot(
        "password",
        ("--user", "--proxy-user"),
        rf"--(?:proxy-)?user(?:[ \t]+|=)[\"']?[^\s:\"'/]{{1,100}}:(?![0-9]+\b){_VALUE}",
    ),
    Spot("password", ("http",), rf"https?[ \t]{_ARGUMENTS}-a[ \t]+[\"']?[^\s:\"']{{1,100}}:{_VALUE}"),
    Spot("password", ("requirepass", "masterauth"), rf"(?:requirepass|masterauth)[ \t]+{_VALUE}"),
    # Calls that take a secret by its position.
    Spot(
        "secret-key",
        ("jwt.", "jsonwebtoken."),
        rf"(?:jwt|jsonwebtoken)\.(?:sign|encode|verify|decode)\([^\n\"']{{1,120}}?,[ \t\n]{{0,20}}{_LITERAL}",
    ),
    Spot(
        "secret-key",
        ("hmac.new(", "aes.new(", "fernet(", "secretkeyspec("),
        rf"(?:hmac\.new|AES\.new|Fernet|SecretKeySpec)\([ \t\n]{{0,20}}{_LITERAL}",
    ),
    Spot("secret-key", ("createhmac(",), rf"createHmac\([^\n,()]{{1,40}},[ \t]{{0,8}}{_LITERAL}"),
    Spot("password", (".login(",), rf"\.login\([^\n,()]{{1,100}},[ \t\n]{{0,20}}{_LITERAL}[ \t\n]{{0,20}}\)"),
    Spot("password", ("auth",), rf"auth[ \t]{{0,3}}[=:][ \t]{{0,3}}[(\[][^\n,()]{{1,100}},[ \t]{{0,8}}{_LITERAL}"),
    Spot(
        "password",
        ("basicauth(", "digestauth(", "basic_auth("),
        rf"(?:basic|digest)_?auth\([^\n,()]{{1,100}},[ \t]{{0,8}}{_LITERAL}",
    ),
    Spot("password", ("getconnection(",), rf"getConnection\([^\n,]{{1,300}},[^\n,]{{1,100}},[ \t\n]{{0,40}}{_LITERAL}"),
    # SQL.
    Spot(
        "password",
        ("identified",),
        r"identified[ \t]+(?:with[ \t]+\w+[ \t]+)?(?:by|as)[ \t]+(?:password[ \t]+)?"
        rf"(?:{_LITERAL}|[\"']([^\s\"';]{{4,200}}))",
    ),
    Spot(
        "password",
        ("set password",),
        rf"set password(?:[ \t]+for[ \t]+\S{{1,120}})?[ \t]*=[ \t]*(?:\w{{1,30}}\()?{_LITERAL}",
    ),
    # ~/.pgpass: host:port:database:user:password.
    Spot(
        "password",
        (":5432:", ":5433:", ":6432:", ":*:"),
        r"(?<=[\w*]):(?:\d{4,5}|\*):[\w*\-]{1,63}:[\w*\-]{1,63}:([^\s:\"'`]{4,200})(?=$|\n)",
    ),
)

_CURL_USER = rf"-[a-zA-Z]{{0,5}}u[ \t]*[\"']?[^\s:\"'/]{{1,100}}:{_VALUE}"
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
    for spot in SPOTS:
        for anchor in spot.anchors:
            at = low.find(anchor)
            while at >= 0:
                found = compiled(f"(?i:{spot.pattern})").match(text, at)
                if found is not None:
                    start, end = found.span(found.lastindex or 0)
                    value = text[start:end]
                    sure = spot.kind != "secret-key" or is_secret(value, Place.QUOTED, password=False)
                    if sure and not is_placeholder(value):
                        yield spot.kind, start, end
                at = low.find(anchor, at + len(anchor))
    yield from _curl(text, low)
    yield from _inserted(text, low)
    yield from _manifests(text, low)
    yield from _web_keys(text)


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
