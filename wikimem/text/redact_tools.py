"""Where the command of one particular tool takes a secret as an argument: a second table of spots, and lists of pairs.

As in `redact_spots`: a spot is tried only where its anchor stands, and every run is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator

from wikimem.text.redact_spots import ARGUMENTS, LITERAL, VALUE, Spot, option
from wikimem.text.redact_values import compiled, is_placeholder

_GAP = r"[ \t]{1,8}"
_WORD = r"[^\s|;&]{1,120}"
_FLAGS = rf"(?:{_GAP}-{{1,2}}[\w\-]{{1,30}}(?:=[^\s|;&]{{1,60}})?){{0,5}}"
_SECRET = rf"(?!-){VALUE}"
_ENDS = r"(?=[ \t]*(?:$|[\r\n|;&`\"']))"

TOOLS: tuple[Spot, ...] = (
    # Options.
    Spot(
        "password",
        ("ssh-keygen",),
        option("ssh-keygen", r"(?-i:-N)[ \t]{0,8}(?!-)"),
    ),
    Spot("password", ("ssh-keygen",), option("ssh-keygen", r"(?-i:-P)[ \t]{0,8}(?!-)")),
    Spot(
        "password",
        ("security ",),
        option(r"(?<![\w\-])security[ \t]+add-(?:generic|internet)-password", r"(?-i:-[wp])[ \t]{1,8}(?!-)"),
    ),
    Spot(
        "password",
        ("security ",),
        option(
            r"(?<![\w\-])security[ \t]+(?:(?:unlock|create)-keychain|import|export|set-key-partition-list)",
            r"(?-i:-[pPk])[ \t]{1,8}(?!-|/|~|\S{1,200}\.(?:p12|pem|pfx|keychain))",
        ),
    ),
    Spot("password", ("useradd", "usermod"), option("user(?:add|mod)", r"(?-i:-p|--password)[ \t=]{1,8}(?!-)")),
    Spot("password", ("lftp",), rf"lftp\b{ARGUMENTS}[ \t\"']-u[ \t]{{1,8}}[\"']?[^\s,\"']{{1,80}},{VALUE}"),
    Spot(
        "password",
        (
            "beeline",
            "psexec",
            "ncftp",
            "helm registry login",
            "crane auth login",
            "rabbitmqadmin",
            "evil-winrm",
            "security unlock-keychain",
        ),
        option(
            r"beeline|psexec\w{0,3}|ncftp\w{0,4}|(?:helm registry|crane auth) login|rabbitmqadmin|evil-winrm",
            r"(?-i:-p)[ \t]{1,8}(?!-)",
        ),
    ),
    Spot("password", ("plink", "pscp", "psftp", "putty"), option("plink|pscp|psftp|putty", r"-pw[ \t]{1,8}(?!-)")),
    Spot("password", ("rar ",), option("(?:(?<![a-z])|(?<=un))rar", r"-h?p(?=[^\s,.:)\]\-])")),
    Spot("password", ("pdfto",), option(r"pdfto\w{2,5}", r"-[uo]pw[ \t]{1,8}(?!-)")),
    Spot("password", ("pdftk",), option("pdftk", r"(?:user|input)_pw[ \t]{1,8}(?!-)")),
    Spot("password", ("pdftk",), option("pdftk", r"owner_pw[ \t]{1,8}(?!-)")),
    Spot(
        "password",
        ("-storepass", "-keypass", "-srcstorepass", "-deststorepass", "-srckeypass", "-destkeypass"),
        rf"-(?:src|dest)?(?:store|key)pass{_GAP}{_SECRET}",
    ),
    Spot("password", ("kadmin",), option("kadmin", r"-pw[ \t]{1,8}(?!-)")),
    Spot(
        "password",
        ("nmcli",),
        option("nmcli", r"(?:wifi-sec\.psk|802-11-wireless-security\.psk|password)[ \t]{1,8}(?!-)"),
    ),
    Spot(
        "password",
        ("rclone config",),
        option("rclone config (?:create|update)", r"(?:pass(?:word)?2?|secret_access_key|token|key)[ \t=]{1,8}(?!-)"),
    ),
    Spot(
        "password",
        ("--creds", "--src-creds", "--dest-creds"),
        rf"--(?:src-|dest-)?creds[ \t=]{{1,8}}[\"']?[^\s:\"']{{1,100}}:{VALUE}",
    ),
    Spot("password", ("hash-password",), option("hash-password", r"(?:--plaintext|-p)[ \t=]{1,8}(?!-)")),
    Spot("secret", ("gh secret set",), option("gh secret set", r"(?:--body[ \t=]{1,8}|-b[ \t=]{0,8})(?!-)")),
    Spot(
        "secret",
        ("put-parameter",),
        rf"put-parameter\b(?={ARGUMENTS}securestring){ARGUMENTS}[ \t\n]--value[ \t=]{{1,8}}{_SECRET}",
    ),
    Spot(
        "secret",
        ("keyvault secret set", "eas secret:create", "glab variable set"),
        option(r"keyvault secret set|eas secret:create|glab variable set", r"(?:--value|-v)[ \t=]{1,8}(?!-)"),
    ),
    Spot("secret", ("--secret-string",), rf"--secret-string[ \t=]{{1,8}}(?!file:){_SECRET}"),
    Spot("token", ("tailscale",), option("tailscale", r"--auth-?key[ \t=]{1,8}(?!-)")),
    Spot("token", ("ibmcloud",), option("ibmcloud", r"--apikey[ \t=]{1,8}(?!-)")),
    # Places: after so many words.
    Spot("password", ("net user",), rf"net user{_GAP}[^\s/*]{{1,60}}{_GAP}(?![/*]){VALUE}(?=[ \t]{{1,8}}/[a-z])"),
    Spot("password", ("net user",), rf"net user{_GAP}/add{_GAP}(?!/)[^\s/*]{{1,60}}{_GAP}(?![/*]){VALUE}"),
    Spot("password", ("rasdial",), rf"rasdial{_GAP}{_WORD}{_GAP}(?!/){_WORD}{_GAP}(?!/){_SECRET}"),
    Spot("password", ("-passwd /",), rf"-passwd{_GAP}/\S{{1,100}}{_GAP}{_SECRET}"),
    Spot("token", ("pypi-token.",), rf"pypi-token\.[\w\-]{{1,60}}{_GAP}{_SECRET}"),
    Spot("password", ("http-basic.",), rf"http-basic\.[\w.\-]{{1,100}}{_GAP}(?!-){_WORD}{_GAP}{_SECRET}"),
    Spot(
        "token",
        ("github-oauth.", "gitlab-token.", "bearer.", "bitbucket-oauth."),
        rf"(?:(?:github|bitbucket)-oauth|gitlab-token|(?<=[ \t])bearer)\.[\w.\-]{{1,100}}{_GAP}{_SECRET}",
    ),
    Spot(
        "token",
        ("acl set-agent-token",),
        rf"acl set-agent-token{_FLAGS}{_GAP}[a-z_]{{1,30}}{_GAP}{_SECRET}",
    ),
    Spot(
        "token",
        ("config set",),
        rf"config set{_FLAGS}{_GAP}[\"']?[^\s=|;&\"']{{0,120}}"
        rf"(?:_authToken|_auth|_password|npmAuth(?:Token|Ident))[\"']?(?:{_GAP}|=){_SECRET}",
    ),
    Spot(
        "secret-key",
        ("configure set",),
        rf"configure set{_FLAGS}{_GAP}[\w.\-]{{0,80}}aws_(?:secret_access_key|session_token){_GAP}{_SECRET}",
    ),
    Spot(
        "password",
        ("bundle config", "bundler config"),
        rf"bundler? config(?:{_GAP}set)?{_FLAGS}{_GAP}[\w\-]{{1,60}}(?:\.|__)[\w.\-]{{1,80}}{_GAP}[\"']?"
        rf"[^\s:\"'/]{{1,80}}:(?!//|\d{{1,5}}\b){VALUE}",
    ),
    Spot(
        "secret",
        ("pulumi config set",),
        rf"pulumi config set(?={ARGUMENTS}--secret\b)(?:{_GAP}--secret)?{_GAP}(?!-)[\w:.\-]{{1,80}}{_GAP}{_SECRET}",
    ),
    Spot("secret", ("user-secrets set",), rf"user-secrets set{_GAP}[\"']?[\w:.\-]{{1,100}}[\"']?{_GAP}{_SECRET}"),
    Spot("secret", ("doppler secrets set",), rf"doppler secrets set{_GAP}(?!-)\w{{1,80}}{_GAP}{_SECRET}"),
    Spot("secret", ("encrypt_string",), rf"encrypt_string{_GAP}{_SECRET}"),
    Spot(
        "secret", ("chamber write",), rf"chamber write{_GAP}(?!-)[\w/.\-]{{1,80}}{_GAP}[\w.\-]{{1,80}}{_GAP}{_SECRET}"
    ),
    Spot("secret", ("credstash put",), rf"credstash put{_GAP}(?!-)[\w/.\-]{{1,80}}{_GAP}{_SECRET}"),
    Spot(
        "secret",
        ("glab variable set",),
        rf"glab variable set{_GAP}(?!-)\w{{1,80}}{_GAP}{_SECRET}",
    ),
    Spot(
        "secret", ("netlify env:set",), rf"netlify env:set(?={ARGUMENTS}--secret\b){_GAP}(?!-)\w{{1,80}}{_GAP}{_SECRET}"
    ),
    Spot(
        "password",
        ("openssl passwd",),
        rf"openssl passwd(?:{_GAP}-(?:[1569]|apr1|aixmd5|crypt)|{_GAP}-salt{_GAP}{_WORD}){{1,3}}{_GAP}{_SECRET}{_ENDS}",
    ),
    Spot("password", ("mkpasswd",), rf"mkpasswd{_GAP}-m{_GAP}[\w\-]{{1,20}}{_GAP}{_SECRET}"),
    Spot("password", ("rclone obscure",), rf"rclone obscure{_GAP}{_SECRET}"),
    Spot("token", ("cargo login",), rf"cargo login{_FLAGS}{_GAP}{_SECRET}{_ENDS}"),
    Spot("token", ("nuget setapikey",), rf"nuget setapikey{_GAP}{_SECRET}"),
    Spot("token", ("ngrok",), rf"ngrok{_GAP}(?:config{_GAP}add-)?authtoken{_GAP}{_SECRET}"),
    Spot("token", ("snyk auth",), rf"snyk auth{_FLAGS}{_GAP}{_SECRET}{_ENDS}"),
    Spot("token", ("vault login",), rf"vault login{_FLAGS}{_GAP}token={VALUE}"),
    Spot("token", ("cloudflared",), rf"cloudflared{_GAP}service{_GAP}install{_GAP}{_SECRET}"),
    Spot(
        "secret",
        ("mc alias set", "mc config host add"),
        rf"mc (?:alias set|config host add){_GAP}(?!-)[\w\-]{{1,60}}"
        rf"{_GAP}\S{{4,200}}{_GAP}(?!-)\S{{1,100}}{_GAP}{_SECRET}",
    ),
    Spot(
        "password",
        ("rabbitmqctl",),
        rf"rabbitmqctl{_FLAGS}{_GAP}(?:add_user|change_password|authenticate_user){_GAP}(?!-){_WORD}{_GAP}{_SECRET}",
    ),
    Spot(
        "password",
        ("mosquitto_passwd",),
        rf"mosquitto_passwd(?:{_GAP}-[a-zA-Z]{{1,4}}){{0,3}}{_GAP}(?!-)\S{{1,200}}{_GAP}(?!-)\S{{1,80}}{_GAP}{_SECRET}{_ENDS}",
    ),
    Spot(
        "password",
        ("samba-tool user",),
        rf"samba-tool user (?:create|add|setpassword){_GAP}(?!-){_WORD}{_GAP}{_SECRET}",
    ),
    Spot("password", ("drush",), rf"drush[^\n]{{0,80}}? user[:\-]password{_GAP}{_WORD}{_GAP}{_SECRET}"),
    Spot("password", ("reset-admin-password",), rf"reset-admin-password{_FLAGS}{_GAP}{_SECRET}{_ENDS}"),
    # Protocols, as they are typed.
    Spot(
        "password",
        ("auth ",),
        # At a prompt any word; at the start of a line, where a heading may stand, one with a digit, or after the user.
        rf"(?:(?<=\d> )|(?<=redis> )"
        rf"|(?:(?<=\n)|(?<![\s\S]))(?=AUTH[ \t]+(?:default[ \t]+\S|\S{{0,40}}[ \t]*\S{{0,80}}\d)))"
        rf"(?-i:AUTH)[ \t]+(?:[a-z][\w\-]{{0,30}}[ \t]+)?{_SECRET}[ \t]*(?=$|[\r\n])",
    ),
    Spot(
        "password",
        ("redis-cli", "valkey-cli"),
        rf"(?:redis|valkey)-cli\b{ARGUMENTS}[ \t]AUTH[ \t]+(?:[\w\-]{{1,40}}[ \t]+)?{_SECRET}{_ENDS}",
    ),
    Spot("password", ("acl setuser",), rf"acl setuser{_GAP}\S{{1,80}}[^\n]{{0,120}}?[ \t\"']>([^\s\"']{{3,200}})"),
    Spot("password", ("auth plain ",), r"(?-i:AUTH PLAIN)[ \t]+([A-Za-z0-9+/]{12,400}={0,2})(?![A-Za-z0-9+/])"),
    Spot(
        "password",
        ("user ",),
        r"(?-i:USER)[ \t]\S{1,80}[ \t]*\r?\n(?:\d{3}[ \-][^\n]{0,100}\n|\+OK[^\n]{0,100}\n){0,2}"
        r"(?-i:PASS)[ \t]+(\S{4,100})[ \t]*(?=$|[\r\n])",
    ),
    Spot("password", ("with password", "encrypted password"), rf"(?:with|encrypted) password[ \t]+{LITERAL}"),
    # What types a password for a person.
    Spot(
        "password",
        ("expect",),
        r"expect\b[^\n]{0,80}?(?:assword|assphrase|passwd|PIN)[^\n]{0,20}?[\"'}][ \t\r\n;{]{0,40}"
        r"send(?:_user)?[ \t]+(?:--[ \t]+)?\\?\"([^\"\n\\]{3,200})\\{1,2}[rn]",
    ),
    Spot(
        "password",
        ("expect",),
        rf"expect\w{{0,10}}\([^\n]{{0,80}}?(?:assword|assphrase|passwd|PIN)[^\n]{{0,40}}\)[ \t\r\n;]{{0,40}}"
        rf"[\w.]{{0,40}}send(?:line)?\({LITERAL}",
    ),
    Spot(
        "password",
        ("convertto-securestring",),
        rf"ConvertTo-SecureString(?:{_GAP}-(?:AsPlainText|Force|String)){{0,3}}{_GAP}{LITERAL}",
    ),
)

# NAME=secret, any number of times: what takes them keeps nothing but secrets.
_PAIR = rf"(?:[ \t]|\\\r?\n){{1,20}}[\"']?([A-Za-z_][\w.\-]{{0,80}})={VALUE}"
_OTHER = r"(?:[ \t]|\\\r?\n){1,20}[^\s|;&]{1,200}"
_LISTS = ("secrets set", "kv put", "kv patch", "travis encrypt")
_LIST_HEAD = (
    r"(?:(?:fly|flyctl|doppler|supabase|infisical)[ \t]+secrets[ \t]+set"
    r"|vault[ \t]+kv[ \t]+(?:put|patch)|travis[ \t]+encrypt)\b"
)
_FROM_LITERAL = rf"--from-literal(?:=|[ \t]{{1,8}})[\"']?([\w.\-]{{1,253}})={VALUE}"
_MOST_PAIRS = 60
_COMMAND_REACH = 4000  # characters of one command before one of its options
# Names of what stands beside a secret and is none.
_BESIDE = (
    r"(?:\w*_)?(?:user(?:_?name)?|login|host(?:name)?|port|e?mail|region|database|db(?:_?name)?|node_env|type|env)"
)


def find_listed(text: str, low: str) -> Iterator[tuple[str, int, int]]:
    """The secrets in commands that take any number of them as NAME=value."""
    for anchor in _LISTS:
        at = low.find(anchor)
        while at >= 0:
            yield from _listed(text, max(at - 20, 0), at + len(anchor))
            at = low.find(anchor, at + len(anchor))
    at = low.find("--from-literal")
    while at >= 0:
        found = compiled(_FROM_LITERAL).match(text, at)
        if found is not None and _is_of_secret(low, at):
            yield from _value(text, found.span(1), found.span(found.lastindex or 1))
        at = low.find("--from-literal", at + 1)


def _listed(text: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    head = compiled(f"(?i:{_LIST_HEAD})").search(text, start, end)
    if head is None or head.end() != end:
        return
    at = end
    for _ in range(_MOST_PAIRS):
        pair = compiled(_PAIR).match(text, at)
        word = pair or compiled(_OTHER).match(text, at)
        if word is None:
            return
        if pair is not None:
            yield from _value(text, pair.span(1), pair.span(pair.lastindex or 1))
        at = word.end()
        if text[at : at + 1] in ('"', "'"):
            at += 1


def _value(text: str, name: tuple[int, int], value: tuple[int, int]) -> Iterator[tuple[str, int, int]]:
    beside = compiled(_BESIDE.replace("_?", "[-_.]?")).fullmatch(text[slice(*name)].lower())
    # `@name` is a file.
    if beside is None and text[value[0]] != "@" and not is_placeholder(text[slice(*value)]):
        yield "secret", *value


def _is_of_secret(low: str, at: int) -> bool:
    """Does the command around this option make a secret, rather than a map of settings?"""
    reach = max(at - _COMMAND_REACH, 0)
    head = low.rfind("create", reach, at)
    return (
        head >= 0
        and compiled(r"create[ \t]{1,8}secret\b").match(low, head) is not None
        and compiled(r"(?<!\\)(?<!\\\r)\n").search(low, head, at) is None
    )
