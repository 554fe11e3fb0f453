"""The settings that searches can be compared by: a closed set, and each does what it says."""

from __future__ import annotations

from typing import Any

import pytest

from wikimem.errors import Invalid
from wikimem.search.configuration import EVIDENCE, read_configuration


def test_nothing_set_is_what_searches_do(vault: Any) -> None:
    vault.add(One="The gateway has a quota.", Two="The quota of the gateway is high. I said so.")
    plain = read_configuration(())
    outcome = vault.search("gateway quota", streams=plain.streams, fusion=plain.fusion)
    assert outcome.hits == vault.search("gateway quota").hits


@pytest.mark.parametrize(
    ("name", "parts"), [("whole-pages", {"page"}), ("close-reading", {"closeness", "pairs"}), ("said", {"said"})]
)
def test_evidence_that_is_left_out_has_no_share_in_any_score(vault: Any, name: str, parts: set[str]) -> None:
    session = "---\ntype: session\n---\n**user**: I put the gateway quota at nine hundred.\n\n**assistant**: Noted.\n"
    vault.add(One=session, Two="The gateway quota is high.\n\n# More\n\nGateway things.")
    question = "what did I say of the gateway quota"
    everything = {part for hit in vault.search(question).hits for part in hit.trace.parts}
    assert parts <= everything
    without = read_configuration([f"without={name}"])
    left = {part for hit in vault.search(question, fusion=without.fusion).hits for part in hit.trace.parts}
    assert left == everything - parts


def test_settings_combine() -> None:
    made = read_configuration(["without=said", "without=close-reading", "streams=words", "at=HEAD~2"])
    assert made.streams == ("words",)
    assert made.at == "HEAD~2"
    assert made.fusion.left_out == EVIDENCE["said"] | EVIDENCE["close-reading"]  # type: ignore[attr-defined]
    assert made.name == "without=said without=close-reading streams=words at=HEAD~2"


def test_the_other_fusion_is_taken() -> None:
    assert read_configuration(["fusion=rrf"]).fusion.name == "rrf"
    assert read_configuration(["fusion=convex"]) == read_configuration(["fusion=convex"])


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (["speed=fast"], "there is no setting 'speed=fast'"),
        (["streams"], "there is no setting 'streams'"),
        (["streams=words,colour"], "there is no stream 'colour'"),
        (["fusion=sum"], "there is no fusion 'sum'"),
        (["without=words"], "there is no evidence 'words'"),
        (["at=v1", "at=v2"], "at is set twice"),
        (["fusion=rrf", "without=said"], "reciprocal ranks use no further evidence"),
        (["without=said", "fusion=rrf"], "reciprocal ranks use no further evidence"),
    ],
)
def test_what_is_not_in_the_set_is_refused(settings: list[str], said: str) -> None:
    with pytest.raises(Invalid) as refused:
        read_configuration(settings)
    assert refused.value.message == said
    assert refused.value.hint
