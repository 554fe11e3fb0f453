"""What somebody asked: the text as given, and what can be read from it without asking anything of the writer.

No character in the text is syntax. Quotes, `AND`, `-`, `*` and brackets are plain text that can neither fail nor
exclude anything; a quoted phrase only lifts the passages that hold it.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

from msgspec import Struct

from wikimem.errors import Invalid
from wikimem.search.dated import find_period
from wikimem.text.analysis import query_terms
from wikimem.text.dates import Period
from wikimem.text.lazyregex import lazily
from wikimem.text.synonyms import Table, synonyms_in, table_of

MOST_TERMS: Final = 256
"""Terms beyond this many are left out: a pasted log is longer than any question, and each term costs a posting list."""

NAMES_WITHIN: Final = 4000
"""Characters of a question in which names and phrases are looked for."""

_LOOK_BACK: Final = 8
_PHRASE = lazily(r'"([^"\n]{2,200})"|\u201c([^\u201d\n]{2,200})\u201d|\u300c([^\u300d\n]{2,200})\u300d')
_WORD = lazily(r"[^\W_][\w'\u2019./:-]*", re.UNICODE)
_SENTENCE_END: Final = (".", "!", "?", ":", ";")
_CODE_SHAPE = lazily(r"[a-z][A-Z]|[\w]_[\w]|\w[./:]\w|\w\(\)")
_POSSESSIVE = lazily(r"['\u2019]s?$")
_FIRST_PERSON = lazily(
    r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b|(?<![\w])(?:나는|내가|나의|내|제가|저의|제|우리)(?=\s|가|는|의)|我|私|僕",
    re.IGNORECASE,
)


class Query(Struct, frozen=True):
    """A question. `terms` are as the index stores them, `phrases` casefolded with single spaces, `names` as written.

    A name is a capitalised word that does not merely begin a sentence, or a word in the shape of code
    (`parseToken`, `max_retries`, `src/auth.ts`). Scripts without capitals give no names here: the graph finds
    titles and aliases in any script. `period` is the time that the question names, relative to when it is asked.
    `first_person` is True for a question about whoever asks: "which port did I choose?". `synonyms` gives for each term
    that has any the terms that stand for it.
    """

    text: str
    terms: tuple[str, ...]
    phrases: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    period: Period | None = None
    first_person: bool = False
    synonyms: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def synonym_terms(self) -> tuple[str, ...]:
        """The terms that stand for those of the question, each once."""
        return tuple(dict.fromkeys(other for _, others in self.synonyms for other in others))


def parse_query(text: str, now: datetime, synonyms: Table | None = None) -> Query:
    """Read a question. Raises Invalid for one that is empty or blank, and for nothing else.

    `synonyms` is a vault's table; None is the common one.
    """
    if not text.strip():
        raise Invalid("the query is empty", hint="Say what to look for: a question, a few words or a name.")
    return Query(
        text=text,
        terms=tuple(query_terms(text)[:MOST_TERMS]),
        phrases=_find_phrases(text),
        names=_find_names(text),
        period=find_period(text, now),
        first_person=_FIRST_PERSON.search(text[:NAMES_WITHIN]) is not None,
        synonyms=tuple(synonyms_in(text[:NAMES_WITHIN], table_of() if synonyms is None else synonyms).items()),
    )


def fold(text: str) -> str:
    """Casefold and reduce every run of white space to one space: the form in which phrases are compared."""
    return " ".join(text.casefold().split())


def _find_phrases(text: str) -> tuple[str, ...]:
    found = (
        fold(next(group for group in match.groups() if group is not None))
        for match in _PHRASE.finditer(text[:NAMES_WITHIN])
    )
    return tuple(dict.fromkeys(phrase for phrase in found if phrase))


def _find_names(text: str) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for match in _WORD.finditer(text[:NAMES_WITHIN]):
        word = _POSSESSIVE.sub("", match.group().rstrip("./:-"))
        if len(word) < 2:
            continue
        before = text[max(match.start() - _LOOK_BACK, 0) : match.start()].rstrip()
        begins_sentence = not before or before.endswith(_SENTENCE_END)
        if _CODE_SHAPE.search(word) or (word[0].isupper() and not begins_sentence):
            names.setdefault(word)
    return tuple(names)
