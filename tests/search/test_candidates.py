"""What lifts a page beside others that were found: the time that a question names, the passage before."""

from __future__ import annotations

from typing import Any


def test_a_page_of_the_named_day_is_lifted_over_pages_that_say_as_much(vault: Any) -> None:
    kettles = {
        f"Buy_{n}": f"---\ncreated: 2026-01-{n + 1:02}\n---\nDid buy kettle number {n}, which was blue."
        for n in range(9)
    }
    vault.add(Smoker="---\ncreated: 2026-02-19\n---\nGot a smoker at last; buy charcoal.", **kettles)
    asked = "what did I buy"
    assert vault.paths(asked)[0] != "Smoker"
    (first, *_) = vault.search(f"{asked} 10 days ago?").hits
    assert first.path == "Smoker.md"
    assert first.trace.boosts["date"] > 0


def test_a_named_time_takes_nothing_away(vault: Any) -> None:
    """A boost and no filter: a page of another time, or of none, is still found."""
    vault.add(
        Old="---\ncreated: 2024-05-01\n---\nThe gateway listens on port 8080.",
        Undated="The gateway of the other shop listens on port 9090.",
    )
    assert set(vault.paths("which port had the gateway last week?")) == {"Old", "Undated"}


def test_the_answer_that_follows_its_question_gains_by_it_where_passages_are_the_hits(vault: Any) -> None:
    filler = "Plain words that say nothing of it, one after another, until the part is long enough. " * 8
    vault.add(
        Talk=f"# Q\nWhere does the rocket engine test take place? {filler}\n# A\nBehind the barn. {filler}",
        Other=f"# P\nNothing at all. {filler}\n# A\nBehind the barn. {filler}",
    )
    hits = vault.search("rocket engine test behind the barn", group="passage").hits
    answers = [hit for hit in hits if hit.passage.startswith("# A")]
    assert [hit.path for hit in answers] == ["Talk.md", "Other.md"]
    assert answers[0].trace.boosts["preceding"] > answers[1].trace.boosts.get("preceding", 0.0)
    assert "preceding" not in vault.search("rocket engine test").hits[0].trace.boosts
