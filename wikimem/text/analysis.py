"""The analyser: what a text and a question are cut into, the same way on both sides.

A term is one of
- a stemmed word (English Snowball stemmer; other alphabets as they are), with its accent-free form beside it;
- a code token kept whole in lower case (`src/middleware/auth.ts`, `foo.bar()`, `--no-verify`, `v1.10.2`, `c++`)
  and its parts, cut at punctuation, underscores and camelCase;
- a character gram of a script that is written without spaces: bigrams of Chinese, Japanese and Korean, trigrams of
  Thai, Lao, Khmer and Burmese. A text also yields the next shorter grams, so that a question of one character
  finds something; a question yields only the long ones, because the short ones match nearly everything;
- an emoji or symbol.

User text is never query syntax: nothing here can raise, whatever the text is. Work is linear in its length.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

import Stemmer

from wikimem.text.lazyregex import lazily

ANALYSIS_VERSION: Final = "2"
"""Changes with anything here that changes a term; an index made by another version has its words rebuilt."""

LONGEST_TOKEN: Final = 80
"""Characters. A longer whole token is not kept, and a longer word is cut: nobody searches for a base64 blob."""
LONGEST_RUN: Final = 400
"""Characters of an unbroken ASCII run that are looked at; the rest of a blob would only add noise."""
_MEMO_LIMIT: Final = 200_000

STOP_WORDS: Final = frozenset(
    # English function words, as in the Snowball and Lucene lists, with contractions written without apostrophe,
    # and what a question is made of: interrogatives, auxiliaries, and who asks whom.
    """
    a about above after again against all also am an and any are arent as at be because been before being below
    between both but by can cant cannot could couldnt d did didnt do does doesnt doing dont down during each few for
    from further had hadnt has hasnt have havent having he her here hers herself him himself his how i if in into is
    isnt it its itself just ll m may me might more most must my myself no nor not of off on once only or other our
    ours ourselves out over own re s same shall she should shouldnt so some such t than that the their theirs them
    themselves then there these they this those through to too under until up ve very was wasnt we were werent what
    whats when where which while who whom whose why will with wont would wouldnt you your yours yourself yourselves
    """.split()  # noqa: SIM905 - as a list literal it would be three times as long
)
QUESTION_WORDS: Final = frozenset(
    # Words that a person addresses to the one who answers ("tell me about", "do you remember"). They carry meaning
    # inside a page, so only a question loses them, and only where something else is left of it.
    """
    tell told remind show give explain describe please let know recall remember find search look question answer
    list mention mentioned ever
    """.split()  # noqa: SIM905 - as above
)

_MARKS: Final = (
    # Combining marks are no word characters to `re`: Latin, Cyrillic, Hebrew, Arabic, the Indic and South-East Asian
    # blocks, and the joiners inside their words.
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963\u0966-\u109f"
    "\u135d-\u135f\u1712-\u1734\u1780-\u17d3\u17dd\u1a55-\u1a7f\u1ab0-\u1aff\u1b00-\u1b44\u1dc0-\u1dff\u200c\u200d"
    "\u20d0-\u20ff\u302a-\u302f\u3099\u309a\ufe20-\ufe2f"
)
_WORD: Final = rf"[\w{_MARKS}]+"
_SYMBOLS: Final = "\u2190-\u21ff\u2300-\u23ff\u25a0-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_TOKEN: Final = lazily(
    rf"(?:(?<![\w\-])--?(?=[^\W\d])|[@~./]{{1,3}}(?=\w))?"  # a flag, a dot file, a scope, a path
    rf"{_WORD}(?:[./:@#+~\-\\'’]{{1,4}}{_WORD})*"  # bounded, so that a run of punctuation cannot be scanned twice
    rf"(?:\+\+|\(\)|(?<=[a-zA-Z])[+#](?!\w))?"
    rf"|[{_SYMBOLS}]"
)
_JOIN: Final = lazily(r"[^\w" + _MARKS + "]+|_+")
_HAN: Final = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7fb"
    "\u1100-\u11ff\uf900-\ufaff\U00020000-\U0003ffff"
)
_THAI: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_UNSPACED: Final = lazily(rf"([{_HAN}]+)|([{_THAI}]+)")
_CAMEL: Final = lazily(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+[0-9]*|[A-Z]+[0-9]*|[0-9]+|[^\x00-\x7f]+")
_CONTRACTION: Final = lazily(r"(\w)['’](s|t|re|ve|ll|d|m)(?!\w)", re.IGNORECASE)
_LETTER: Final = lazily(r"[^\W_]")

_stem = Stemmer.Stemmer("english", 0).stemWord
_memo: dict[str, tuple[str, ...]] = {}


def index_terms(text: str) -> list[str]:
    """The terms of a text, in order and with repetitions. Empty only where the text has no letter, digit or symbol."""
    tokens = _TOKEN.findall(_normal(text))
    terms: list[str] = []
    remembered = _memo.get
    for token in tokens:
        found = remembered(token)
        if found is None:
            if len(_memo) >= _MEMO_LIMIT:
                _memo.clear()
            found = _memo[token] = tuple(_terms_of(token, asking=False, keep_all=False))
        terms.extend(found)
    if not terms:
        for token in tokens:
            terms.extend(_terms_of(token, asking=False, keep_all=True))
    return terms


def query_terms(text: str) -> list[str]:
    """The distinct terms of a question, in order of appearance. A question of stop words alone keeps them."""
    tokens = _TOKEN.findall(_normal(text))
    asked = [token for token in tokens if token.lower() not in QUESTION_WORDS]
    for chosen, keep_all in ((asked, False), (tokens, False), (tokens, True)):
        terms: dict[str, None] = {}
        for token in chosen:
            terms.update(dict.fromkeys(_terms_of(token, asking=True, keep_all=keep_all)))
        if terms:
            return list(terms)
    return []


def stem(word: str) -> str:
    """The English stem of a lower-case word."""
    return str(_stem(word))


def is_stop_word(word: str) -> bool:
    """Whether a lower-case word is dropped from texts and questions alike."""
    return word in STOP_WORDS


def _normal(text: str) -> str:
    """Compatibility composition (full-width Latin, half-width kana), and contractions without their apostrophe."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    if "'" in text or "’" in text:
        text = _CONTRACTION.sub(_join_contraction, text)
    return text


def _join_contraction(match: re.Match[str]) -> str:
    # "don't" is one word, "dont"; of "John's" and "we'll" only the first part says anything.
    return match[1] + match[2] if match[2] in "tT" else match[1]


def _terms_of(token: str, *, asking: bool, keep_all: bool) -> Iterator[str]:
    if token.isascii():
        if token.isalpha() and (token.islower() or token[1:].islower()):
            yield from _word(token.lower(), keep_all=keep_all)
            return
        token = token[:LONGEST_RUN]
    elif _UNSPACED.search(token):
        yield from _mixed(token, asking=asking, keep_all=keep_all)
        return
    pieces = [piece for piece in _JOIN.split(token) if piece]
    parts = [part for piece in pieces for part in (_CAMEL.findall(piece) if _is_camel(piece) else (piece,))]
    whole = token.casefold()
    if len(parts) == 1 and parts[0] == token:
        yield from _word(whole, keep_all=keep_all)
        return
    if len(whole) <= LONGEST_TOKEN:
        yield whole
        if whole.endswith("()"):
            yield whole[:-2]
    seen = {whole}
    for part in parts:
        word = part.casefold()
        if word not in seen:
            seen.add(word)
            yield from _word(word, keep_all=keep_all)


def _is_camel(piece: str) -> bool:
    return not (piece.islower() or piece.isupper() or piece[1:].islower() or piece.isdigit())


def _word(word: str, *, keep_all: bool) -> Iterator[str]:
    if word in STOP_WORDS and not keep_all:
        return
    word = word[:LONGEST_TOKEN]
    if word.isascii():
        yield _stem(word)
        return
    word = word.casefold()
    folded = "".join(char for char in unicodedata.normalize("NFD", word) if not unicodedata.combining(char))
    if not folded:
        return  # a mark without its letter
    yield _stem(word)
    if folded != word:
        yield _stem(folded)


def _mixed(token: str, *, asking: bool, keep_all: bool) -> Iterator[str]:
    """The terms of a token that holds characters of a script without spaces: its grams, and the words between them."""
    at = 0
    for run in _UNSPACED.finditer(token):
        yield from _between(token[at : run.start()], asking=asking, keep_all=keep_all)
        yield from _grams(run[0].casefold(), 2 if run[1] else 3, asking=asking)
        at = run.end()
    yield from _between(token[at:], asking=asking, keep_all=keep_all)


def _between(text: str, *, asking: bool, keep_all: bool) -> Iterator[str]:
    for token in _TOKEN.findall(text):
        yield from _terms_of(token, asking=asking, keep_all=keep_all)


def _grams(run: str, size: int, *, asking: bool) -> Iterator[str]:
    if len(run) < size:
        yield run
        return
    for start in range(len(run) - size + 1):
        yield run[start : start + size]
    if not asking:
        shorter = size - 1
        for start in range(len(run) - shorter + 1):
            yield run[start : start + shorter]
