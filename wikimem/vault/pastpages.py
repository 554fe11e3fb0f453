"""Where a page was at an earlier commit: under its name, its id, or the name that git followed it from."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import Final

from wikimem.vault.gitcommand import run_git
from wikimem.vault.layout import is_page_name
from wikimem.vault.renames import path_with_id

_ID_END: Final = re.compile(r"[0-9A-HJKMNP-TV-Z]{6,26}")
"""As long an end of an id as a PAGE address needs."""


def path_then(root: Path, commit: str, path: str, page_id: str) -> str | None:
    """Where the page that is at `path` now was at `commit`; None where it was not there.

    `page_id` is its id: where that stands in the frontmatter, it decides.
    """
    from wikimem.text.page import parse_page

    held = run_git(root, "cat-file", "blob", f"{commit}:./{path}", check=False)
    there = held.returncode == 0
    if there and parse_page(path, held.stdout).meta.id in (page_id, None):
        return path
    by_id = path_with_id(root, commit, page_id)
    if by_id is not None:
        return by_id
    if there:
        return path
    names = run_git(root, "log", "-z", "--follow", "--format=", "--name-only", "--relative", "--", path, check=False)
    pages = set(pages_then(root, commit))
    former = (os.fsdecode(name).strip("\n") for name in names.stdout.split(b"\0"))
    return next((name for name in former if name in pages), None)


def pages_then(root: Path, commit: str) -> list[str]:
    """The Markdown files of the vault at `commit`."""
    listed = run_git(root, "ls-tree", "-r", "-z", "--name-only", commit, "--", ".", check=False)
    return [name for name in os.fsdecode(listed.stdout).split("\0") if is_page_name(name)]


def named_then(root: Path, commit: str, address: str) -> list[str]:
    """The pages of `commit` that an address means which names none now: a path, a file's name, an id or its end."""
    pages = pages_then(root, commit)
    exact = [path for path in pages if path in (address, f"{address}.md")]
    named = exact or [path for path in pages if PurePosixPath(path).stem.casefold() == address.casefold()]
    if named:
        return named
    by_id = path_with_id(root, commit, address) if _ID_END.fullmatch(address.upper()) else None
    return [by_id] if by_id is not None else []
