"""Where the triples lie in the vault: one file for each asserting page, one for each installation without a page.

graph/.gitattributes               *.nt merge=union: lines are only ever added, so the union of two sides is right
graph/<2 hex>/<page id>.nt         what that page asserts
graph/links/<installation>.nt      what was stated without a page
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from wikimem.errors import Invalid
from wikimem.graph.naming import page_iri
from wikimem.graph.statements import digest
from wikimem.graph.vocabulary import FORGOTTEN, XSD
from wikimem.model.page import FileStat
from wikimem.text.ids import is_ulid
from wikimem.text.triples import Literal, Triple, parse_line, render_triple, render_triples

FOLDER: Final = "graph"
ATTRIBUTES_PATH: Final = "graph/.gitattributes"
ATTRIBUTES: Final = b"*.nt merge=union -text\n"
"""`-text`: the bytes in git are the bytes on disk, so that no line ending is ever changed."""
MOST_BYTES: Final = 64_000_000
"""Of one file; a larger one is not what a page says."""
_LINKS: Final = "graph/links"
_FILE: Final = re.compile(r"graph/(?:([0-9a-f]{2})/([0-9A-Z]{26})|links/([0-9A-Za-z-]{1,64}))\.nt")


def page_file(page_id: str) -> str:
    """The file of what a page asserts, from the vault's root."""
    return f"{FOLDER}/{digest(page_id.upper())[:2]}/{page_id.upper()}.nt"


def installation_file(installation: str) -> str:
    """The file of what this installation's callers state without a page."""
    return f"{_LINKS}/{installation}.nt"


def page_of_file(path: str) -> str | None:
    """The id of the page whose file that is; None for an installation's."""
    match = _FILE.fullmatch(path)
    return match[2] if match and match[2] and is_ulid(match[2]) else None


def find_graph_files(root: Path) -> dict[str, FileStat]:
    """Path and stat of every file of triples in the vault. Symbolic links and other files are passed by."""
    return dict(sorted(_walk(root)))


def _walk(root: Path) -> Iterator[tuple[str, FileStat]]:
    for folder in _entries(root / FOLDER):
        if not folder.is_dir(follow_symlinks=False):
            continue
        for file in _entries(Path(folder.path)):
            path = f"{FOLDER}/{folder.name}/{file.name}"
            if _FILE.fullmatch(path) is None:
                continue
            try:
                seen = file.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue  # removed since its folder was listed
            if stat.S_ISREG(seen.st_mode) and seen.st_size <= MOST_BYTES:
                yield path, FileStat(seen.st_size, seen.st_mtime_ns, seen.st_ino)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    if folder.is_symlink():
        return []
    try:
        with os.scandir(folder) as listing:
            return list(listing)
    except (FileNotFoundError, NotADirectoryError):
        return []


def with_triples(data: bytes, triples: Iterable[Triple]) -> bytes:
    """The file with these triples added, its triples sorted. Lines stay as they are written; those that are no triples
    (comments, what cannot be read) come last.

    A forgotten page's file takes nothing more: it comes back as it was.
    """
    written: dict[Triple, str] = {}
    others: list[str] = []
    for line in data.decode("utf-8", "surrogateescape").removeprefix("\ufeff").split("\n"):
        try:
            triple = parse_line(line.removesuffix("\r"))
        except Invalid:
            triple = None
        if triple is not None:
            written.setdefault(triple, line.removesuffix("\r"))
        elif line.strip():
            others.append(line)
    if any(triple.predicate == FORGOTTEN for triple in written):
        return data
    for triple in triples:
        written.setdefault(triple, render_triple(triple))
    return "".join(f"{line}\n" for line in [*sorted(written.values()), *others]).encode("utf-8", "surrogateescape")


def tombstone(page_id: str) -> bytes:
    """What is left of a forgotten page's file: always the same line, so that two who forget agree."""
    return render_triples([Triple(page_iri(page_id), FORGOTTEN, Literal("true", XSD + "boolean"))]).encode()
