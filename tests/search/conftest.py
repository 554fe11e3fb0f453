"""A small real vault: files in a temporary folder and the real index over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from wikimem.index.index import SHIPPED_MODEL, Index
from wikimem.model.page import FileStat, Page
from wikimem.search.context import pack_context
from wikimem.search.current import unchanged_in
from wikimem.search.filters import make_filter
from wikimem.search.packing import ContextPack
from wikimem.search.search import SearchOutcome, search
from wikimem.text.page import parse_page

NOW = datetime(2026, 3, 1, 12, 0)

FILTER_KEYS = {"as_of", "status", "project", "with_global", "types", "tags", "agent", "session"}


def unmasked(text: str) -> str:
    return text


@dataclass
class SmallVault:
    root: Path
    index: Index
    mask: Callable[[str], str] = unmasked
    reads: list[str] = field(default_factory=list)

    def write(self, **pages: str) -> None:
        """Write pages, `a__b="..."` to `a/b.md`, without indexing them."""
        for name, text in pages.items():
            path = self.root / f"{name.replace('__', '/').replace('_', ' ')}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def sync(self) -> None:
        """Bring the index up to the files."""
        files = {p.relative_to(self.root).as_posix(): p for p in sorted(self.root.rglob("*.md"))}
        known = self.index.manifest()
        pages = []
        for path, file in files.items():
            stat = file.stat()
            page = parse_page(path, file.read_bytes())
            if path not in known or known[path][1] != page.revision:
                pages.append((page, FileStat(stat.st_size, stat.st_mtime_ns, stat.st_ino)))
        self.index.update(pages, set(known) - set(files), mask=self.mask)

    def add(self, **pages: str) -> None:
        self.write(**pages)
        self.sync()

    def read_page(self, path: str) -> Page | None:
        self.reads.append(path)
        file = self.root / path
        return parse_page(path, file.read_bytes()) if file.exists() else None

    def search(self, text: str, **options: Any) -> SearchOutcome:
        where = make_filter(now=NOW, **{k: options.pop(k) for k in FILTER_KEYS & options.keys()})
        options = {"unchanged": unchanged_in(self.root), **options}
        return search(self.index, text, where, now=NOW, read_page=self.read_page, mask=self.mask, **options)

    def paths(self, text: str, **options: Any) -> list[str]:
        return [hit.path.removesuffix(".md") for hit in self.search(text, **options).hits]

    def context(self, text: str, **options: Any) -> ContextPack:
        where = make_filter(now=NOW, **{k: options.pop(k) for k in FILTER_KEYS & options.keys()})
        return pack_context(self.index, text, where, now=NOW, read_page=self.read_page, mask=self.mask, **options)


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[SmallVault]:
    yield from open_vault(tmp_path, "vault", SHIPPED_MODEL)


@pytest.fixture
def wordy_vault(tmp_path: Path) -> Iterator[SmallVault]:
    """The same on a machine where the model's files are missing."""
    yield from open_vault(tmp_path, "wordy", tmp_path / "no model here")


def open_vault(folder: Path, name: str, model: Path) -> Iterator[SmallVault]:
    root = folder / name
    root.mkdir()
    index = Index.open(folder / f"{name}.index", stamp="tests", model=model)
    yield SmallVault(root, index)
    index.close()
