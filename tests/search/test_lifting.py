"""Only what a boost could bring to the front is boosted, and that changes nothing there."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from wikimem.search.search import LIFTED

if TYPE_CHECKING:
    import pytest

    from tests.search.conftest import SmallVault

WORDS = ["harbour", "ferry", "tide", "pier", "anchor", "quay", "lantern", "signal", "cargo", "captain"]


def test_the_hits_are_those_that_boosting_everything_gives(vault: SmallVault, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(5)
    pages = {}
    for number in range(240):
        title = " ".join(rng.sample(WORDS, 2)) if number % 3 else f"note {number}"
        confidence = rng.choice([0.0, 0.3, 1.0])
        body = " ".join(rng.choices(WORDS, k=rng.randint(5, 60)))
        pages[f"p{number}"] = f"---\ntitle: {title}\nconfidence: {confidence}\n---\nharbour {body}\n"
    vault.add(**pages)
    for query in ("harbour ferry", "where is the lantern of the pier", "harbour cargo captain signal"):
        given = [(hit.path, hit.score) for hit in vault.search(query, limit=LIFTED).hits]
        assert len(given) == LIFTED
        with monkeypatch.context() as everything:
            everything.setattr("wikimem.search.search.LIFTED", 10_000)
            assert given == [(hit.path, hit.score) for hit in vault.search(query, limit=LIFTED).hits]
