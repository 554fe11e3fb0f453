"""The same in Korean: particles hang on names, and the verb comes last."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from wikimem.graph.extraction.found import Extracted, Named, Setting
from wikimem.graph.extraction.hedges import is_denied_after, is_supposed_in_korean
from wikimem.graph.extraction.mentions import MENTION, Coded
from wikimem.graph.extraction.sentences import Sentence
from wikimem.graph.extraction.wellknown import CAPITALISED
from wikimem.graph.vocabulary import STATED

_WORD: Final = r"[A-Za-z0-9][\w.+/#-]*?"
_HANGUL: Final = r"[가-힣]{2,}(?:\s[가-힣]{2,})?"
_NAME: Final = rf"({MENTION}|{_WORD}(?=[가-힣\s])|{_HANGUL}?)"
_OBJECT: Final = r"\s?(?:을|를)\s?"
_BY: Final = r"\s?(?:으로|로)\s?"
_CHOSE: Final = (
    r"(?:사용하기로|쓰기로|도입하기로|선택|채택|결정|사용한다|사용했|쓴다|썼다|쓰자|씁니다"
    r"|사용합니다|도입했|도입한다|정했|택했|하기로)"
)
_INSTEAD: Final = re.compile(
    rf"{_NAME}\s+대신(?:에)?\s+(?:[가-힣]+\s+)?{_NAME}(?:{_OBJECT}|{_BY}|\s)(?:[가-힣]+\s){{0,2}}?{_CHOSE}"
)
_SWITCHED: Final = re.compile(
    rf"{_NAME}\s?(?:에서|을|를)\s+{_NAME}{_BY}(?:전환|이전|변경|교체|바꾸|바꿨|옮기|옮겼|마이그레이션|대체|갈아)"
)
_CHOSEN: Final = re.compile(
    rf"{_NAME}(?:{_BY}(?:결정|정했|통일|하기로)|{_OBJECT}(?:사용하기로|쓰기로|도입하기로|채택|선택))"
)
_AGAINST: Final = re.compile(
    rf"{_NAME}\s?(?:을|를|은|는)\s+(?:쓰지\s*않기로|사용하지\s*않기로|도입하지\s*않기로|기각|배제|제외하기로|탈락)"
)
_AVOID: Final = re.compile(
    rf"{_NAME}\s?(?:을|를|은|는)\s+(?:쓰지\s*(?:말|않는)|사용하지\s*(?:말|않는)|피한다|피할\s*것|금지)"
)
_REASON: Final = re.compile(r"([^.,;!?]{2,120}?)\s?(?:때문에|때문이다|이유로)")
_UNDECIDED: Final = re.compile(
    r"[?？]\s*$|까[?.\s]*$|(?:고려|검토|제안|논의)(?:한다|했다|중|할|하자|해)|어떨까|수도\s*있|싶다"
)
_USES: Final = re.compile(
    rf"({MENTION})(?:에서는|에서|은|는|이|가)\s(?:[가-힣]+\s)?({MENTION})(?:을|를)\s(?:사용|쓴다|쓰고|씁니다|이용)"
)
_INSIDE: Final = re.compile(rf"({MENTION})의\s?({MENTION})")
_CAUSED: Final = re.compile(
    rf"({MENTION})\s?때문에\s(?:[^.{{}}]{{0,30}}?\s?)?({MENTION})(?:이|가|\s)[가-힣\s]{{0,8}}?(?:발생|생겼|났|나타)"
)
_FIXED: Final = re.compile(
    rf"({MENTION})(?:을|를|에서)\s(?:수정해|수정하여|고쳐|고쳐서|바꿔|바꿔서)\s?(?:[^.]{{0,20}}\s)?({MENTION})(?:을|를|이|가)?\s?(?:해결|고쳤|사라)"
)
_NEEDS: Final = re.compile(rf"({MENTION})(?:은|는|이|가)\s(?:[가-힣]+\s)?({MENTION})에\s의존")


def decided_in_korean(sentence: Sentence, setting: Setting) -> Iterator[Extracted]:
    """What was chosen, rejected, avoided or replaced."""
    coded, text = sentence.coded, sentence.coded.text
    if is_supposed_in_korean(text):
        return
    avoided = _AVOID.search(text)
    if avoided and not _UNDECIDED.search(text):
        yield from _of_chooser(sentence, setting, "avoids", _named(coded, avoided[1]))
    if _UNDECIDED.search(text):
        return
    match = _stated(_INSTEAD, text)
    if match:
        other, chosen = _named(coded, match[1]), _named(coded, match[2])
        if other and chosen and other != chosen:
            yield from _of_chooser(sentence, setting, "uses", chosen, (other.name,))
            for edge in _of_chooser(sentence, setting, "rejected", other):
                yield replace(edge, reasoning="")
        return
    match = _stated(_SWITCHED, text)
    if match:
        before, after = _named(coded, match[1]), _named(coded, match[2])
        if before and after and before != after:
            yield Extracted(before, "succeeded_by", after, STATED, sentence.written, _reason(coded))
        return
    match = _stated(_AGAINST, text)
    if match:
        yield from _of_chooser(sentence, setting, "rejected", _named(coded, match[1]))
        return
    match = _stated(_CHOSEN, text)
    if match:
        yield from _of_chooser(sentence, setting, "uses", _named(coded, match[1]))


def related_in_korean(sentence: Sentence) -> Iterator[Extracted]:
    """What uses, holds, causes, fixes or needs what."""
    coded, text = sentence.coded, sentence.coded.text
    if _UNDECIDED.search(text):
        return
    for pattern, relation, types in (
        (
            _USES,
            "uses",
            (("file", "function", "library", "project", "concept"), ("library", "file", "function", "concept")),
        ),
        (_CAUSED, "causes", (("file", "function", "library"), ("error",))),
        (_FIXED, "fixes", (("file", "function", "library"), ("error",))),
        (
            _NEEDS,
            "depends_on",
            (("file", "function", "library", "concept"), ("file", "function", "library", "concept")),
        ),
    ):
        for match in pattern.finditer(text):
            one, other = (coded.named[coded.numbers(match[place])[0]] for place in (1, 2))
            if one.type in types[0] and other.type in types[1] and one != other:
                yield Extracted(one, relation, other, STATED, sentence.written)
    for match in _INSIDE.finditer(text):
        holder, held = (coded.named[coded.numbers(match[place])[0]] for place in (1, 2))
        if (holder.type, held.type) == ("file", "function"):
            yield Extracted(held, "located_in", holder, STATED, sentence.written)


def _of_chooser(
    sentence: Sentence, setting: Setting, relation: str, what: Named | None, others: tuple[str, ...] = ()
) -> Iterator[Extracted]:
    who = setting.chooser
    if what and who:
        yield Extracted(who, relation, what, STATED, sentence.written, _reason(sentence.coded), others)


def _stated(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The first match that what follows it does not deny."""
    return next((found for found in pattern.finditer(text) if not is_denied_after(text, found.end())), None)


def _named(coded: Coded, piece: str) -> Named | None:
    piece = piece.strip()
    if re.fullmatch(MENTION, piece):
        return coded.named[coded.numbers(piece)[0]]
    plain = coded.plain(piece).strip()
    if plain in CAPITALISED:
        return Named("library", plain)
    return Named("concept", plain) if re.fullmatch(r"[A-Za-z0-9][\w.+/#-]*", plain) else None


def _reason(coded: Coded) -> str:
    match = _REASON.search(coded.text)
    return coded.plain(match[1]).strip(" ,") if match else ""
