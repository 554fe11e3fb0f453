"""What a model is asked, whatever its dialect."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from wikimem.text.tokens import estimate_tokens


class Turn(Struct, frozen=True):
    """An answer that was given before, and what is said to it."""

    answered: str
    said: str


class Prompt(Struct, frozen=True):
    """`system` is ours, `user` holds the text; `schema` is the JSON Schema of the answer that is wanted."""

    system: str
    user: str
    schema: dict[str, Any]
    turns: tuple[Turn, ...] = ()

    def tokens(self) -> int:
        """About how many tokens it has."""
        said = [text for turn in self.turns for text in (turn.answered, turn.said)]
        return sum(map(estimate_tokens, (self.system, self.user, *said)))

    def messages(self) -> list[dict[str, str]]:
        """The conversation without the system's part."""
        found = [{"role": "user", "content": self.user}]
        for turn in self.turns:
            found.append({"role": "assistant", "content": turn.answered})
            found.append({"role": "user", "content": turn.said})
        return found


class Reply(Struct, frozen=True):
    """The text of an answer. `asked` and `answered` are tokens as the server counts them, None where it does not.

    `cut`: it ended because it was as long as it may be. `declined`: the model would not answer.
    """

    text: str
    asked: int | None = None
    answered: int | None = None
    cut: bool = False
    declined: bool = False
