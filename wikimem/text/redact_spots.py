"""Where commands, calls and files of a fixed form take a secret at a known place, without a name before it: the table.

A spot is tried only where its anchor stands in the text, as in `redact_rules`; patterns are compiled when first needed,
and every run in them is bounded.
"""

from __future__ import annotations

from collections import namedtuple


class Spot(namedtuple("Spot", ("kind", "anchors", "pattern"))):  # noqa: PYI024 - see redact_rules
    """Where a secret stands: `pattern` is matched at one of the `anchors`, without regard to case.

    The secret is the last group that matched.
    """

    __slots__ = ()


# A word of a command: in quotes, in quotes within a quoted text, or bare.
VALUE = (
    r"(?:\"([^\"\n\\]{3,200})\"|'([^'\n]{3,200})'|\\{1,3}\"([^\"\n\\]{3,200})\\{1,3}\"|([^\s\"'`;|&<>(){},]{3,200}))"
)
LITERAL = r"[bBrRuU]{0,2}(?:\"([^\"\n]{4,300})\"|'([^'\n]{4,300})')"
# The rest of one command, which may go on after a backslash.
ARGUMENTS = r"(?:[^\n|;&\\]|\\\n|\\[^\n]){0,240}?"


# One option of htpasswd, with its number where it takes one.
_OPTION = r"-[a-zA-Z0-9]{1,8}(?:[ \t]+\d{1,9}(?=[ \t]))?"


def option(commands: str, option: str) -> str:
    """The pattern of a secret that follows `option`, with what may stand between, in a command that begins so."""
    return rf"(?:{commands})\b{ARGUMENTS}[ \t\n]{option}{VALUE}"


SPOTS: tuple[Spot, ...] = (
    # Options with the secret attached, or after a blank, as each program has it.
    Spot("password", ("mysql", "mariadb"), option(r"mysql\w*|mariadb[\w\-]*", r"-p(?=[^\s,.:)\]])")),
    Spot("password", ("7z",), option("7z[arz]?", r"-p(?=[^\s,.:)\]])")),
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
        option(
            r"(?:docker|podman|az|oc|cf) login|mongo(?:sh|dump|restore|import|export)?|cqlsh|twine upload|sshpass",
            r"-p[ \t=]{1,8}",
        ),
    ),
    Spot("password", ("sshpass",), rf"sshpass[ \t]+-p{VALUE}"),
    Spot(
        "password",
        ("zip ", "sqlcmd", "bcp ", "ipmitool", "mosquitto_"),
        option(r"(?:(?<![a-z])|(?<=un))zip|sqlcmd|(?<![a-z])bcp|ipmitool|mosquitto_\w{3}", r"(?-i:-P)[ \t]{0,8}"),
    ),
    Spot(
        "password",
        ("ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldappasswd", "ldapwhoami"),
        option(r"ldap[a-z]{3,8}", r"(?-i:-[wy])[ \t]{1,8}"),
    ),
    Spot("password", ("redis-cli",), option("redis-cli", r"(?-i:-a|--pass)[ \t]{1,8}")),
    Spot("password", ("snmp",), option(r"snmp[a-z]{3,8}", r"(?-i:-A)[ \t]{1,8}")),
    Spot("password", ("snmp",), option(r"snmp[a-z]{3,8}", r"(?-i:-X)[ \t]{1,8}")),
    Spot("password", ("openssl enc",), option("openssl enc", r"(?-i:-[kK])[ \t]{1,8}")),
    Spot("password", ("-pass",), rf"-pass(?:in|out)?(?:[ \t]{{1,8}}|=)[\"']?pass:{VALUE}"),
    Spot(
        "password",
        ("smbclient", "rpcclient"),
        rf"(?:smb|rpc)client\b{ARGUMENTS}-U[ \t]*[\"']?[^\s%\"']{{1,80}}%{VALUE}",
    ),
    Spot("password", ("net use",), rf"net use\b[^\n]{{0,200}}?/user:\S{{1,80}}[ \t]+{VALUE}"),
    Spot("password", ("net use",), rf"net use[ \t]+(?:\S{{1,200}}[ \t]+){{1,2}}(?!/)(?=\S{{1,80}}[ \t]+/user:){VALUE}"),
    Spot("password", ("freerdp", "rdesktop"), rf"(?:freerdp|rdesktop)\b{ARGUMENTS}[ \t](?:/p:|-p[ \t]+){VALUE}"),
    Spot(
        "password",
        ("sqlplus", "sqlldr", "expdp", "impdp", "oracle:thin:"),
        r"(?:(?:sqlplus|sqlldr|expdp|impdp)[ \t]+(?:-\w+[ \t]+){0,3}|oracle:thin:)[\"']?"
        r"[\w$.]{1,60}/([^\s/@\"']{3,100})@",
    ),
    Spot(
        "password",
        ("htpasswd",),
        # In one of its clusters of options is -b; then the file, unless -n is there, the user and the password.
        rf"htpasswd(?:[ \t]+{_OPTION}){{0,6}}?[ \t]+(?-i:-[a-zA-Z0-9]{{0,8}}b)[a-z0-9]{{0,8}}"
        rf"(?:[ \t]+\d{{1,9}}(?=[ \t]))?(?:[ \t]+{_OPTION}){{0,6}}"
        rf"[ \t]+(?:(?!-)[^\s-]\S{{0,200}}[ \t]+){{1,2}}?(?!-){VALUE}[ \t]*(?:$|[\n;&|`])",
    ),
    Spot("password", ("mysqladmin",), rf"mysqladmin\b{ARGUMENTS}[ \t]password[ \t]+{VALUE}"),
    Spot(
        "password",
        ("wpa_passphrase", "bw unlock", "vault login", "operator unseal"),
        rf"(?:wpa_passphrase[ \t]+\S{{1,60}}|bw unlock|vault login|operator unseal)[ \t]+(?!-|\w+=){VALUE}",
    ),
    Spot(
        "secret",
        ("kv put", "etcdctl put"),
        r"(?:kv|etcdctl) put[ \t]+[\w./\-]{0,100}(?:password|passwd|secret|token|api[_-]?key)[\w\-]{0,20}"
        rf"[ \t]+(?!\w+=){VALUE}",
    ),
    Spot(
        "password",
        ("--user", "--proxy-user"),
        rf"--(?:proxy-)?user(?:[ \t]+|=)[\"']?[^\s:\"'/]{{1,100}}:(?![0-9]+\b){VALUE}",
    ),
    Spot("password", ("http",), rf"https?[ \t]{ARGUMENTS}-a[ \t]+[\"']?[^\s:\"']{{1,100}}:{VALUE}"),
    Spot("password", ("requirepass", "masterauth"), rf"(?:requirepass|masterauth)[ \t]+{VALUE}"),
    # Calls that take a secret by its position.
    Spot(
        "secret-key",
        ("jwt.", "jsonwebtoken."),
        rf"(?:jwt|jsonwebtoken)\.(?:sign|encode|verify|decode)\([^\n\"']{{1,120}}?,[ \t\n]{{0,20}}{LITERAL}",
    ),
    Spot(
        "secret-key",
        ("hmac.new(", "aes.new(", "fernet(", "secretkeyspec("),
        rf"(?:hmac\.new|AES\.new|Fernet|SecretKeySpec)\([ \t\n]{{0,20}}{LITERAL}",
    ),
    Spot("secret-key", ("createhmac(",), rf"createHmac\([^\n,()]{{1,40}},[ \t]{{0,8}}{LITERAL}"),
    Spot("password", (".login(",), rf"\.login\([^\n,()]{{1,100}},[ \t\n]{{0,20}}{LITERAL}[ \t\n]{{0,20}}\)"),
    Spot("password", ("auth",), rf"auth[ \t]{{0,3}}[=:][ \t]{{0,3}}[(\[][^\n,()]{{1,100}},[ \t]{{0,8}}{LITERAL}"),
    Spot(
        "password",
        ("basicauth(", "digestauth(", "basic_auth("),
        rf"(?:basic|digest)_?auth\([^\n,()]{{1,100}},[ \t]{{0,8}}{LITERAL}",
    ),
    Spot("password", ("getconnection(",), rf"getConnection\([^\n,]{{1,300}},[^\n,]{{1,100}},[ \t\n]{{0,40}}{LITERAL}"),
    # SQL.
    Spot(
        "password",
        ("identified",),
        r"identified[ \t]+(?:with[ \t]+\w+[ \t]+)?(?:by|as)[ \t]+(?:password[ \t]+)?"
        rf"(?:{LITERAL}|[\"']([^\s\"';]{{4,200}}))",
    ),
    Spot(
        "password",
        ("set password",),
        rf"set password(?:[ \t]+for[ \t]+\S{{1,120}})?[ \t]*=[ \t]*(?:\w{{1,30}}\()?{LITERAL}",
    ),
    # ~/.pgpass: host:port:database:user:password.
    Spot(
        "password",
        (":5432:", ":5433:", ":6432:", ":*:"),
        r"(?<=[\w*]):(?:\d{4,5}|\*):[\w*\-]{1,63}:[\w*\-]{1,63}:([^\s:\"'`]{4,200})(?=$|\n|[\"'][ \t]*>)",
    ),
)
