"""What a page said before a merge that nobody has resolved yet: the sides of a conflict are no facts."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from wikimem.errors import WikimemError
from wikimem.model.page import Page
from wikimem.vault.gitcommand import run_git

log = logging.getLogger(__name__)

_LOOKED_AT: Final = 20
"""Commits of the page that are looked through for one without markers; a merge is committed with them now and then."""


def to_recall(root: Path, page: Page) -> Page:
    """`page` itself, or where it holds conflict markers its last clean revision in git, which is not to be written.

    The revision of such a page names both texts, `<of the file>~<of the clean one>`. Where git has no clean one, the
    text is left out.
    """
    if not page.has_conflict:
        return page
    from wikimem.text.page import parse_page

    try:
        found = run_git(root, "log", f"--max-count={_LOOKED_AT}", "--format=%H", "--", page.path).stdout.split()
        for commit in found:
            # Dots, so that a name that begins with a colon is none of git's magic.
            name = f"{os.fsdecode(commit)}:./{page.path}"
            done = run_git(root, "cat-file", "blob", name, check=False)
            clean = parse_page(page.path, done.stdout) if done.returncode == 0 else None
            if clean is not None and not clean.has_conflict:
                revision = f"{page.revision}~{clean.revision}"
                named = clean.id or page.id
                return replace(clean, id=named, revision=revision, problems=page.problems, writable=False)
    except WikimemError as error:
        log.warning("%s: no clean revision can be read: %s", page.path, error.message)
    return page.without_conflict()
