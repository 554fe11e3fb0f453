"""From where pages without an id of their own came: what keeps their derived id through a move.

The id of such a page is a digest of its path. A page that wikimem moved keeps the id of the path that it had first,
and a page that is put there later gets another one. The file lies in the vault's state folder, one for each user.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from wikimem.text.ids import derived_id
from wikimem.vault.files import write_atomically

FILE_NAME: Final = "origins.json"
_AGAIN: Final = "\nagain"
"""No path holds a line break, so that no page has this as its path."""


@dataclass(frozen=True)
class Origins:
    """`seeds` has, for each moved page by its present path, what its id is derived from."""

    seeds: Mapping[str, str] = field(default_factory=dict)

    def page_id(self, path: str) -> str:
        """The id of the page at `path`, where its frontmatter gives none."""
        return derived_id(self._seed(path))

    def moved(self, old: str, new: str) -> Origins:
        """These origins once the page at `old` is at `new`."""
        seed = self._seed(old)
        seeds = {path: each for path, each in self.seeds.items() if path != old}
        if seed == new:
            seeds.pop(new, None)
        else:
            seeds[new] = seed
        return Origins(seeds)

    @cached_property
    def _taken(self) -> frozenset[str]:
        return frozenset(self.seeds.values())

    def _seed(self, path: str) -> str:
        if path in self.seeds:
            return self.seeds[path]
        seed = path
        while seed in self._taken:
            seed += _AGAIN
        return seed


NO_ORIGINS: Final = Origins()


def read_origins(folder: Path) -> Origins:
    """The origins in a vault's state folder. A file that cannot be read counts as none: ids are then those of paths."""
    try:
        seeds = json.loads((folder / FILE_NAME).read_bytes())
    except (OSError, ValueError):
        return NO_ORIGINS
    if not isinstance(seeds, dict) or not all(isinstance(seed, str) for seed in seeds.values()):
        return NO_ORIGINS
    return Origins(seeds)


def write_origins(folder: Path, origins: Origins) -> None:
    """Keep the origins; the caller holds the vault's write lock."""
    data = json.dumps(dict(sorted(origins.seeds.items())), ensure_ascii=False, indent=1)
    write_atomically(folder / FILE_NAME, data.encode("utf-8", "surrogatepass"), mode=0o600)
