"""Laws of the gate for random texts: no planted secret survives in any spelling, and rules only ever add."""

from __future__ import annotations

import html
import json
import shlex
from collections.abc import Callable
from urllib.parse import quote

from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.redaction.samples import Sample, harmless_samples, secret_samples
from wikimem.text.redact import Redactor

GATE = Redactor(b"a key of a test")
TOKENS = sorted(
    {secret for sample in secret_samples() if sample.kind.startswith("token-") for secret in sample.secrets}
)
FOUND = [token for token in TOKENS if GATE.find(f"see {token} there")]
AROUND = st.one_of(
    st.text(max_size=60),
    st.sampled_from([sample.text for sample in harmless_samples()]),
    st.sampled_from([sample.text for sample in secret_samples()]),
)
SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": lambda text: text,
    "JSON": lambda text: json.dumps({"a": text}),
    "JSON in JSON": lambda text: json.dumps({"a": json.dumps({"b": text})}),
    "ASCII JSON of lines": lambda text: json.dumps(text.split(" "), indent=1),
    "shell": shlex.quote,
    "HTML": html.escape,
    "quoted mail": lambda text: "> " + text.replace("\n", "\n> "),
    "diff": lambda text: "+" + text.replace("\n", "\n+"),
    "DOS": lambda text: text.replace("\n", "\r\n"),
    "numbered": lambda text: "".join(f"{number:6}\t{line}\n" for number, line in enumerate(text.split("\n"), 1)),
}


def test_nearly_every_token_is_known_by_its_shape() -> None:
    assert len(FOUND) >= 0.97 * len(TOKENS)


@settings(max_examples=250, deadline=None)
@given(AROUND, st.sampled_from(FOUND), AROUND, st.sampled_from(sorted(SPELLINGS)), st.sampled_from([" ", "\n", "\t"]))
def test_a_planted_token_survives_in_no_spelling(before: str, token: str, after: str, spelling: str, gap: str) -> None:
    text = SPELLINGS[spelling](f"{before}{gap}{token}{gap}{after}")
    masked = GATE.mask(text)
    for encoding in ("utf-8", "utf-16-le"):
        data = masked.encode(encoding, "surrogatepass")
        assert token.encode(encoding) not in data
        assert token[len(token) // 3 :].encode(encoding) not in data


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(FOUND), st.integers(0, 400), st.sampled_from(["\u200b", "\u2060", "\u00ad", "\x1b[1m"]))
def test_an_unseen_character_in_a_token_does_not_save_it(token: str, place: int, unseen: str) -> None:
    at = 1 + place % (len(token) - 1)
    masked = GATE.mask(f"see {token[:at]}{unseen}{token[at:]} there")
    assert token[at:] not in masked or len(token) - at < 8
    assert token[:at] not in masked or at < 8


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(FOUND))
def test_a_token_in_a_query_is_found_percent_encoded(token: str) -> None:
    encoded = quote(token, safe="")
    assert encoded not in GATE.mask(f"https://shop.dev/?access_token={encoded}&x=1")


RULES = st.lists(
    st.sampled_from(
        [("word", r"[a-z]{4}"), ("digits", r"\d+"), ("line", r".+"), ("sign", r"[=:]"),
         ("name", r"(?i)password|token|key"),
         ("place", r"\[redacted"), ("edge", r"\b\w"), ("group", r"(\w)\W")]
    ),
    min_size=1, max_size=3,
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(secret_samples()), RULES)
def test_a_rule_that_is_added_never_loosens(sample: Sample, rules: list[tuple[str, str]]) -> None:
    text = sample.text
    more = [(finding.start, finding.end) for finding in Redactor(b"a key of a test", rules).find(text)]
    for finding in GATE.find(text):
        assert any(start <= finding.start and finding.end <= end for start, end in more)
