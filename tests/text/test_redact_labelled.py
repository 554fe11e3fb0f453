"""The labelled texts: the set itself is sound, and the gate does on both halves at least what it was measured to do."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from benchmark.redaction.__main__ import KEY, Rate, rates
from benchmark.redaction.samples import FOLDER, Sample, harmless_samples, secret_samples
from wikimem.text.redact import Redactor

GATE = Redactor(KEY)
SECRETS = secret_samples()
HARMLESS = harmless_samples()


def test_the_set_has_two_halves_of_secrets_and_as_many_harmless_texts() -> None:
    for samples in (SECRETS, HARMLESS):
        assert len({sample.id for sample in samples}) == len(samples)
        halves = Counter(sample.held_out for sample in samples)
        assert len(samples) >= 700
        assert min(halves.values()) >= 300
    assert all(sample.secrets for sample in SECRETS)


def test_a_sample_is_the_same_each_time() -> None:
    assert secret_samples() == SECRETS


def test_no_file_of_the_set_holds_a_whole_secret() -> None:
    stored = "".join(file.read_text(encoding="utf-8") for file in sorted(FOLDER.glob("*.txt")))
    for sample in SECRETS:
        for secret in sample.secrets:
            assert len(secret) < 6 or secret not in stored, sample.id


def test_a_survivor_is_a_half_of_a_secret_too() -> None:
    sample = Sample("0", "x", "token is abcdefghijklmnop", ("abcdefghijklmnop",))
    assert sample.survivors("token is [redacted]ijklmnop")
    assert sample.survivors("abcdefgh")
    assert not sample.survivors("token is [redacted:token:01234567]")


def test_wilson_intervals() -> None:
    low, high = Rate(90, 100).interval
    assert (round(low, 3), round(high, 3)) == (0.826, 0.945)
    assert Rate(0, 10).interval[0] == 0.0


@pytest.mark.parametrize(("held_out", "recall", "alarms"), [(False, 0.97, 0.01), (True, 0.94, 0.025)])
def test_recall_and_false_alarms_are_as_measured(held_out: bool, recall: float, alarms: float) -> None:
    found = rates(SECRETS, GATE)["all", held_out]
    assert found.hits >= recall * found.n, found
    wrong = rates(HARMLESS, GATE)["all", held_out]
    assert wrong.hits <= alarms * wrong.n, wrong


def test_redacting_any_of_them_twice_changes_nothing() -> None:
    for sample in [*SECRETS, *HARMLESS]:
        masked = GATE.mask(sample.text)
        assert GATE.redact(masked) == (masked, ()), sample.id


def test_placeholders_say_the_kind_and_equal_secrets_have_equal_tags() -> None:
    for sample in SECRETS[::7]:
        masked, findings = GATE.redact(sample.text)
        assert re.findall(r"\[redacted:[a-z0-9-]+:[0-9a-f]{8}\]", masked)[: len(findings)] == [
            finding.placeholder for finding in findings
        ]
        again = GATE.find(f"{sample.text}\n\n\n{sample.text}")
        tags = Counter((finding.kind, finding.tag) for finding in again)
        if not sample.kind.startswith("private"):
            assert all(count % 2 == 0 for count in tags.values()), sample.id
