"""Rules that could run away are told from those that cannot, before one of them is ever run."""

from __future__ import annotations

import pytest

from wikimem.text.redact_rulecost import least_width, why_costly


@pytest.mark.parametrize(
    "expression",
    [
        r"(a+)+b", r"(?:[a-z]+)*x", r"(?:a|a)*b", r"(?:a|ab)+c", r"(?:\w+\s?)*$", r"(?:(?:a?){20}){20}b", r"(?:.*,)+x",
        r"(x+x+)+y", r"(?:a*+b?)*c", r"a.*b.*c.*d.*e", r"(?=(a+)+b)x", r"(?:a{1,50}){1,50}b",
    ],
)  # fmt: skip
def test_a_rule_that_can_run_away(expression: str) -> None:
    assert why_costly(expression)


@pytest.mark.parametrize(
    "expression",
    [
        r"BN-[0-9]{8}", r"ACME-(\d+)", r"(?i)acme_(live|test)_[a-z0-9]{24,}", r"\bID\s*=\s*(\w+)", r"(?:[A-Z0-9]++-)+X",
        r"(?:ab|cd)+e", r"(?:[0-9]{4} ){3}[0-9]{4}", r"(?<=key: )[^\n]+", r"x{2,9}", r"(?:foo|bar|baz)-\d+\.\d+",
    ],
)  # fmt: skip
def test_a_rule_that_cannot(expression: str) -> None:
    assert why_costly(expression) is None


def test_the_least_that_a_rule_matches() -> None:
    assert [least_width(rule) for rule in (r"BN-[0-9]{8}", r"a|bcd", r"a*", r"(?<=x)yz")] == [11, 1, 0, 2]
