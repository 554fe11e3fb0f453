"""Command lines that run wikimem itself: what they print is recalled memory, which is not captured again as news.

In doubt what a command printed is left out: a session that recorded what it recalled would feed on itself.
"""

from __future__ import annotations

from wikimem.text.commandline import MOST_CHARACTERS, commands_in, program_of
from wikimem.text.redact_values import compiled, word_set

_OWN_PROGRAM = r"wikimem(?:[@=~<>\[].*)?"
_RUNS_ANOTHER = frozenset(("-exec", "-execdir", "-ok", "-okdir", "run", "exec"))
_ELSEWHERE = word_set("ssh tmux screen script nix-shell entr wsl")
_ASIDE = word_set(
    "cd pushd popd head tail cat jq less true false echo printf read sleep test [ [[ : export set unset exit wait "
    "break continue $"
)


def share_of(command: str) -> str:
    """`all` where a command line only runs wikimem, `some` where it also does, or may; else nothing."""
    own = other = "wikimem" in command[MOST_CHARACTERS:]
    for words in commands_in(command):
        if _is_own(words[0]):
            own = True
        elif _may_run_own(words):
            own = other = True
        elif program_of(words) not in _ASIDE:
            other = True
    return "" if not own else "some" if other else "all"


def _is_own(word: str) -> bool:
    return compiled(_OWN_PROGRAM).fullmatch(program_of([word])) is not None


def _may_run_own(words: list[str]) -> bool:
    """Whether a program is given wikimem to run, in a form that only looks like it."""
    if program_of(words) in _ELSEWHERE:
        return any("wikimem" in word and _runs_own(word) for word in words[1:])
    at = next((at for at, word in enumerate(words) if word in _RUNS_ANOTHER), len(words))
    return any(map(_is_own, words[at:]))


def _runs_own(line: str) -> bool:
    return any(_is_own(words[0]) for words in commands_in(line))
