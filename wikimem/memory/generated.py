"""The section of a page that wikimem writes: between two comments, the first of which has a hash of what is between.

    %% wikimem:known 3f2a91c04b7d %%
    …
    %% /wikimem:known %%

While the hash fits, the section is wikimem's and is written anew. Once somebody has edited it, it is theirs and stays
as it is. The comments do not show in Obsidian's reading view.
"""

from __future__ import annotations

from msgspec import Struct

from wikimem.text.knownsection import KNOWN_MARK, KNOWN_SECTION, known_hash, without_known_section
from wikimem.text.sessionpage import without_digest


class Renewed(Struct, frozen=True):
    """The text with its section as it should be. `theirs`: somebody edited it, and nothing was changed."""

    text: str
    theirs: bool = False


def renewed(text: str, content: str) -> Renewed:
    """`text` with `content` (lines with their ends; empty for none) as its generated section.

    A page without one gets it at its end, after a blank line; the line endings are those of the page.
    """
    ending = "\r\n" if "\r\n" in text else "\n"
    found = list(KNOWN_SECTION.finditer(text))
    if len(found) != len(KNOWN_MARK.findall(text)) / 2 or len(found) > 1:
        return Renewed(text, theirs=True)
    section = ""
    if content:
        section = f"%% wikimem:known {known_hash(content)} %%\n{content}%% /wikimem:known %%\n".replace("\n", ending)
    if found:
        match = found[0]
        if known_hash(match[2]) != match[1]:
            return Renewed(text, theirs=True)
        return Renewed(text[: match.start()] + section + text[match.end() :])
    if not section:
        return Renewed(text)
    gap = "" if not text or text.endswith(ending * 2) else ending if text.endswith(ending) else ending * 2
    return Renewed(text + gap + section)


def without_generated(text: str) -> str:
    """`text` without a section that is wikimem's own, nor the digest of a session: what they say was read elsewhere."""
    return without_digest(without_known_section(text))
