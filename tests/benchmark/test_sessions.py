"""The benchmark of sessions asks what it says it asks."""

from __future__ import annotations

from benchmark.sessions.__main__ import sessions


def test_each_session_alone_holds_the_answer_to_its_question() -> None:
    told = list(sessions())
    assert len(told) == 48
    for one in told:
        assert [other for other in told if one.answer in f"{other.prompt} {other.command} {other.said}"] == [one]
        assert one.answer not in one.question
