"""The `llm` table: what a user may say, and that a vault may say nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wikimem.errors import Invalid, Refused
from wikimem.model.llm import LlmLimits, LlmSettings
from wikimem.text.llm import read_llm
from wikimem.vault.config import read_user_config, read_vault_config

LEAST = {"dialect": "ollama", "url": "http://127.0.0.1:11434/", "model": "qwen3:8b"}


def test_without_the_table_there_is_no_model(tmp_path: Path) -> None:
    assert read_user_config(tmp_path).llm is None


def test_a_table_with_everything_is_read(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(
        '[llm]\ndialect = "openai"\nurl = "https://api.example.org/v1"\nmodel = "m"\nkey_env = "K"\ntimeout = 5\n'
        "attempts = 2\nbackoff = 0.5\nmax_tokens = 100\ncalls_per_run = 1\ntokens_per_run = 2\ncalls_per_day = 3\n"
        "tokens_per_day = 4\n"
    )
    assert read_user_config(tmp_path).llm == LlmSettings(
        "openai", "https://api.example.org/v1", "m", "K", 5.0, 2, 0.5, 100, LlmLimits(1, 2, 3, 4)
    )
    assert read_llm(LEAST) == LlmSettings("ollama", "http://127.0.0.1:11434", "qwen3:8b")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"dialect": "gemini"}, "one of openai, anthropic, ollama"),
        ({"dialect": ["openai"]}, "one of openai"),
        ({"url": None}, "url: one line"),
        ({"url": "127.0.0.1:11434"}, "http or https"),
        ({"url": "file:///etc/passwd"}, "http or https"),
        ({"url": "https://me:pw@x"}, "without a user name"),
        ({"url": "http://x/a b"}, "a space"),
        ({"url": "https://x/v1?key=1"}, "without"),
        ({"model": ""}, "model: one line"),
        ({"model": "a\nb"}, "model: one line"),
        ({"key": "sk-123"}, "no 'key' in it; there are dialect"),
        ({"key_env": "sk-123", "url": "https://x"}, "not the key itself"),
        ({"key_env": "K", "url": "http://10.0.0.1"}, "over https only"),
        ({"timeout": 0}, "up to 600"),
        ({"attempts": 11}, "from 1 to 10"),
        ({"attempts": True}, "from 1 to 10"),
        ({"calls_per_day": 0}, "calls_per_day: a whole number"),
        ({"tokens_per_run": 1.5}, "tokens_per_run: a whole number"),
        ({"backoff": -1}, "backoff"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused_in_words(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_llm(LEAST | change)


def test_a_bad_table_names_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('default_vault = "/v"\n\n[llm]\ndialect = "openai"\n')
    with pytest.raises(Invalid, match=r"config\.toml, line 3: llm: url") as caught:
        read_user_config(tmp_path)
    assert "For example: [llm]" in caught.value.hint


def test_a_vault_names_no_model(tmp_path: Path) -> None:
    (tmp_path / ".wikimem").mkdir()
    (tmp_path / ".wikimem/config.toml").write_text(
        '[llm]\ndialect = "openai"\nurl = "https://evil.example"\nmodel = "m"\n'
    )
    with pytest.raises(Refused, match="a vault may not set 'llm'"):
        read_vault_config(tmp_path)
