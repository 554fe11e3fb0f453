"""A large text redacted part by part: as if it had been whole, wherever it was cut."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.redaction.samples import harmless_samples, secret_samples
from wikimem.text.redact import Redactor
from wikimem.text.redact_stream import REACH, mask_parts

GATE = Redactor(b"a key of a test")
SAMPLES = [*secret_samples(), *harmless_samples()]
TEXTS = [sample.text for sample in SAMPLES if not sample.kind.startswith("private-blocks")]
FILL = "the order was shipped from Busan and arrived in two days, as the log of that week says\n"


def cut(text: str, sizes: list[int]) -> list[str]:
    """`text` in parts of these sizes, again and again."""
    parts, at, turn = [], 0, 0
    while at < len(text):
        parts.append(text[at : at + sizes[turn % len(sizes)]])
        at += sizes[turn % len(sizes)]
        turn += 1
    return parts


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 2**32), st.lists(st.integers(500, 30_000), min_size=1, max_size=4), st.integers(10_000, 50_000))
def test_parts_give_what_the_whole_gives(seed: int, sizes: list[int], chunk: int) -> None:
    draw = random.Random(seed)
    pieces = []
    while sum(map(len, pieces)) < 3 * REACH:
        pieces.append(
            draw.choice(TEXTS) + draw.choice(["\n\n", "\n", " ", "\n---\n"]) + FILL * draw.choice([0, 1, 9, 90])
        )
    text = "".join(pieces)
    assert "".join(mask_parts(GATE, cut(text, sizes), chunk=chunk)) == GATE.mask(text)


@pytest.mark.parametrize(
    "secret",
    [
        "<private>" + FILL * 1200,
        "<private>" + FILL * 1200 + "</private> and on",
        "TOKEN=" + "a1B2" * 20_000,
        "-----BEGIN PRIVATE KEY-----\n" + ("Ab3+" * 16 + "\n") * 1200,
    ],
)
@pytest.mark.parametrize("before", [0, 1, 300, 1500])
def test_one_secret_larger_than_what_is_decided_at_a_time(secret: str, before: int) -> None:
    text = FILL * before + secret + "\n\n" + FILL * 10
    parts = list(mask_parts(GATE, cut(text, [9_999]), chunk=20_000))
    assert "".join(parts) == GATE.mask(text)
    assert before < 1500 or len(parts) > 3


def test_a_secret_on_the_border_of_two_parts_goes() -> None:
    secret = "ghp_" + "aB3dE6gH9" * 4
    text = FILL * 700 + f"DB={secret}\n" + FILL * 700
    for at in range(text.index(secret) - 1, text.index(secret) + len(secret) + 1, 5):
        masked = "".join(mask_parts(GATE, [text[:at], text[at:]], chunk=10_000))
        assert secret[:12] not in masked
        assert secret[-12:] not in masked


def test_nothing_and_no_parts() -> None:
    assert "".join(mask_parts(GATE, [])) == ""
    assert "".join(mask_parts(GATE, ["", "a", ""])) == "a"
