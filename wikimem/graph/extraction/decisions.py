"""What was chosen, what was rejected, and what took whose place, from sentences that say so in so many words.

A sentence that asks, supposes, plans or denies decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from wikimem.graph.extraction.found import Extracted, Named, Setting
from wikimem.graph.extraction.hedges import is_denied_before, is_reported, is_supposed
from wikimem.graph.extraction.mentions import MENTION, Coded
from wikimem.graph.extraction.sentences import Sentence
from wikimem.graph.extraction.wellknown import CAPITALISED
from wikimem.graph.vocabulary import STATED

_WORD: Final = r"[A-Za-z0-9](?:[\w.+/#-]*[\w+#])?"
_END: Final = (
    r"(?=\s+(?:because|since|as|for|in|on|to|when|so|due|after|from|and|but|which|that|while|until|with|at|by|of|here"
    r"|everywhere|now|if|where|over|instead|rather|is|was|are|were|has|had|again|ago|today|yesterday|last|this)\b"
    r"|\s*[.,;:)(!]|\s+[—–-]\s|\s*$)"
)
_NAME: Final = rf"(?:(?:the|a|an|our|plain|using)\s+)?((?:{MENTION}|{_WORD})(?:\s+(?:{MENTION}|{_WORD})){{0,3}}?){_END}"
_X: Final = _NAME
_SUBJECT: Final = rf"(?:(?:^|[,;]\s)((?:{MENTION}|{_WORD}))|({MENTION}))"
_OVER: Final = r"\s+(?:over|instead\s+of|rather\s+than|in\s+place\s+of)\s+(?:using\s+)?"
_CHOSE: Final = (
    r"(?:chose|choose|chosen|picked|selected|went\s+with|go\s+with|going\s+with|gone\s+with|opted\s+for|settled\s+on"
    r"|adopt(?:ed)?|prefer(?:red|s)?|use[sd]?|using|keep|kept|stay(?:ed|ing)?\s+(?:with|on))"
)
_BOTH: Final = re.compile(rf"\b{_CHOSE}\s+{_X}{_OVER}{_NAME}", re.IGNORECASE)
_NOT: Final = re.compile(rf"\b(?:use|chose|choose|pick|prefer)\s+{_X},?\s+not\s+{_NAME}", re.IGNORECASE)
_WAS_CHOSEN: Final = re.compile(
    rf"(?:^|[\s,;]){_NAME}\s+(?:was|were|is)\s+(?:chosen|picked|selected|preferred)\s+over\s+{_NAME}", re.IGNORECASE
)
_LEADING: Final = re.compile(
    rf"\b(?:instead\s+of|rather\s+than)\s+{_NAME},?\s+(?:we|i)\s+{_CHOSE}\s+{_X}", re.IGNORECASE
)
_CHOSEN: Final = re.compile(
    rf"\b(?:decided\s+(?:on|to\s+use|to\s+adopt|to\s+go\s+with|in\s+favou?r\s+of)|agreed\s+(?:on|to\s+use)"
    rf"|settled\s+on|standardi[sz]ed\s+on|opted\s+for|went\s+with|chose|picked|adopted)\s+{_X}",
    re.IGNORECASE,
)
_SWITCHED: Final = re.compile(
    rf"\b(?:switch(?:ed|ing)?|mov(?:ed|ing|e)|migrat(?:ed|ing|e)|chang(?:ed|ing)|port(?:ed|ing)|convert(?:ed|ing))\s+"
    rf"(?:(?:{MENTION}|[\w'-]+)\s+){{0,5}}?(?:over\s+)?from\s+{_NAME}\s+(?:over\s+)?to\s+{_X}",
    re.IGNORECASE,
)
_REPLACED: Final = re.compile(rf"\breplac(?:ed|e|es|ing)\s+{_NAME}\s+(?:with|by)\s+{_X}", re.IGNORECASE)
_REPLACES: Final = re.compile(
    rf"{_SUBJECT}\s+(?:has\s+)?(?:replaces|replaced|supersedes|superseded)\s+{_X}", re.IGNORECASE
)
_WAS_REPLACED: Final = re.compile(
    rf"(?:^|[\s,;]){_NAME}\s+(?:was|were|is|are|has\s+been|have\s+been|got)\s+(?:replaced|superseded)\s+(?:by|with)\s+{_X}",
    re.IGNORECASE,
)
_AGAINST: Final = re.compile(
    rf"\b(?:decided\s+against|ruled\s+out|rejected|turned\s+down|ruled)\s+(?:using\s+|adopting\s+|moving\s+to\s+)?{_NAME}"
    r"(?:\s+out\b)?",
    re.IGNORECASE,
)
_DROPPED: Final = re.compile(rf"\b(?:dropped|abandoned|removed|got\s+rid\s+of)\s+({MENTION})", re.IGNORECASE)
_WAS_REJECTED: Final = re.compile(
    rf"(?:^|[\s,;]){_NAME}\s+(?:was|were|is|has\s+been)\s+(?:rejected|ruled\s+out|turned\s+down)\b", re.IGNORECASE
)
_AVOID: Final = re.compile(
    rf"(?:^|[\s,;])(?:avoid|do\s+not\s+use|don[’']t\s+use|never\s+use|stop(?:ped)?\s+using|must\s+not\s+use)\s+{_NAME}",
    re.IGNORECASE,
)
_REASON: Final = re.compile(
    r"\b(?:because(?:\s+of)?|due\s+to|since(?=\s+(?:it|the|its|they|we)\b))\s+([^.;!?]+)", re.IGNORECASE
)
_OPEN_QUESTION: Final = re.compile(
    r"\?\s*$|^(?:if|should|shall|could|would|maybe|perhaps|what if|whether)\b"
    r"|\b(?:consider(?:ed|ing)?|might|may\s+(?:want|use|be)|could|would|thinking\s+(?:of|about)|propos(?:e|ed|es|al)"
    r"|suggest(?:ed|s)?|plan(?:s|ned|ning)?\s+to|whether|todo|to-do|evaluat(?:e|ed|ing)|compar(?:e|ed|ing)|tried|try"
    r"|not\s+yet|has(?:n[’']t|\s+not)|have(?:n[’']t|\s+not)|did(?:n[’']t|\s+not)|never\s+(?:chose|switched|replaced)"
    r"|(?:is|was|were|are)\s+not|isn[’']t|wasn[’']t|unless)\b",
    re.IGNORECASE,
)
_BEFORE: Final = re.compile(rf"({MENTION})\s+(?:has\s+|had\s+|then\s+|finally\s+|also\s+|later\s+)?$")
_NAME_LIKE: Final = re.compile(r"[A-Z0-9@._#+]")
_VERBS: Final = (_CHOSEN, _AGAINST, _WAS_REJECTED, _DROPPED)
_DATE: Final = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september"
    r"|october|november|december|monday|\d{4}-\d\d|v?\d+(?:\.\d+)*$)",
    re.IGNORECASE,
)
_LONGEST_HEAD: Final = 8
"""Words of what an item of a list of alternatives names."""
_PRONOUN: Final = re.compile(
    r"(?:it|them|this|that|these|those|one|both|none|all|everything|nothing|him|her|us|me|what|which|each|another|"
    r"same|other|others|things?|ones?|not|no|i|we|you|he|she|they|who|whoever|someone|somebody|anyone|anybody|everyone"
    r"|everybody|nobody|something|anything|there|here|mine|ours|yours|theirs|myself|ourselves|yourself|itself"
    r"|also|then|now|finally|already|just|later|recently|previously|eventually)(?:[’']\w+)?(?:\s|$)",
    re.IGNORECASE,
)
_COUNT: Final = re.compile(
    r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|several|some|many|few|most|any|every|a\s+few)\s+[a-z]"
)
"""Begins what is counted, which is no name."""


def decided(sentence: Sentence, setting: Setting) -> Iterator[Extracted]:
    """The edges of one sentence; nothing where it only asks, plans or denies."""
    coded = sentence.coded
    text = coded.text
    if re.search(r"[가-힣]", sentence.written):
        from wikimem.graph.extraction.korean import decided_in_korean

        yield from decided_in_korean(sentence, setting)
        return
    avoided = _AVOID.search(text)
    if is_supposed(text):
        return
    if avoided and not text.rstrip().endswith("?") and not is_denied_before(text, avoided.start()):
        name = named(coded, avoided[1], sure=True)
        chooser = setting.chooser
        if name and chooser:
            yield _said(sentence, chooser, "avoids", name, reason_of(coded))
    if _OPEN_QUESTION.search(text) or is_reported(text):
        return
    yield from _choices(sentence, setting)
    yield from _successions(sentence)


def _choices(sentence: Sentence, setting: Setting) -> Iterator[Extracted]:
    coded, text = sentence.coded, sentence.coded.text
    why = reason_of(coded)
    for pattern, order in ((_BOTH, (1, 2)), (_NOT, (1, 2)), (_LEADING, (2, 1)), (_WAS_CHOSEN, (1, 2))):
        match = _stated(pattern, text)
        if match is None:
            continue
        chosen, other = named(coded, match[order[0]]), named(coded, match[order[1]])
        who = chooser(coded, text[: match.start()], setting)
        if chosen and other and who and _one_is_sure(coded, match[1], match[2]):
            verb = "prefers" if who.type == "person" else "uses"
            yield _said(sentence, who, verb, chosen, why, (other.name,))
            # The reason is that of the choice: `since it is faster` rejects nothing.
            yield _said(sentence, who, "rejected", other)
            return
    match = _stated(_CHOSEN, text)
    decided_at = match.start() if match else None
    if match is not None:
        chosen, who = named(coded, match[1], sure=True), chooser(coded, text[: match.start()], setting)
        if chosen and who:
            relation = "prefers" if who.type == "person" else "uses"
            yield _said(sentence, who, relation, chosen, why if _reason_is_of(coded, match.start()) else "")
    for pattern in (_AGAINST, _WAS_REJECTED, _DROPPED):
        match = _stated(pattern, text)
        if match is not None:
            if decided_at is not None and not _reason_is_of(coded, match.start()):
                why = ""
            other, who = named(coded, match[1], sure=True), chooser(coded, text[: match.start()], setting)
            if pattern is _DROPPED and other and other.type != "library":
                return
            if other and who and other.type not in ("error", "person"):
                yield _said(sentence, who, "rejected", other, why)
            return


def _successions(sentence: Sentence) -> Iterator[Extracted]:
    coded = sentence.coded
    why = reason_of(coded)
    for pattern in (_SWITCHED, _REPLACED, _WAS_REPLACED, _REPLACES):
        match = _stated(pattern, coded.text)
        if match is None:
            continue
        one, other = [group for group in match.groups() if group is not None]
        if pattern is _REPLACES:
            one, other = other, one
        before, after = named(coded, one), named(coded, other)
        if not before or not after or before == after or "person" in (before.type, after.type):
            return
        if _one_is_sure(coded, one, other):
            yield _said(sentence, before, "succeeded_by", after, why)
        return


def rejected_alternatives(sentence: Sentence, setting: Setting) -> Iterator[Extracted]:
    """What stands under `Alternatives` on the page of a decision: each was considered and not chosen."""
    who = setting.decision
    if who is None or not re.match(
        r"alternatives\b|rejected\b|considered\b|대안|검토한", sentence.heading, re.IGNORECASE
    ):
        return
    text = re.sub(r"\*\*|__", "", sentence.coded.text)
    head, colon, rest = text.partition(":")
    first = named(sentence.coded, re.split(r"\s+(?:behind|with|on|in|for|from)\s+|\s*\(|,\s", head)[0], sure=True)
    name = first if first and first.type != "concept" else named(sentence.coded, head, longest=_LONGEST_HEAD)
    if name and colon and len(head) <= 80:
        yield _said(sentence, who, "rejected", name, sentence.coded.plain(rest).strip().rstrip("."))


def listed_alternatives(sentence: Sentence, setting: Setting) -> Iterator[Extracted]:
    """`Alternatives: jsonwebtoken (needs Node crypto), hand-written verification (audit cost).`"""
    who = setting.decision
    match = re.match(
        r"(?:\*\*)?(?:alternatives(?: considered)?|rejected|대안)(?:\*\*)?\s*:\s*(.+)",
        sentence.coded.text,
        re.IGNORECASE,
    )
    if who is None or match is None:
        return
    for item in re.split(r"[,;]\s*(?![^()]*\))", match[1].rstrip(". ")):
        head, _, reason = item.strip().partition("(")
        name = named(sentence.coded, head.strip())
        if name and len(head) <= 60:
            yield _said(sentence, who, "rejected", name, sentence.coded.plain(reason).rstrip(") "))


def named(coded: Coded, piece: str, *, sure: bool = False, longest: int = 4) -> Named | None:
    """What a piece of a sentence names: a known thing, or a concept of a few words; None for a pronoun or a date.

    `sure`: only what is known, or is written as a name is: with capitals, digits, or as code.
    """
    piece = piece.strip().strip("*_\"'“”")
    numbers = coded.numbers(piece)
    if re.fullmatch(MENTION, piece):
        return coded.named[numbers[0]]
    rest = re.sub(MENTION, "", piece).strip()
    if (
        len(numbers) == 1
        and re.fullmatch(r"[\d.]+|v\d[\w.]*", rest or "0")
        and coded.named[numbers[0]].type == "library"
    ):
        return coded.named[numbers[0]]
    plain = coded.plain(piece).strip()
    if not plain or _PRONOUN.match(plain) or _COUNT.match(plain):
        return None
    if len(plain.split()) > longest or len(plain) > 60 or _DATE.search(plain):
        return None
    bare = re.sub(r"\s+v?\d[\d.]*$", "", plain)
    if bare in CAPITALISED:
        return Named("library", bare)
    if sure and not numbers and not _NAME_LIKE.search(plain):
        return None
    return Named("concept", plain)


def chooser(coded: Coded, before: str, setting: Setting) -> Named | None:
    """Who chose: the person right before the verb, else what the text is about."""
    match = _BEFORE.search(before)
    if match:
        who = coded.named[coded.numbers(match[1])[0]]
        return who if who.type == "person" else None
    return setting.chooser


def reason_of(coded: Coded) -> str:
    """Why, as the sentence says it after `because`; empty where it does not."""
    match = _REASON.search(coded.text)
    return coded.plain(match[1]).strip(" ,") if match else ""


def _reason_is_of(coded: Coded, place: int) -> bool:
    """Whether the reason of a sentence belongs to its verb at `place`: to the nearest one before it, if any is."""
    match = _REASON.search(coded.text)
    if match is None:
        return False
    verbs = [found.start() for verb in _VERBS for found in verb.finditer(coded.text, 0, match.start())]
    return not verbs or place == max(verbs)


def _stated(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The first match that the clause before it neither denies nor makes a condition."""
    return next((found for found in pattern.finditer(text) if not is_denied_before(text, found.start())), None)


def _one_is_sure(coded: Coded, *pieces: str) -> bool:
    return any(named(coded, piece, sure=True) for piece in pieces)


def _said(
    sentence: Sentence, who: Named, relation: str, what: Named, why: str = "", others: tuple[str, ...] = ()
) -> Extracted:
    return Extracted(who, relation, what, STATED, sentence.written, why, others)
