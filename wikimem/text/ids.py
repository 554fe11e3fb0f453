"""Names of pages and of their states: ULIDs, derived ids, revisions.

A ULID is 26 characters of Crockford's base 32: 48 bits of milliseconds since 1970, then 80 random bits, so that ids
sort by time (github.com/ulid/spec). The alphabet leaves out I, L, O and U.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import unicodedata
from datetime import datetime
from typing import Final

from wikimem.errors import Invalid

_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ULID: Final = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", re.IGNORECASE | re.ASCII)
_ULID_CHARACTERS: Final = 26
_RANDOM_BITS: Final = 80
_TIME_BITS: Final = 48
_REVISION_DIGITS: Final = 16


def _encode(number: int) -> str:
    return "".join(_ALPHABET[number >> 5 * place & 31] for place in reversed(range(_ULID_CHARACTERS)))


def new_ulid(now: datetime) -> str:
    """An id that nobody has yet. A time without zone is local; one outside the ULID's range is Invalid."""
    milliseconds = int(now.timestamp() * 1000)
    if not 0 <= milliseconds < 1 << _TIME_BITS:
        raise Invalid(f"no id can be made for the time {now.isoformat()}", hint="Check the clock of this machine.")
    return _encode(milliseconds << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS))


def derived_id(path: str) -> str:
    """The id of a page that wikimem did not make: a digest of its path, in the shape of a ULID.

    The path is normalised first: macOS may hand back the same name composed or decomposed.
    """
    digest = hashlib.blake2b(unicodedata.normalize("NFC", path).encode("utf-8", "surrogatepass"), digest_size=16)
    return _encode(int.from_bytes(digest.digest(), "big"))


def is_ulid(text: str) -> bool:
    """Upper and lower case alike, as Crockford's base 32 has it."""
    return _ULID.fullmatch(text) is not None


def revision_of(data: bytes) -> str:
    """The revision of a file: the first 16 hexadecimal digits of the SHA-256 of its bytes."""
    return hashlib.sha256(data).hexdigest()[:_REVISION_DIGITS]
