"""What wikimem itself wrote into a new vault's home page: how to use the vault is no memory of anything."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from wikimem.search.hits import Excerpt

HOME: Final = "Home.md"
"""The page that a new vault begins with."""


def own_excerpts(path: str, excerpts: tuple[Excerpt, ...]) -> tuple[Excerpt, ...]:
    """Those excerpts of a page in which somebody has written something: all of any page but the home page."""
    if path != HOME:
        return excerpts
    return tuple(each for each in excerpts if not all(map(_is_given, each.text.splitlines())))


def _is_given(line: str) -> bool:
    plain = line.strip()
    return not plain or plain.startswith("# ") or plain in _template_lines()


@cache
def _template_lines() -> frozenset[str]:
    from wikimem.vault.create import templates_folder

    text = (templates_folder() / "vault" / f"{HOME}.j2").read_text("utf-8")
    return frozenset(line.strip() for line in text.splitlines())
