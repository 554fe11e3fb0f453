"""Extraction over a whole page or over observations.

extract(text, setting, known) -> edges, each once, in the order of the text
extract_observations(observations, setting, known) -> the same for observations alone
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Final

from msgspec.structs import replace

from wikimem.graph.extraction.decisions import decided, listed_alternatives, rejected_alternatives
from wikimem.graph.extraction.failures import errors_in, thrown
from wikimem.graph.extraction.found import Extracted, Named, Setting
from wikimem.graph.extraction.hedges import is_denied_before, is_supposed, is_supposed_in_korean
from wikimem.graph.extraction.installed import declared, imported, installed, is_shell
from wikimem.graph.extraction.mentions import Known, names_in
from wikimem.graph.extraction.relations import edited_with, related
from wikimem.graph.extraction.sentences import (
    Observed,
    Sentence,
    blocks_of,
    observations_of,
    sentences_of,
)
from wikimem.graph.vocabulary import GUESSED, INFERRED

MOST_TOGETHER: Final = 6
"""Files of one session that are taken to have been edited together; more of them have less to do with each other."""
MOST_OF_A_TEXT: Final = 300
"""Edges that one text gives."""
_LONGEST_QUOTE: Final = 600
_EDITS: Final = frozenset(("edit", "write", "multiedit", "notebookedit", "patch"))
_RUNS: Final = frozenset(("bash", "run", "shell"))
_SPEAKS: Final = frozenset(("decision", "said", "prompt"))
_GREEN: Final = re.compile(r"\b(?:pass(?:ed|es|ing)?|green|succeeded|ok|fixed)\b", re.IGNORECASE)
_RED: Final = re.compile(r"\b(?:fail(?:ed|s|ing)?|error|red|crash(?:ed)?|\d+ failed)\b", re.IGNORECASE)


def extract(text: str, setting: Setting, known: Known) -> list[Extracted]:
    """What a page's text states. `known` are names of entities by their casefolded form."""
    found: list[Extracted] = []
    for sentence in sentences_of(text, known):
        found += _of_sentence(sentence, setting)
        found += rejected_alternatives(sentence, setting)
        found += listed_alternatives(sentence, setting)
        found += _commands(sentence, setting)
    for block in blocks_of(text):
        found += imported(block.text, block.language, setting)
        found += declared(block, setting)
        found += thrown(block.text, setting)
        if is_shell(block.language):
            found += installed(block.text, setting)
    found += extract_observations(observations_of(text), setting, known)
    return _once(found)


def extract_observations(observations: Sequence[Observed], setting: Setting, known: Known) -> list[Extracted]:
    """What observations of one session state, one by one and by their order."""
    found: list[Extracted] = []
    for seen in observations:
        own = replace(setting, file=edited_file(seen))
        found += [replace(edge, block=seen.id) for edge in _of_observation(seen, own, known)]
    found += _repaired(observations)
    found += _together(observations)
    return _once(found)


def edited_file(seen: Observed) -> Named | None:
    """The file that an observation says was edited."""
    match = re.match(r"`([^`\n]+)`", seen.body) if seen.label.casefold() in _EDITS else None
    return Named("file", match[1]) if match and re.search(r"[./]", match[1]) else None


def _of_sentence(sentence: Sentence, setting: Setting) -> Iterator[Extracted]:
    yield from decided(sentence, setting)
    yield from related(sentence, setting)


def _commands(sentence: Sentence, setting: Setting) -> Iterator[Extracted]:
    """Install commands in code marks: in prose their words would be prose."""
    written = sentence.written
    if is_supposed(written) or is_supposed_in_korean(written):
        return
    if re.search(r"\b(?:if|should|could|would|never|do not|don't|instead of)\b", written, re.IGNORECASE):
        return
    for match in re.finditer(r"`([^`\n]+)`", written):
        if not is_denied_before(written, match.start()):
            yield from installed(match[1], setting)


def _of_observation(seen: Observed, setting: Setting, known: Known) -> Iterator[Extracted]:
    label = seen.label.casefold()
    if label in _RUNS:
        match = re.match(r"`([^`\n]+)`(.*)", seen.body)
        if match and not _RED.search(match[2]):
            yield from installed(match[1], setting)
    if label in _EDITS and setting.file is not None:
        said = seen.body.partition("`")[2].partition("`")[2].strip()
        sentence = Sentence(said, names_in(said, known))
        yield from edited_with(sentence, setting.file)
        yield from related(sentence, setting)
        language = setting.file.name.rsplit(".", 1)[-1]
        yield from imported(said.strip("`"), language, setting)
        for code in re.findall(r"`([^`\n]+)`", said):
            yield from imported(code, language, setting)
    if label in _SPEAKS:
        for sentence in sentences_of(seen.body, known):
            if label != "prompt" or not re.match(
                r"(?:can|could|please|add|make|why|how|what)\b", sentence.written, re.IGNORECASE
            ):
                yield from _of_sentence(sentence, setting)


def _repaired(observations: Sequence[Observed]) -> Iterator[Extracted]:
    """An error, an edit, the error gone: the file that was edited last before it went fixes it."""
    error: Named | None = None
    edit: tuple[Named, Observed] | None = None
    for seen in observations:
        label = seen.label.casefold()
        file = edited_file(seen)
        if file is not None and error is not None:
            edit = (file, seen)
        elif label in _RUNS:
            errors = errors_in(seen.body)
            if errors and _is_failure(seen):
                error, edit = errors[0], None
            elif error is not None and edit is not None and _GREEN.search(seen.body) and not _RED.search(seen.body):
                yield Extracted(edit[0], "fixes", error, INFERRED, edit[1].body, block=edit[1].id)
                error, edit = None, None


def _is_failure(seen: Observed) -> bool:
    return bool(_RED.search(seen.body)) or "Error" in seen.body


def _together(observations: Iterable[Observed]) -> Iterator[Extracted]:
    """Files that one session edited."""
    edited: dict[Named, Observed] = {}
    for seen in observations:
        file = edited_file(seen)
        if file is not None:
            edited.setdefault(file, seen)
    if len(edited) <= MOST_TOGETHER:
        for one, other in combinations(edited, 2):
            yield Extracted(
                one, "related_to", other, GUESSED, edited[other].body, "edited together", block=edited[other].id
            )


def _once(found: Iterable[Extracted]) -> list[Extracted]:
    best: dict[tuple[Named, str, Named], Extracted] = {}
    for edge in found:
        if not edge.quote or len(edge.quote) > _LONGEST_QUOTE or edge.subject == edge.object:
            continue
        key = (edge.subject, edge.relation, edge.object)
        if key not in best or edge.weight > best[key].weight:
            best[key] = edge
    return list(best.values())[:MOST_OF_A_TEXT]
