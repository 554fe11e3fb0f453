"""The home page that wikimem made is given for what its owner wrote there, and not for what wikimem did."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conftest import Run


def test_the_text_of_a_new_vaults_home_page_is_no_memory_and_an_owners_is(run: Run, vault: Path) -> None:
    run("remember", "Prices", "--text", "A price is an amount in cents.", "--global")
    asked = ("context", "what do git revert and git log do to pages in Obsidian?", "--json")
    assert run(*asked).json["items"] == []
    with (vault / "Home.md").open("a") as home:
        home.write("\n## Habits\n\nOnly on Fridays do we run git revert on pages.\n")
    given = run(*asked).json
    assert [item["path"] for item in given["items"]] == ["Home.md"]
    assert "Fridays" in given["text"]
    assert "Insert template" not in given["text"]
