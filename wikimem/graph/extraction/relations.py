"""What uses, needs, causes or fixes what, what lies where, and what people are said to want.

Both ends must be named: as code, as a link, as a known thing. The words between them are few and say one thing only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from wikimem.graph.extraction.decisions import named, reason_of
from wikimem.graph.extraction.found import Extracted, Named, Setting
from wikimem.graph.extraction.hedges import is_supposed, is_supposed_in_korean
from wikimem.graph.extraction.korean import related_in_korean
from wikimem.graph.extraction.mentions import MENTION, Coded, person
from wikimem.graph.extraction.sentences import Sentence
from wikimem.graph.vocabulary import INFERRED, STATED

_ADVERB: Final = r"(?:(?:also|now|still|already|only|directly|always|currently|mostly)\s+)?"
_DET: Final = r"(?:(?:the|a|an|its|our|version\s+\d+\s+of|function|file|method|class|library|package|module)\s+){0,2}"
_THING: Final = frozenset(("file", "function", "library", "project", "concept", "pattern"))
_CODE: Final = frozenset(("file", "function", "library", "project"))
_FAULTY: Final = frozenset(("file", "function", "library", "concept", "decision"))
_ERROR: Final = frozenset(("error",))

_RULES: Final[tuple[tuple[re.Pattern[str], str, frozenset[str], frozenset[str], float], ...]] = tuple(
    (
        re.compile(rf"({MENTION})\s+{_ADVERB}(?:{verb})\s+{_DET}({MENTION})", re.IGNORECASE),
        name,
        subjects,
        objects,
        weight,
    )
    for verb, name, subjects, objects, weight in (
        (r"uses|use|is\s+(?:built|written|based)\s+on|runs\s+on|wraps|calls", "uses", _THING, _THING, STATED),
        (r"imports?", "imports", _CODE, _CODE, STATED),
        (r"depends\s+on|relies\s+on|needs|requires", "depends_on", _THING, _THING, STATED),
        (r"causes|caused|raises|raised|throws|threw|leads\s+to|led\s+to|triggers|triggered|fails\s+with|failed\s+with"
         r"|crashed\s+with", "causes", _FAULTY, _ERROR, STATED),
        (r"fixes|fixed|resolves|resolved|prevents|solved", "fixes", _FAULTY, _ERROR, STATED),
        (r"(?:is|was|comes?|came)\s+(?:caused\s+by|from)", "caused_by", _ERROR, _FAULTY, STATED),
        (r"(?:is|was|got)\s+fixed\s+(?:in|by|with)", "fixed_by", _ERROR, _FAULTY, STATED),
        (r"(?:is\s+|are\s+)?(?:defined\s+|implemented\s+|declared\s+)?(?:in|lives\s+in)", "located_in",
         frozenset(("function", "error")), frozenset(("file",)), STATED),
        (r"modifies|rewrites|rewrote", "modifies", _CODE, _CODE, STATED),
        (r"is\s+blocked\s+by|waits\s+for|is\s+waiting\s+for", "blocked_by", _THING, _THING | _ERROR, STATED),
    )
)  # fmt: skip
_FIXED_BY: Final = re.compile(
    rf"\b(?:fix(?:ed|es)?|resolv(?:ed|es)|solv(?:ed|es))\s+(?:the\s+|an?\s+)?({MENTION})\s+(?:error\s+|crash\s+)?"
    rf"(?:by\s+\w+ing\s+(?:[\w-]+\s+){{0,4}}?(?:in\s+|to\s+|from\s+|with\s+)?|in\s+|with\s+){_DET}({MENTION})",
    re.IGNORECASE,
)
_WITH: Final = re.compile(rf"\b(?:with|via|through|using|on)\s+{_DET}({MENTION})", re.IGNORECASE)
_PAIRED: Final = re.compile(
    rf"({MENTION})\s+(?:\w+\s+){{0,4}}?(?:validates?|verif(?:y|ies)|parses?|renders?|stores?|writes?|reads?|tests?|hash(?:es)?"
    rf"|signs?|sends?|caches?|quer(?:y|ies)|retr(?:y|ies))\s+(?:[\w-]+\s+){{0,4}}?(?:with|via|through|using)\s+{_DET}({MENTION})",
    re.IGNORECASE,
)
_PASSIVE: Final = re.compile(
    rf"\b(?:are|is)\s+(?:\w+ed|written|built|sent|read|kept)\s+(?:with|by|using|through)\s+{_DET}({MENTION})\s+in\s+{_DET}({MENTION})",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(
    r"\b(?:not|never|n[’']t|cannot|no\s+longer|without|if|should|could|would|might|may|unless|whether|used\s+to|"
    r"plan(?:s|ned)?\s+to|instead\s+of|rather\s+than|will|until)\b|n[’']t\b|\?\s*$",
    re.IGNORECASE,
)
_WORD: Final = r"[A-Za-z0-9](?:[\w.+/#-]*[\w+#])?"
_FULL_NAME: Final = r"[A-Z][a-z]+(?:[-'][A-Z][a-z]+)?(?:\s[A-Z][a-z]+(?:[-'][A-Z]?[a-z]+)?)?"
_SAYING: Final = re.compile(
    rf"(?:^|[.;,]\s|\s)({MENTION}|{_FULL_NAME})\s+(?:always\s+|strongly\s+|really\s+)?"
    rf"(prefers|likes|wants|dislikes|avoids|hates|works\s+at|works\s+for|joined|works\s+on)\s+(?:the\s+|an?\s+|to\s+use\s+|using\s+)?"
    rf"({MENTION}|{_WORD}(?:\s{_WORD}){{0,3}}?)(?=\s+(?:over|to|for|because|in|and|instead|rather|on|as|since|when|at|team)\b|[.,;!]|$)"
)
_WANTS: Final = {
    "prefers": "prefers",
    "likes": "prefers",
    "wants": "prefers",
    "dislikes": "avoids",
    "avoids": "avoids",
    "hates": "avoids",
    "works at": "works_at",
    "works for": "works_at",
    "joined": "works_at",
    "works on": "works_at",
}
_NOBODY: Final = frozenset(
    """
    he she it they we you i this that the a an everyone everybody nobody somebody someone who which what node
    everything linux windows obsidian docker github gitlab google microsoft apple amazon team customer customers
    user users
    """.split()  # noqa: SIM905
)  # fmt: skip


def related(sentence: Sentence, setting: Setting) -> Iterator[Extracted]:
    """The edges of one sentence whose two ends it names."""
    coded, text = sentence.coded, sentence.coded.text
    if is_supposed(text) or is_supposed_in_korean(text):
        return
    yield from related_in_korean(sentence)
    yield from people(sentence)
    for pattern, relation, subjects, objects, weight in _RULES:
        for match in pattern.finditer(text):
            if _is_denied(text, match):
                continue
            one, other = _ends(coded, match)
            if one.type in subjects and other.type in objects and one != other:
                yield _edge(sentence, one, relation, other, weight)
    for match in _FIXED_BY.finditer(text):
        error, fix = _ends(coded, match)
        if error.type == "error" and fix.type in _FAULTY and not _is_denied(text, match):
            yield Extracted(fix, "fixes", error, STATED, sentence.written)
    for match in _PAIRED.finditer(text):
        one, other = _ends(coded, match)
        if one.type in ("file", "function") and other.type == "library" and not _is_denied(text, match):
            yield Extracted(one, "uses", other, STATED, sentence.written)
    for match in _PASSIVE.finditer(text):
        library, file = _ends(coded, match)
        if library.type == "library" and file.type in ("file", "function") and not _is_denied(text, match):
            yield Extracted(file, "uses", library, STATED, sentence.written, reason_of(coded))
    yield from _of_the_error(sentence, setting)


def people(sentence: Sentence) -> Iterator[Extracted]:
    """What a person is said to prefer, to avoid, or where they work."""
    coded, text = sentence.coded, sentence.coded.text
    if _DENIED.search(text.replace("instead of", "").replace("rather than", "")):
        return
    for match in _SAYING.finditer(text):
        who = _person(coded, match[1])
        relation = _WANTS[re.sub(r"\s+", " ", match[2])]
        what = named(coded, match[3], sure=relation == "works_at" or match[2] in ("likes", "wants"))
        if who is None or what is None or what.type in ("error", "person"):
            continue
        if relation == "works_at":
            kind = "project" if what.type == "project" else "organization"
            if what.type not in ("concept", "project", "organization") or (
                kind == "organization" and match[2] == "works on"
            ):
                continue
            what = Named(kind, what.name)
        yield Extracted(who, relation, what, STATED, sentence.written, reason_of(coded))


def edited_with(body: Sentence, file: Named) -> Iterator[Extracted]:
    """What an edit of `file` is said to have used: `verify tokens with jose`."""
    text = body.coded.text
    for match in _WITH.finditer(text):
        library = body.coded.named[body.coded.numbers(match[1])[0]]
        if library.type == "library" and not _is_denied(text, match):
            yield Extracted(file, "uses", library, INFERRED, body.written)


def _of_the_error(sentence: Sentence, setting: Setting) -> Iterator[Extracted]:
    """`**Cause**: …` and `**Fix**: …` on the page of an error: what they name caused it, or fixed it."""
    match = re.match(
        r"(?:\*\*)?(cause|root cause|fix|fixed by|solution|원인|해결)(?:\*\*)?\s*:\s*(?:\*\*)?\s*(.+)",
        sentence.coded.text,
        re.IGNORECASE,
    )
    if setting.error is None or match is None:
        return
    relation = "causes" if match[1].casefold() in ("cause", "root cause", "원인") else "fixes"
    numbers = sentence.coded.numbers(match[2])
    for number in numbers[:2] if relation == "fixes" else numbers[:1]:
        thing = sentence.coded.named[number]
        if thing.type in ("file", "function", "decision") and number not in sentence.coded.vague:
            yield Extracted(thing, relation, setting.error, INFERRED, sentence.written)


def _edge(sentence: Sentence, one: Named, relation: str, other: Named, weight: float) -> Extracted:
    if relation == "fixed_by":
        return Extracted(other, "fixes", one, weight, sentence.written)
    return Extracted(one, relation, other, weight, sentence.written, reason_of(sentence.coded))


def _ends(coded: Coded, match: re.Match[str]) -> tuple[Named, Named]:
    one, other = (coded.named[coded.numbers(match[place])[0]] for place in (1, 2))
    return one, other


def _is_denied(text: str, match: re.Match[str]) -> bool:
    """Whether the clause denies it, supposes it, or asks."""
    start = max(text.rfind(mark, 0, match.start()) for mark in (". ", "; ", ", but ", ": ")) + 1
    return bool(_DENIED.search(text[max(start, 0) : match.end()])) or text.rstrip().endswith("?")


def _person(coded: Coded, written: str) -> Named | None:
    if re.fullmatch(MENTION, written):
        who = coded.named[coded.numbers(written)[0]]
        return who if who.type == "person" else None
    return None if written.split(maxsplit=1)[0].casefold() in _NOBODY else person(written)
