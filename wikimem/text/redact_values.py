"""Is a value that stands where a secret would stand really one?

Documentation, code and prose put other things in that place: a placeholder, a variable, a type, an adjective, a path.
Each test here is a pure function of the value; what the place itself says is decided in `redact_assign`.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import cache
from itertools import pairwise


@cache
def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """`pattern`, compiled once, when it is first needed: a hook that finds no anchor compiles nothing."""
    return re.compile(pattern, flags)


def word_set(text: str) -> frozenset[str]:
    """The blank-separated words of a table."""
    return frozenset(text.split())


class Place(IntEnum):
    """How surely the text says "this is the value", from a sentence to a shell assignment."""

    LOOSE = 0  # prose, a table cell, a variable assigned in code
    LINE = 1  # an unquoted value that ends its line or its element, as in YAML or an ini file
    QUOTED = 2  # a quoted literal
    EXACT = 3  # NAME=value in a shell, an .env file, a connection string


# A value with one of these in it is shown, not used.
_SHOWN = (
    r"example|placeholder|change[-_ ]?(?:me|it|this)|replace[-_ ]?(?:me|this|with)|redacted|insert[-_ ]"
    r"|(?:^|[^a-z])your|^my[-_ ]?(?:secret|password|token|(?:api[-_ ]?)?key)$|dummy|[-_]here$|^goes[-_ ]here|^x{3,}"
    r"|(.)\1{5}|\.\.\.|\u2026|\*{3}|\u2022{3}"
)
# Templates and variables: ${X}, $X, $(cmd), $x->y, {{ x }}, {x}, %X%, %(x)s, <x>, [x], (x), #{x}, @{x}, :x, &x.
_TEMPLATE = (
    r"\$\{|\$\(|\$[A-Z_][A-Z0-9_]*$|\$(?:env:)?[A-Za-z_.]+$|\$[0-9@]$|\$[A-Za-z_]\w*(?:->|::|-$|[.\[{])"
    r"|\{\{|\{%|#\{|@\{|\{[\w .:!\-]*\}?$|%\(|%[A-Za-z_]\w*%$|%[sdrv]$"
    r"|<%|<[^<>]*>?$|\[[\w .\-]*\]?$|\([\w .\-]*\)$|:[a-z_]+$|\?$|&[a-zA-Z_]\w*$"
    r"|!(?:ENV|Ref|Sub|vault)\b|env[.(:]|secrets?\.|vault:|op://|ref\+|@@[\w.\-]+@@$|@[A-Z]\w*(?:\.[A-Z]\w*)+$"
)
_REFERENCE = (
    r"os\.environ|os\.getenv|process\.env|import\.meta\.env|std::env|System\.getenv|ENV\[|self\.|this\.|args\.|config\."
    r"|settings\."
)
_NEGATED = r"!{1,2}[A-Za-z_$][A-Za-z_.$]*"
_CALL = r"!?(?:await |new )?[A-Za-z_$][\w.$:?!]*(?:<[^<>]*>)?[(\[]"
_DOTTED = r"[A-Za-z_$][\w$]*(?:(?:\.|->|::)[A-Za-z_$][\w$]*)+\(?"
_OTHER_THINGS = (
    r"(?:~|\.{1,2})?/{1,2}(?:[\w.@\-]+/)*[\w.@\-]*$"  # a path
    r"|[A-Za-z]:\\"
    r"|[a-z][a-z0-9+.\-]*://"
    r"|[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)*\.[A-Za-z]{2,}$"  # a mail address
    r"|[\w\-/]+\.(?:json|ya?ml|toml|txt|md|pem|key|crt|env|ini|cfg|py|js|ts|tsx|go|rs|rb|java|sh|html?|php|csv|log)$"
    r"|\d{4}-\d\d(?:-\d\d)?(?:[T ].*)?$|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}$|\d{1,2}:\d\d(?::\d\d)?$"
    r"|[~^><=v]{0,2}\d+(?:\.\d+)+(?:[-+.]?(?:alpha|beta|rc|dev|post)?\.?\d*)?$"  # a version
    r"|\d+(?:\.\d+)?\s?[-+]?\s?(?:[num]?s|secs?|m|mins?|h|hrs?|d|days?|w|weeks?|months?|y|years?)$"  # a duration
    r"|\d+(?:\.\d+)?\s?[-+]?\s?(?:chars?|characters|bits?|bytes?|[kmg]i?b|tokens?|px|r?em)$"  # a size
    r"|\d+[-\u2013]\d+$|\d+[kKmMgG]?[bB]?[+]?$(?<!\d{4})"
    r"|(?:sha(?:1|224|256|384|512)|md5|blake2b|blake3)[-:]"
    r"|#?[0-9a-fA-F]{6}$(?<=#[0-9a-fA-F]{6})"
    r"|data:\w+/"
)
_TECHNICAL = (
    r"(?:sha-?\d+|md5|base(?:32|58|64)(?:url)?|utf-?(?:8|16)|oauth-?[12](?:\.0)?|http-?[123]|[erhp]s(?:256|384|512)"
    r"|ed25519|x25519|curve25519|x509|pbkdf2|argon2(?:id|i|d)?|bcrypt\d*|scrypt\d*|aes-?\d*|rsa-?\d*|uuid-?v?\d?|v\d+"
    r"|1password|2fa|k8s|i18n|l10n|s3|ec2|rfc-?\d+|jwt|jwe|tls-?v?\d?(?:\.\d)?|p256|secp256[kr]1|hmac|saml2?|ipv[46]"
    r"|win32|x86_64|amd64|arm64|python\d*(?:\.\d+)*|node\d*)(?:[-_/](?:[a-z]+|sha\d+|\d{3}))*"
)
_SECRET_WORD = r"passw|passphrase|secret|token|credential|api[-_]?key"
# A name with a number, as programs and places have: staging-2024, eu-west-1, my-service-v2, token2.
_NUMBERED = r"(?:[A-Za-z]{2,}[-_./])+[A-Za-z]{0,20}v?\d{1,4}|[A-Za-z]{2,}\d{1,2}|(?:[a-z]{2,}\d?[-_./]){2,}[a-z]+"
_TOKEN_CHARS = r"[\w\-+/=.:~%@!#$^&*,;?()]+"
_CLASS_NAME = r"(?:Private|Public|Secret|Access|Api)Key|Token|Secret|Password|Credential"
_ENDS_AS_NAME = r"(?:token|secret|key|credential)s?$"
_SYMBOLS = frozenset("!@#$%^&*+=~?")

# Words of a message to the user, which a passphrase of random words does not have.
_SPEECH = word_set(
    "your the is are was must should please enter not to for a an of and or in be at with has have by from"
)
# Single words that follow "password:" or stand in its place, and are not one.
_WORDS = word_set(
    """
    string str text bytes byte int integer number float bool boolean object any unknown never void char varchar
    array list dict map optional option maybe nullable field column type secretstr stringvar buffer uint8array
    securestring none null nil undefined true false yes no on off empty unset blank default auto manual inherit
    required mandatory invalid valid missing expired expires wrong incorrect correct weak strong short long
    hashed encrypted encoded decoded plaintext plain cleartext hidden masked removed omitted stored saved shared
    private public secure insecure unsafe safe unique random generated temporary permanent static dynamic
    rotated revoked leaked exposed compromised set reset changed change updated update verified rejected
    accepted denied allowed forbidden failed failure success pending unavailable available opaque signed
    unsigned good fine okay same different new old current previous next first last here there below above
    elsewhere somewhere nowhere this that these those what which where when see todo tbd fixme pass password
    passwd passphrase passcode secret token credential credentials apikey pwd key keys value values username
    user name email login auth authentication authorization bearer basic digest oauth sso saml ldap kerberos
    vault keychain keyring lastpass bitwarden keepass env environment config configuration settings foo bar baz
    foobar qux hello test testing tests mock fake stub sample demo lorem access refresh session cookie header
    body query input output result response request self args kwargs params options props data payload form
    await async return import from const let var function lambda and or not with without for in is are was the a
    an it its must should can may will ignored ignore
    minimum maximum skipped skip deprecated supported unsupported disabled
    enabled enforced protected based only exists ready done used unused readonly rw ro admin
    """
)


def looks_mixed(value: str) -> bool:
    """Has this at least one digit and one letter?"""
    return any(char.isdigit() for char in value) and any(char.isalpha() for char in value)


def looks_random(value: str) -> bool:
    """Do small letters, capitals and digits follow each other as no word or name has them?"""
    kinds = [2 if char.isdigit() else char.isupper() for char in value if char.isalnum()]
    return len(kinds) >= 8 and sum(a != b for a, b in pairwise(kinds)) * 5 >= len(kinds) * 2


def is_placeholder(value: str) -> bool:
    """Does this stand in a secret's place without being one, in any surroundings?"""
    bare = value.strip(" \t\"'`,;")
    if not bare or not any(char.isalnum() for char in bare):
        return True
    if compiled(_SHOWN, re.IGNORECASE).search(bare) or compiled(_TEMPLATE).match(bare):
        return True
    return (
        bare.lower() in _WORDS
        or set(bare.lower()) <= set("x-_.0*#")
        or (set(bare) <= set("0123456789abcdef") and len(set(bare)) == 1)
    )


def _is_code(value: str) -> bool:
    """An expression rather than a literal: a call, an index, an attribute path."""
    if compiled(_REFERENCE).match(value) or compiled(_CALL).match(value) or compiled(_NEGATED).fullmatch(value):
        return True
    # A path of plain names; three random runs joined by dots are a token.
    return bool(compiled(_DOTTED).fullmatch(value)) and max(len(part) for part in compiled(r"\W+").split(value)) < 24


def _changes_case_at_random(value: str) -> bool:
    """Does the case change far more often than in a name written in camel case?"""
    letters = [char for char in value if char.isalpha()]
    changes = sum(a.isupper() != b.isupper() for a, b in pairwise(letters))
    return len(letters) >= 16 and changes * 3 >= len(letters)


def is_secret(value: str, place: Place, *, password: bool, shouted: bool = False) -> bool:
    """Is `value`, found in `place`, a secret?

    A password may be any word where the place is sure; a token or key must look like one.
    `shouted`: the name of the value is in capitals, as of an environment variable.
    """
    size = len(value)
    if is_placeholder(value) or compiled(_TECHNICAL, re.IGNORECASE).fullmatch(value):
        return False
    if compiled(_OTHER_THINGS).match(value) and not (looks_mixed(value) and _changes_case_at_random(value)):
        return False
    if size >= 200 and not any(char.isspace() for char in value):
        return True
    if place is not Place.QUOTED and _is_code(value) and not (place is Place.EXACT and looks_mixed(value)):
        return False
    if " " in value or "\t" in value:
        return _is_passphrase(value, place, password)
    if not any(char.isalpha() for char in value):
        return size >= (4 if password and place else 6 if password or place is Place.EXACT else 16)
    if any("\u3040" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7a3" for char in value):
        return False
    if password:
        return _is_password(value, place)
    return _is_token(value, place, shouted)


def _is_passphrase(value: str, place: Place, password: bool) -> bool:
    """Several words in quotes: a passphrase, unless they read as a message to the user."""
    words = value.split()
    return (
        password
        and place >= Place.QUOTED
        and not compiled(_SECRET_WORD, re.IGNORECASE).search(value)
        and len(value) <= 200
        and not value.rstrip().endswith((":", "?", "."))
        and _SPEECH.isdisjoint(value.lower().split())
        and (words[0].islower() or looks_mixed(value))
    )


def _is_password(value: str, place: Place) -> bool:
    size = len(value)
    if looks_mixed(value):
        return size >= (4 if place else 6)
    if size >= 6 and not _SYMBOLS.isdisjoint(value) and any(char.isalpha() for char in value):
        return True
    random = looks_random(value) or _changes_case_at_random(value)
    if place is Place.LOOSE:
        # A plain word after "is" is an adjective far more often than a password.
        return len(compiled(r"[A-Za-z]{2,}(?=-)").findall(value)) >= 3 or random
    if (
        place is Place.LINE
        and not random
        and (compiled(_SECRET_WORD, re.IGNORECASE).search(value) or compiled(r"[a-z][A-Z]").search(value))
    ):
        return False
    return size >= 4


def _is_token(value: str, place: Place, shouted: bool) -> bool:
    size = len(value)
    # Brackets, bars and backslashes make a regular expression or a template, not a token.
    if not compiled(_TOKEN_CHARS).fullmatch(value):
        return False
    if place < Place.QUOTED and compiled(_CLASS_NAME).search(value):
        return False
    if looks_mixed(value):
        exact = place is Place.EXACT or (place is Place.QUOTED and shouted)
        return size >= (8 if place else 12) and (exact or not compiled(_NUMBERED).fullmatch(value))
    if place is Place.EXACT:
        return size >= 10
    if place is Place.QUOTED and shouted:
        # NAME_OF_TOKEN = "name-of-token" is an enumeration, a header or the name of a variable.
        return size >= 10 and not compiled(_ENDS_AS_NAME, re.IGNORECASE).search(value)
    if _changes_case_at_random(value):
        return True
    one_word = value.isalpha() and (value.islower() or value.isupper())
    return place is Place.QUOTED and size >= 16 and one_word and not compiled(_SECRET_WORD, re.IGNORECASE).search(value)
