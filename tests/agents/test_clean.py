"""What is taken out of a text before it is kept: private parts, injected memory, secrets at every cut."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wikimem.agents.clean import MARGIN, Cleaner, plain, without_injected, without_private
from wikimem.search.fence import fenced
from wikimem.text.redact import Redactor

KEY_BODY = "\n".join("b3Bl" + "nNzaC1rZXk" * 6 for _ in range(60))
PRIVATE_KEY = f"-----BEGIN OPENSSH PRIVATE KEY-----\n{KEY_BODY}\n-----END OPENSSH PRIVATE KEY-----"
TOKEN = "ghp_" + "q7Rb2Xw9" * 5
SENTENCE = "a word and another one, "


def cleaned(text: str, limit: int) -> tuple[str, Cleaner]:
    cleaner = Cleaner(Redactor(b"k" * 32))
    return cleaner.text("text", text, limit), cleaner


def pieces(secret: str, size: int = 8) -> list[str]:
    return [secret[at : at + size] for at in range(0, len(secret) - size, size)]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a <private>b</private> c", "a  c"),
        ("a <PRIVATE reason='x'>b\nc</Private>d", "a d"),
        ("a <private>never closed", "a "),
        ("write `<private>` around it", "write `<private>` around it"),
        ("İ <private>b</private> c", "İ  c"),
        ("<p>no</p>", "<p>no</p>"),
    ],
)
def test_private_parts_are_gone(text: str, kept: str) -> None:
    assert without_private(text) == kept


def test_what_wikimem_gives_to_a_model_is_stripped_again() -> None:
    given_text = fenced(["=== Use jose [decision]\nTokens are verified with jose.\n```js\nverify()\n```"])
    assert without_injected(given_text).strip() == ""
    assert without_injected(f"before\n{given_text}after\n").split() == ["before", "after"]
    assert without_injected(given_text[: len(given_text) // 2]).strip() == ""
    assert without_injected(f"a <wikimem>{given_text}</wikimem> b").split() == ["a", "b"]


def test_code_and_prose_that_merely_name_wikimem_stay() -> None:
    for text in ("run wikimem now", "```python\nimport wikimem\n```", "why is <wikimem> never closed?"):
        assert without_injected(text) == text


@pytest.mark.parametrize(
    "mark", ["`", "<wikimem>", "<!-- wikimem:begin", "```wikimem\n", "<private>", "-----BEGIN", "ghp_"]
)
def test_marks_without_end_by_the_hundred_thousand_do_not_hang(mark: str) -> None:
    kept, _ = cleaned(f"begin </wikimem> {mark * 200_000}", 4000)
    assert kept.startswith("begin")


def test_what_stands_in_a_managed_block_is_stripped() -> None:
    text = "a\n<!-- wikimem:begin v1 -->\nrecalled\n<!-- wikimem:end -->\nb"
    assert without_injected(text).split() == ["a", "b"]


def test_a_short_text_is_redacted_and_whole() -> None:
    kept, cleaner = cleaned(f"push with {TOKEN} today", 100)
    assert TOKEN not in kept
    assert kept.startswith("push with [redacted:github-token:")
    assert kept.endswith("] today")
    assert cleaner.redacted == {"github-token": 1}
    assert cleaner.cut == []


def test_a_long_text_keeps_head_and_tail_and_says_what_is_missing() -> None:
    kept, cleaner = cleaned("begin " + SENTENCE * 5000 + "finish", 3000)
    assert kept.startswith("begin ")
    assert kept.endswith("finish")
    assert "characters left out" in kept
    assert len(kept) < 3100
    assert cleaner.cut == ["text"]


@given(st.integers(0, 12_000), st.sampled_from([TOKEN, PRIVATE_KEY, f"<private>{TOKEN} {SENTENCE * 300}</private>"]))
@example(1990, TOKEN)
@example(2000, PRIVATE_KEY)
def test_a_secret_anywhere_in_a_text_that_is_cut_leaves_no_part_of_itself(at: int, secret: str) -> None:
    filler = SENTENCE * 600
    kept, _ = cleaned(f"{filler[:at]} {secret} {filler[at:]}", 3000)
    for part in pieces(TOKEN) if "ghp_" in secret else pieces(KEY_BODY.replace("\n", "")):
        assert part not in kept


def test_a_private_key_longer_than_what_the_redactor_is_shown_leaves_nothing_in_the_tail() -> None:
    long_key = PRIVATE_KEY.replace(KEY_BODY, "\n".join([KEY_BODY] * (MARGIN // len(KEY_BODY) + 4)))
    for closed in (long_key, long_key.rpartition("\n")[0]):
        for after in ("", SENTENCE * 5):
            kept, _ = cleaned(SENTENCE * 200 + closed + after, 1500)
            assert KEY_BODY[:20] not in kept


def test_halves_of_characters_and_nul_become_replacement_characters() -> None:
    assert plain("a\0b") == "a\N{REPLACEMENT CHARACTER}b"
    assert plain("\ud83d\ude00 \ud83d").encode() == "\N{GRINNING FACE} \N{REPLACEMENT CHARACTER}".encode()


@given(st.text(alphabet=st.characters(codec=None), max_size=300), st.integers(1, 50))
def test_whatever_the_text_the_result_can_be_written(text: str, limit: int) -> None:
    kept, _ = cleaned(text, limit)
    kept.encode("utf-8")
