"""Words that stand for one another in this field: `db` and `database`, `auth` and `authentication`.

A search for one finds the other too, for less. Only what a question asks is widened: the index holds what pages say,
and a changed table needs no new index. A file of a vault adds groups, one a line:

    # words of our shop
    sku, article
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from wikimem.errors import Invalid
from wikimem.text.analysis import is_stop_word, query_terms

MOST_GROUPS: Final = 2_000
"""Groups that a file may hold."""
MOST_WORDS: Final = 20
"""Words of one group: who needs more wants another page, not another word."""
LONGEST_WORD: Final = 60
"""Characters."""

Table = Mapping[str, tuple[str, ...]]
"""For a term of the index, the terms that stand for it."""

_COMMON: Final = """
auth authentication | auth authorization | authn authentication | authz authorization | config configuration
cfg config configuration | db database | k8s kubernetes | repo repository | env environment | deps dependencies
dep dependency | docs documentation | dev development | prod production | perf performance | infra infrastructure
msg message | fn function | func function | impl implementation | param parameter | params parameters | arg argument
args arguments | lib library | dir directory | ts typescript | js javascript | py python | pg postgres postgresql
pkg package | i18n internationalization | l10n localization | a11y accessibility | o11y observability
admin administrator | async asynchronous | sync synchronous | tmp temporary | stats statistics | ws websocket
err error | req request | resp response | attr attribute | attrs attributes | init initialize | mem memory
"""
COMMON: Final[tuple[tuple[str, ...], ...]] = tuple(
    tuple(group.split()) for line in _COMMON.strip().splitlines() for group in line.split("|")
)
"""The groups that every vault has. Only abbreviations that mean one thing: `pr`, `ci` or `int` would find noise."""


def table_of(groups: Sequence[Sequence[str]] = ()) -> Table:
    """The table of the common groups and these."""
    return _table(tuple(tuple(group) for group in groups))


def synonyms_in(text: str, table: Table) -> dict[str, tuple[str, ...]]:
    """For each term of a question that has any, the terms that stand for it and that the question has not itself."""
    terms = query_terms(text)
    asked = frozenset(terms)
    found = {term: tuple(other for other in table.get(term, ()) if other not in asked) for term in terms}
    return {term: others for term, others in found.items() if others}


def read_groups(text: str, name: str) -> tuple[tuple[str, ...], ...]:
    """The groups of a file. Raises Invalid, naming the file and the line, for what is no list of words."""
    groups: list[tuple[str, ...]] = []
    for number, written in enumerate(text.splitlines(), start=1):
        line = written.split("#", 1)[0].strip()
        if not line:
            continue
        words = tuple(word.strip() for word in line.split(","))
        if problem := _problem(words):
            raise Invalid(
                f"{name}, line {number}: {problem}",
                hint="Write words that stand for one another on one line, with commas: `sku, article`.",
            )
        groups.append(words)
        if len(groups) > MOST_GROUPS:
            raise Invalid(f"{name}, line {number}: more than {MOST_GROUPS} groups", hint="Keep those that are needed.")
    return tuple(groups)


def _problem(words: Sequence[str]) -> str:
    if len(words) < 2:
        return "a group has at least two words"
    if len(words) > MOST_WORDS:
        return f"a group has at most {MOST_WORDS} words"
    for word in words:
        if not word:
            return "a word is missing between two commas"
        if len(word) > LONGEST_WORD:
            return f"'{word[:20]}…' is longer than {LONGEST_WORD} characters"
        if word.split() != [word] or "=" in word:
            return f"'{word}' is not one word"
        if is_stop_word(word.casefold()):
            return f"'{word}' is a word that searches leave out"
    return ""


@lru_cache(maxsize=16)
def _table(groups: tuple[tuple[str, ...], ...]) -> Table:
    table: dict[str, dict[str, None]] = {}
    for group in (*COMMON, *groups):
        # The whole of a word comes first; a part of `foo.bar` stands for nothing.
        firsts = [query_terms(word)[0] for word in group if query_terms(word)]
        for term in firsts:
            table.setdefault(term, {}).update(dict.fromkeys(other for other in firsts if other != term))
    return {term: tuple(others) for term, others in table.items()}
