"""Further evidence: whole pages and close reading move what the streams found, and say so."""

from __future__ import annotations

from typing import Any


def test_a_page_whose_passages_together_answer_beats_one_that_repeats_a_word(vault: Any) -> None:
    filler = "\n\n".join(f"Paragraph {n} speaks about something else entirely, at some length. " * 9 for n in range(2))
    vault.add(
        Together=f"# Setup\nThe gateway listens on port 8080. {filler}\n# Limits\nThe quota is counted per tenant.",
        Repeats=f"# Quota\nThe quota of the printer. {filler}\n# More\nNothing about the rest.",
        Other=f"# A\nGardening. {filler}\n# B\nCooking.",
    )
    hit = vault.search("gateway quota tenant").hits[0]
    assert hit.path == "Together.md"
    assert hit.trace.parts["page"] > 0
    assert hit.trace.ranks["page"] == 1


def test_words_that_stand_together_in_the_question_count_where_they_stand_together(vault: Any) -> None:
    vault.add(
        Apart="The limit of a loan changes with the rate that the bank takes for it.",
        Together="The rate limit for a loan is what the bank takes.",
    )
    hits = vault.search("rate limits of a loan", streams=["words", "vectors"]).hits
    assert [hit.path for hit in hits] == ["Together.md", "Apart.md"]
    assert hits[0].trace.parts["pairs"] > hits[1].trace.parts.get("pairs", 0.0)


def test_evidence_belongs_to_its_stream(vault: Any) -> None:
    """A search that leaves a stream out has no evidence that comes with it."""
    vault.add(One="The gateway has a quota.", Two="The quota of the gateway is high.")
    (words, *_) = vault.search("gateway quota", streams=["words"]).hits
    assert set(words.trace.parts) == {"words", "page"}
    (vectors, *_) = vault.search("gateway quota", streams=["vectors"]).hits
    assert {"vectors", "closeness"} <= set(vectors.trace.parts) <= {"vectors", "closeness", "pairs"}


def test_a_question_that_the_model_does_not_know_is_not_read_closely(vault: Any) -> None:
    vault.add(
        Tea="\u7dd1\u8336\u306f\u516b\u5341\u5ea6\u3067\u5165\u308c\u308b\u3002",
        Coffee="\u73c8\u7432\u306f\u71b1\u6e6f\u3067\u5165\u308c\u308b\u3002",
    )
    hit = vault.search("\u7dd1\u8336\u306e\u6e29\u5ea6").hits[0]
    assert hit.path == "Tea.md"
    assert "closeness" not in hit.trace.parts


def test_evidence_obeys_the_filter(vault: Any) -> None:
    vault.add(
        Seen="---\ntags: [a]\n---\nThe gateway has a quota.",
        Hidden="---\ntags: [b]\n---\nThe gateway quota, the gateway quota.",
    )
    assert [hit.path for hit in vault.search("gateway quota", tags=["a"]).hits] == ["Seen.md"]
