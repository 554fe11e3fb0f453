"""Synonyms in a search: the table of a vault, and what words that stand for the question's words find."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wikimem.errors import Invalid, Refused
from wikimem.index.parts import Allowed
from wikimem.model.hit import Scored
from wikimem.search.query import Query
from wikimem.text.synonyms import Table, read_groups, table_of

if TYPE_CHECKING:
    from wikimem.index.index import Index

SYNONYMS_FILE: Final = ".wikimem/synonyms.txt"
"""Where a vault adds to the common table."""

SYNONYM_WEIGHT: Final = 0.5
"""What a word's score counts where it only stands for one of the question. Not tuned: no public set has such pairs."""

_MOST_BYTES: Final = 200_000


def vault_table(root: Path) -> Table:
    """The common table with what the vault at `root` adds.

    Raises Invalid, with the line, for a file that is no list of words, and Refused where it is no plain file of the
    vault.
    """
    path = root / SYNONYMS_FILE
    if not path.exists() and not path.is_symlink():
        return table_of()
    if path.is_symlink() or path.parent.is_symlink() or not path.is_file():
        raise Refused(f"'{path}' is not a plain file", hint="A vault's synonyms lie in the vault itself.")
    with path.open("rb") as file:
        raw = file.read(_MOST_BYTES + 1)
    if len(raw) > _MOST_BYTES:
        raise Invalid(f"'{path}' is larger than {_MOST_BYTES} bytes", hint="Keep the words that are needed.")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise Invalid(f"{path}, line {line}: not UTF-8", hint="Save the file as UTF-8.") from error
    return table_of(read_groups(text, str(path)))


def synonym_passages(index: Index, query: Query, allowed: Allowed, limit: int) -> dict[int, float]:
    """What passages hold of words that stand for the question's, as a share of what those words themselves count."""
    found = index.words.search(query.synonym_terms, limit, allowed)
    return {passage: SYNONYM_WEIGHT * score for passage, score in found}


def synonym_pages(index: Index, query: Query, allowed: Allowed, limit: int) -> dict[int, float]:
    """As `synonym_passages`, for whole pages by number."""
    found = index.words.search_pages(query.synonym_terms, limit, allowed)
    return {page: SYNONYM_WEIGHT * score for page, score in found}


def passages_with(ranking: Iterable[Scored], more: dict[int, float]) -> list[Scored]:
    """A ranking of passages with further scores added."""
    return [Scored(passage, score) for passage, score in pages_with(((e.passage, e.score) for e in ranking), more)]


def pages_with(ranking: Iterable[tuple[int, float]], more: dict[int, float]) -> list[tuple[int, float]]:
    """A ranking of pages with further scores added."""
    scores = dict(ranking)
    for key, score in more.items():
        scores[key] = scores.get(key, 0.0) + score
    return sorted(scores.items(), key=lambda entry: (-entry[1], entry[0]))
