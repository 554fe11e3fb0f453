"""Which entities a question names: exactly, by an alias, by some whole words of a name, or misspelt by one letter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from wikimem.text.analysis import QUESTION_WORDS, is_stop_word
from wikimem.text.namewords import LONGEST_NAME, name_words

if TYPE_CHECKING:
    from wikimem.search.graphview import GraphView

MOST_WORDS: Final = 64
"""Words of a question in which entities are looked for."""
SHARED_NAME: Final = 8
"""A name that more entities share than this names none of them."""
COMMON_WORD: Final = 32
"""A word that is in the names of more entities than this tells nothing by itself."""
MOST_NAMED: Final = 12
PARTLY: Final = 0.5
"""Weight of an entity of whose name only some words are said, or one is misspelt, against one that is named."""
LEAST_SHARE: Final = 0.5
"""The share of a name's words that must be said."""
SHORTEST_MISSPELT: Final = 5
_SHORTEST_WORD: Final = 2


def named_entities(view: GraphView, question: str) -> dict[str, float]:
    """The entities (IRI -> weight from 0 to 1) that a question names, the surest first; at most MOST_NAMED."""
    words = name_words(question)[:MOST_WORDS]
    covered = [False] * len(words)
    found = _exactly(view, words, covered)
    rest = [word for word, is_covered in zip(words, covered, strict=True) if not is_covered and _tells(word)]
    for iri, weight in _partly(view, dict.fromkeys(rest)).items():
        found.setdefault(iri, weight)
    best = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return dict(best[:MOST_NAMED])


def _exactly(view: GraphView, words: Sequence[str], covered: list[bool]) -> dict[str, float]:
    """The longest names win, and mark their words in `covered`."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + LONGEST_NAME) + 1):
            spans.setdefault(" ".join(words[start:end]), []).append((start, end))
    known = view.store.named_by_words(spans)
    places = sorted(
        ((start, end, key) for key in known for start, end in spans[key]), key=lambda at: (at[0] - at[1], at[0])
    )
    found: dict[str, float] = {}
    for start, end, key in places:
        if all(covered[start:end]):
            continue
        covered[start:end] = [True] * (end - start)
        iris = {view.root(iri) for iri in known[key] if view.may_see_entity(iri)}
        if len(iris) <= SHARED_NAME:
            found |= {iri: max(found.get(iri, 0.0), 1 / len(iris)) for iri in iris}
    return found


def _partly(view: GraphView, words: Iterable[str]) -> dict[str, float]:
    said: dict[str, set[str]] = {}
    for word in words:
        for spelt in _spellings(view, word):
            iris = view.store.with_word(spelt, COMMON_WORD + 1)
            for iri in iris if len(iris) <= COMMON_WORD else ():
                said.setdefault(iri, set()).add(spelt)
    names = view.store.words_of([iri for iri in said if view.may_see_entity(iri)])
    found: dict[str, float] = {}
    for iri, own in names.items():
        share = max(len(said[iri] & set(name.split())) / len(name.split()) for name in own if name)
        if share >= LEAST_SHARE:
            found[view.root(iri)] = max(found.get(view.root(iri), 0.0), PARTLY * share)
    return found


def _spellings(view: GraphView, word: str) -> list[str]:
    """The word where a name has it, else the words of names that are one edit away from it."""
    if view.store.with_word(word, 1):
        return [word]
    if len(word) < SHORTEST_MISSPELT or not word.isalpha():
        return []
    return sorted(near for near in view.store.words_near(word) if len(near) >= 4 and is_one_edit(word, near))


def is_one_edit(one: str, other: str) -> bool:
    """Whether one letter was added, left out, changed, or swapped with the next."""
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    start = next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
    if start is None:
        return True
    if len(one) == len(other):
        swapped = one[:start] + one[start + 1 : start + 2] + one[start] + one[start + 2 :]
        return one[start + 1 :] == other[start + 1 :] or swapped == other
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    return longer[start + 1 :] == shorter[start:]


def _tells(word: str) -> bool:
    return len(word) >= _SHORTEST_WORD and not is_stop_word(word) and word not in QUESTION_WORDS and not word.isdigit()
