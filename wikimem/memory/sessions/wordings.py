"""Sentences that say something lasting: a decision, or what is still open. English and Korean.

Patterns find what is said in so many words and miss the rest. A question decides nothing.
"""

from __future__ import annotations

import re
from typing import Final

_SENTENCE: Final = re.compile(r"(?<=[.!?。！？])[\"')\]]*\s+|\s*\n+\s*")
_MARKUP: Final = re.compile(r"^(?:[-*+]|\d+[.)]|#+|>)\s+")
_LEAST: Final = 8
_MOST: Final = 400

_DECIDED: Final = re.compile(
    r"\b(?:we|i|we've|i've|we have|i have)\s+(?:have\s+|then\s+|finally\s+|therefore\s+)?"
    r"(?:decided|chose|chosen|picked|settled on|opted|agreed|went with|rejected|ruled out)\b"
    r"|\b(?:let's|let us|we'll|we will|i'll|i will|we should|please)\s+(?:just\s+|not\s+)?"
    r"(?:use|go with|keep|stick (?:with|to)|switch to|move to|avoid|drop|stay (?:with|on)|standardi[sz]e on)\b"
    r"|^(?:decision|decided)\b\s*:?"
    r"|\bdecided (?:to|on|against|that)\b"
    r"|^(?:use|using|chose|choose|picked|prefer|keep|go with|going with|switched to|went with)\b.{1,80}"
    r"\b(?:over|instead of|rather than)\b"
    r"|\b(?:chose|picked|selected)\s.{1,80}\b(?:over|instead of|rather than|because)\b"
    r"|^(?:please\s+)?(?:do not|don't|never) (?:use|switch to|go with)\b"
    r"|^(?:from now on|never|always)\b",
    re.IGNORECASE,
)
_CONTRAST: Final = re.compile(r";|\b(?:but|however|so|therefore)\b", re.IGNORECASE)
_SUPPOSED: Final = re.compile(
    r"\b(?:if|unless|suppos(?:e|ing)|assuming|imagine|in case|for example|for instance|e\.g\.)(?:\s|,|\Z)"
    r"|^\W*(?:(?:well|then|or|and)\W+)?(?:perhaps|maybe|possibly|probably|presumably)\b|^\W*had\s+\Z",
    re.IGNORECASE,
)
_DOUBTED: Final = re.compile(
    r"\b(?:perhaps|maybe|possibly|probably|presumably|whether|doubt|wonder(?:ing)?|unsure|unclear|undecided)\b"
    r"|\b(?:readme|docs?|documentation|comments?|changelog|page|article|post|blog|file|wiki|note|ticket|issue|guide"
    r"|manual|template|example|message|log|website|site|tutorial|code)s?\b.{0,40}"
    r"\b(?:says?|said|claims?|claimed|states?|stated|suggests?|mentions?|reads)\b",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(
    r"(?:(?:\bnot|n't|\bnever|\bcannot|\bnobody|\bno[ -]one|\bnone of us|\bneither)\s+(?:(?:yet|really|actually"
    r"|formally|finally|been|think|believe|say|saying|mean|want|suggest|suggesting|recommend|recommending|sure|that|certain"
    r"|convinced|clear|know|has|have|had|all|fully|even)\s+)*"
    r"|\b(?:might|may|could|would|almost|nearly|yet to|once|until|till|before|whenever|as soon as|by the time)"
    r"\s+(?:(?:have|be|then|also|just)\s+)*)\Z",
    re.IGNORECASE,
)
_NOTHING: Final = re.compile(
    r"\W*(?:(?:on|that|to)\s+)?(?:nothing|none|neither|pending|open|tbd|n/?a|to be|deferred|postponed|later|needed"
    r"|required|yet|(?:is|was|has)\s+(?:been\s+)?(?:still\s+)?(?:open|pending|needed|deferred|postponed|not|up to)"
    r"|not (?:made|taken|yet|needed|final))\b",
    re.IGNORECASE,
)
_AFTERTHOUGHT: Final = re.compile(r"\b(?:perhaps|maybe|i guess|not sure)\W*\Z", re.IGNORECASE)
# What a person or an agent says of the work at hand, in the words of a decision.
_WORK: Final = re.compile(
    r"\b(?:let's|let us|we'll|we will|i'll|i will|please)\s+(?:just\s+)?(?:"
    r"keep\s+(?:you|an eye|track|it in mind|that in mind|this in mind|(?:me|us)\b|(?!using\b)\w+ing\b)"
    r"|use\s+(?:(?:the|a|an|my|our|this)\s+)?(?:[\w`'-]+\s+){0,2}?"
    r"(?:tools?|commands?|(?:sub-?)?agents?|skill|shell|terminal|search\s+(?:to|for)|todo list|plan mode)\b"
    r"|use\s+`?(?:grep|rg|sed|awk|find|ls|cat|glob|bash|edit|read|write|git \w+|this|that|it|these|those)`?"
    r"\s+(?:to|for)\b"
    r"|drop\s+(?:by|in)\b|avoid\s+(?:that|this|it)\W*\Z)"
    r"|^(?:never|always)\s+(?:mind|again|a|an|the|in|on|off|up|been|had|has|have|got|saw|seen|ran|was|were|is|did|does"
    r"|knew|happy|glad|nice|good|great|fun|pleased|worth|there|here|better|best|possible|true|false|null|ready|sure"
    r"|available|welcome|active|visible|empty|(?!(?:embed|need|feed|seed|exceed|proceed|speed|shed)\b)\w+ed"
    r"|(?!(?:bring|ping|string)\b)\w+ing|(?!(?:focus|alias|bias)\b)\w*[^s\W]s)\b",
    re.IGNORECASE,
)
_DECIDED_KOREAN: Final = re.compile(
    r"기로\s*(?:했|함|결정|정했|하자|합시다|하겠|해요|할게)"
    r"|(?:으로|로)\s*(?:하자|합시다|가자|갑시다|정하자|정했|결정|통일|바꾸자|바꿨|하겠)"
    r"|(?:을|를|만)\s*(?:쓰자|씁시다|사용하자|사용합시다|유지하자|유지합시다|선택)"
    r"|(?:대신|보다)\s.{0,60}(?:쓰자|씁시다|쓰겠|썼|사용하|사용했|선택|택했)"
    r"|지\s*(?:말자|맙시다|않도록\s*(?:하자|합시다))"
    r"|(?:쓰|사용하|도입하|추가하|커밋하)지\s*(?:마세요|마십시오|말아)"
    r"|채택|선택했|결정했|결정\s*:|앞으로(?:는)?\s.{1,80}(?:자|시다|세요|것|함)[.!]?$"
)
_SUPPOSED_KOREAN: Final = re.compile(r"만약|만일|가령|혹시|예를\s*들|예컨대|아마|어쩌면|(?:걱정|염려|잊)(?:하)?지\s*말")
_UNDONE_KOREAN: Final = re.compile(
    r"[가-힣]{0,3}?(?:하|되|짓|내리|정하)?(?:지(?:는|도|를)?\s*(?:않|못)|다면|으면|더라면|려면|면\b|는지|을지|할지|할까|지\s*(?:모르|모릅)"
    r"|다고|라고|자고|자는|는\s*(?:게|것이|편이|의견|제안))"
    r"|고\s*(?:했|합니|한다|하면|제안|말)|(?:을|를|은|이)?\s*(?:안|못)\s*(?:했|됐|내렸)|\s*여부|(?:을|를|은|이)?\s*(?:보류|미정|미뤘|내리지)"
)
_OPEN: Final = re.compile(
    r"\b(?:to-?do|fixme|next steps?|remaining|still (?:need|needs|has|have|to|fails?|missing|open)|not (?:yet|done)"
    r"|left (?:to do|open|for later)|follow[- ]?ups?|haven't|hasn't|remains? to|yet to be)\b",
    re.IGNORECASE,
)
_OPEN_KOREAN: Final = re.compile(r"남은\s|남아\s|남았|아직|다음\s*단계|추후|나중에|미완|못\s*했")
_NONE_OPEN: Final = re.compile(
    r"(?:\b(?:no|zero|without|nothing|none|any|0)\s+(?!one\b|time\b)(?:(?:\w+|is|are)\s+){0,3}"
    r"|\b(?:fixed|removed|resolved|closed|finished|addressed|completed|deleted|cleared)\s+(?:(?:all|both|of|the|last"
    r"|two|three|four|any)\s+)*)\Z",
    re.IGNORECASE,
)
_ALL_DONE: Final = re.compile(
    r"s?(?:\s+\w+)?\s+(?:are|were|is|was|have been|has been)\s+(?:now\s+|all\s+)?"
    r"(?:done|fixed|resolved|closed|finished|gone|removed|completed?|empty|none)\b",
    re.IGNORECASE,
)
_NONE_OPEN_KOREAN: Final = re.compile(
    r"(?<=아직)(?:(?:도|까지|까지도)?\s*(?:잘(?!\s*(?:안\s|못))|정상|괜찮|문제\s*없|문제가\s*없|유효|통과))"
    r"|(?<!아직).{0,20}?(?:은|는|이|가|도)?\s*(?:없습|없어|없다|없음|없네|없고)"
    r"|(?:있지\s*않)"
)


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text, without marks of lists and headings; code blocks are left out."""
    prose = re.sub(r"(?s)```.*?(?:```|\Z)", "\n", text)
    parts = (_MARKUP.sub("", part.strip()) for part in _SENTENCE.split(prose))
    return [part for part in parts if part]


def decisions(text: str) -> list[str]:
    """The sentences that say what was decided, as they stand."""
    return [each for each in sentences(text) if _LEAST <= len(each) <= _MOST and _is_decision(each)]


def _is_decision(sentence: str) -> bool:
    plain = sentence.replace("’", "'")
    if plain.rstrip("\"')").endswith(("?", "？")) or _AFTERTHOUGHT.search(plain):
        return False
    if any(_is_meant(plain, found) for found in _DECIDED.finditer(plain)):
        return True
    return _SUPPOSED_KOREAN.search(plain) is None and any(
        _UNDONE_KOREAN.match(plain, found.end()) is None for found in _DECIDED_KOREAN.finditer(plain)
    )


def _is_meant(plain: str, found: re.Match[str]) -> bool:
    """Whether what sounds like a decision is said outright: not supposed, doubted, denied or somebody else's."""
    before = _CONTRAST.split(plain[: found.start()])[-1]
    clause = re.split(r"[,:]\s|\s[–—-]\s", before)[-1]
    if _SUPPOSED.search(before) or _DOUBTED.search(clause) or _DENIED.search(clause):
        return False
    return _NOTHING.match(plain, found.end()) is None and _WORK.match(plain, found.start()) is None


def open_ends(text: str) -> list[str]:
    """The sentences that say what is left to do."""
    return [each for each in sentences(text) if _LEAST <= len(each) <= _MOST and _is_open(each)]


def _is_open(sentence: str) -> bool:
    plain = sentence.replace("’", "'")
    for found in _OPEN.finditer(plain):
        if not _NONE_OPEN.search(plain[: found.start()]) and not _ALL_DONE.match(plain, found.end()):
            return True
    return any(_NONE_OPEN_KOREAN.match(plain, found.end()) is None for found in _OPEN_KOREAN.finditer(plain))
