"""Reading the `llm` table of this user's configuration."""

from __future__ import annotations

import re
from typing import Any, Final

from wikimem.model.llm import DIALECTS, LlmLimits, LlmSettings
from wikimem.text.webaddress import check_address, may_have_key, read_seconds

EXAMPLE: Final = '[llm]\ndialect = "ollama"\nurl = "http://127.0.0.1:11434"\nmodel = "qwen3:8b"'
LONGEST_WAIT_S: Final = 600
LONGEST_BACKOFF_S: Final = 60
MOST_ATTEMPTS: Final = 10
_KEYS: Final = ("dialect", "url", "model", "key_env", "timeout", "attempts", "backoff", "max_tokens")
_LIMITS: Final = ("calls_per_run", "tokens_per_run", "calls_per_day", "tokens_per_day")
_MOST: Final = 1_000_000_000


def read_llm(value: Any) -> LlmSettings:
    """The table as settings. Raises ValueError, in words, for what makes no sense or would send a key in the open."""
    if not isinstance(value, dict):
        raise ValueError("a table with dialect, url and model is expected")
    if unknown := sorted(set(value) - {*_KEYS, *_LIMITS}):
        raise ValueError(f"there is no '{unknown[0]}' in it; there are {', '.join((*_KEYS, *_LIMITS))}")
    dialect = value.get("dialect")
    if dialect not in DIALECTS:
        raise ValueError(f"dialect: one of {', '.join(DIALECTS)} is expected")
    url, model = _text(value, "url").rstrip("/"), _text(value, "model")
    check_address(url)
    if "?" in url or "#" in url:
        raise ValueError("url: the base address is expected, without ? and #")
    key_env = _key_env(value, url)
    limits = {name: _whole(name, value[name], _MOST) for name in _LIMITS if name in value}
    given: dict[str, Any] = {}
    if "timeout" in value:
        given["timeout_s"] = read_seconds("timeout", value["timeout"], LONGEST_WAIT_S)
    if "backoff" in value:
        given["backoff_s"] = read_seconds("backoff", value["backoff"], LONGEST_BACKOFF_S)
    if "attempts" in value:
        given["attempts"] = _whole("attempts", value["attempts"], MOST_ATTEMPTS)
    if "max_tokens" in value:
        given["max_tokens"] = _whole("max_tokens", value["max_tokens"], _MOST)
    return LlmSettings(dialect, url, model, key_env, **given, limits=LlmLimits(**limits))


def _text(table: dict[str, Any], name: str) -> str:
    value = table.get(name)
    if not isinstance(value, str) or not value.strip() or not value.isprintable() or len(value) > 500:
        raise ValueError(f"{name}: one line of text is expected")
    return value.strip()


def _key_env(table: dict[str, Any], url: str) -> str | None:
    name = table.get("key_env")
    if name is None:
        return None
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,99}", name):
        raise ValueError("key_env: the name of an environment variable is expected, not the key itself")
    if not may_have_key(url):
        raise ValueError("key_env: a key is sent over https only, or to this machine")
    return name


def _whole(name: str, value: Any, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise ValueError(f"{name}: a whole number from 1 to {most} is expected")
    return value
