"""Which language model is asked, and how much may be spent on it; from this user's own configuration only."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

Dialect = Literal["openai", "anthropic", "ollama"]
"""Who is spoken to: chat completions as OpenAI has them, Anthropic's Messages, Ollama's own."""
DIALECTS: Final[tuple[Dialect, ...]] = ("openai", "anthropic", "ollama")


class LlmLimits(Struct, frozen=True):
    """The most that one run and one calendar day may spend; a call is a request, tokens are asked and answered."""

    calls_per_run: int = 50
    tokens_per_run: int = 200_000
    calls_per_day: int = 200
    tokens_per_day: int = 1_000_000


class LlmSettings(Struct, frozen=True):
    """A model and its limits. `url` is the base address; `key_env` names the environment variable with the key.

    `timeout_s` is for one request, `attempts` how often it is made, `backoff_s` the first wait between two, which
    doubles. `max_tokens` is the most that one answer may have.
    """

    dialect: Dialect
    url: str
    model: str
    key_env: str | None = None
    timeout_s: float = 120.0
    attempts: int = 3
    backoff_s: float = 1.0
    max_tokens: int = 4_000
    limits: LlmLimits = LlmLimits()


class LlmSpent(Struct, frozen=True):
    """Requests made, tokens asked and answered. `estimated`: some of the tokens, where a server counted none."""

    calls: int = 0
    asked: int = 0
    answered: int = 0
    estimated: bool = False

    @property
    def tokens(self) -> int:
        """Asked and answered."""
        return self.asked + self.answered
