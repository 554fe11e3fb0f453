"""`python -m wikimem.manual` writes the reference pages; `--check` only says which are stale, and exits 1 then."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from wikimem.manual.reference import PAGES

FOLDER = Path(__file__).parent


def stale(folder: Path = FOLDER) -> list[str]:
    """The names of the generated pages that are not what the definitions say."""
    return [name for name, page in PAGES.items() if _text_of(folder / name) != page() + "\n"]


def write(folder: Path = FOLDER) -> list[str]:
    """Write the pages that are stale, and return their names."""
    names = stale(folder)
    for name in names:
        (folder / name).write_text(PAGES[name]() + "\n", encoding="utf-8")
    return names


def main(arguments: Sequence[str]) -> int:
    """The exit code: 1 where `--check` finds a stale page."""
    if arguments not in ([], ["--check"]):
        print("usage: python -m wikimem.manual [--check]", file=sys.stderr)
        return 2
    checking = bool(arguments)
    names = stale() if checking else write()
    for name in names:
        print(f"{name} is stale; run `python -m wikimem.manual`" if checking else f"wrote {name}")
    return 1 if checking and names else 0


def _text_of(file: Path) -> str | None:
    return file.read_text(encoding="utf-8") if file.is_file() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
