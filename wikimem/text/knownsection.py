"""The section that wikimem writes on the page of an entity, as it stands in a text: see `wikimem.memory.generated`.

It is wikimem's own while the hash in its first comment fits what is between; once somebody has edited it, it is theirs.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

KNOWN_SECTION: Final = re.compile(
    r"(?ms)^%% wikimem:known ([0-9a-f]{12}) %%[ \t]*\r?\n(.*?)^%% /wikimem:known %%[ \t]*(?:\r?\n|\Z)"
)
"""Group 1 is the hash, group 2 what is between."""
KNOWN_MARK: Final = re.compile(r"(?m)^%% /?wikimem:known\b")
"""The beginning or the end of one."""


def known_hash(content: str) -> str:
    """What the first comment says of the lines between; line endings do not matter."""
    return hashlib.sha256(content.replace("\r\n", "\n").encode("utf-8", "surrogatepass")).hexdigest()[:12]


def has_known_section(text: str) -> bool:
    """Whether a text has such a section, whoever wrote what it says now, or a mark of one."""
    return KNOWN_MARK.search(text) is not None


def without_known_section(text: str) -> str:
    """`text` without a section that is wikimem's own."""
    return KNOWN_SECTION.sub(lambda match: match[0] if known_hash(match[2]) != match[1] else "\n", text)


def with_hash_kept(before: str, after: str) -> str:
    """`after`, made of `before` by changing links, with a section that was wikimem's own still its own."""
    own = [match for match in KNOWN_SECTION.finditer(before) if known_hash(match[2]) == match[1]]
    found = list(KNOWN_SECTION.finditer(after))
    if len(own) != 1 or len(found) != 1:
        return after
    match = found[0]
    return after[: match.start(1)] + known_hash(match[2]) + after[match.end(1) :]
