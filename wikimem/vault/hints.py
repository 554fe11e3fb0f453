"""What a watcher saw, for a refresh that then need not look at every file."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol

from wikimem.model.page import Problem


class Changes(Protocol):
    """What happened to the vault's files since it was last asked."""

    @property
    def paths(self) -> Collection[str]:
        """Paths, relative to the vault, of what was made, changed or removed."""
        ...

    @property
    def sweep(self) -> bool:
        """Whether more may have happened than `paths` say, so that every file must be looked at."""
        ...


@dataclass(slots=True)
class Hints:
    """The changes that the refreshes of one process rest on; all its views of the vault share one.

    `caught_up` gives everything that happened up to this moment, each thing once. So what a refresh did not bring into
    the index is not told again: then the next one looks at every file.
    """

    caught_up: Callable[[], Changes]
    sweep_next: bool = True
    skipped: tuple[Problem, ...] = ()

    def paths(self) -> Collection[str] | None:
        """The paths to look at; None for all of them."""
        changes = self.caught_up()
        sweep = self.sweep_next or changes.sweep
        self.sweep_next = True
        return None if sweep else changes.paths

    def settled(self, skipped: tuple[Problem, ...]) -> None:
        """What was told has been brought into the index; `skipped` is what the last whole scan passed over."""
        self.sweep_next = False
        self.skipped = skipped
