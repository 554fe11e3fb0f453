"""The section of a page that wikimem writes: between two comments, the first of which has a hash of what is between.

    %% wikimem:known 3f2a91c04b7d %%
    …
    %% /wikimem:known %%

While the hash fits, the section is wikimem's and is written anew. Once somebody has edited it, it is theirs and stays
as it is. The comments do not show in Obsidian's reading view.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

from msgspec import Struct

from wikimem.text.sessionpage import without_digest

_SECTION: Final = re.compile(
    r"(?ms)^%% wikimem:known ([0-9a-f]{12}) %%[ \t]*\r?\n(.*?)^%% /wikimem:known %%[ \t]*(?:\r?\n|\Z)"
)
_BEGINNING: Final = re.compile(r"(?m)^%% /?wikimem:known\b")


class Renewed(Struct, frozen=True):
    """The text with its section as it should be. `theirs`: somebody edited it, and nothing was changed."""

    text: str
    theirs: bool = False


def renewed(text: str, content: str) -> Renewed:
    """`text` with `content` (lines with their ends; empty for none) as its generated section.

    A page without one gets it at its end, after a blank line; the line endings are those of the page.
    """
    ending = "\r\n" if "\r\n" in text else "\n"
    found = list(_SECTION.finditer(text))
    if len(found) != len(_BEGINNING.findall(text)) / 2 or len(found) > 1:
        return Renewed(text, theirs=True)
    section = ""
    if content:
        section = f"%% wikimem:known {_hash(content)} %%\n{content}%% /wikimem:known %%\n".replace("\n", ending)
    if found:
        match = found[0]
        if _hash(match[2]) != match[1]:
            return Renewed(text, theirs=True)
        return Renewed(text[: match.start()] + section + text[match.end() :])
    if not section:
        return Renewed(text)
    gap = "" if not text or text.endswith(ending * 2) else ending if text.endswith(ending) else ending * 2
    return Renewed(text + gap + section)


def without_generated(text: str) -> str:
    """`text` without a section that is wikimem's own, nor the digest of a session: what they say was read elsewhere."""
    return without_digest(_SECTION.sub(lambda match: match[0] if _hash(match[2]) != match[1] else "\n", text))


def _hash(content: str) -> str:
    return hashlib.sha256(content.replace("\r\n", "\n").encode("utf-8", "surrogatepass")).hexdigest()[:12]
