"""Sentences that look as if they stated something, and only suppose it, doubt it, or say that a text says so.

is_supposed(text), is_supposed_in_korean(text)   the sentence as a whole
is_reported(text)                                a sentence that tells what a text or somebody says
is_denied_before(text, start)                    a verb that a clause denies, supposes or leaves open before it comes
is_denied_after(text, end)                       the same in Korean, where that comes after the verb
"""

from __future__ import annotations

import re
from typing import Final

_PAPER: Final = (
    r"(?:readme|docs?|documentation|document|wiki|changelog|blog(?:\s+post)?|article|tutorial|guide|post|spec"
    r"|comments?|notes?|manual|adr|rfc|ticket|issue|design|page|message|book)"
)
_SAYS: Final = (
    r"(?:says?|said|claims?|claimed|states?|stated|mentions?|mentioned|reads?|tells?|told|suggests?|insists?|implies"
    r"|implied)"
)
_OLD: Final = r"(?:old|older|outdated|stale|previous|former|legacy|original|earlier|archived)\s+(?:[\w-]+\s+){0,2}?"
_SUPPOSED: Final = re.compile(
    r"\b(?:perhaps|maybe|probably|possibly|presumably|supposedly|allegedly|apparently|hypothetical(?:ly)?|imagine"
    r"|suppos(?:e|ing)|assum(?:e|ing)\s+(?:that\s+)?(?:we|you|i|they)|in\s+case|pretend|for\s+(?:example|instance)"
    r"|(?:i|we)\s+(?:guess|doubt|wonder|hope|wish|believe|suspect)|not\s+(?:sure|certain|clear)|unsure|unclear"
    r"|no\s+idea|rumou?red|(?:once|when|before)\s+we\s+(?:switch|move|migrate|change|replace|use|adopt))\b"
    rf"|\b{_OLD}{_PAPER}\s+(?:still\s+|also\s+|once\s+)?{_SAYS}\b"
    rf"|\b(?:in|per|from|according\s+to)\s+(?:the\s+|an?\s+|our\s+)?{_OLD}{_PAPER}\b",
    re.IGNORECASE,
)
_REPORTED: Final = re.compile(
    rf"\b{_PAPER}\s+(?:still\s+|also\s+|once\s+)?{_SAYS}\b|\baccording\s+to\b"
    r"|\b(?:you|he|she|they|somebody|someone|users?)\s+(?:said|say|says|told|claim(?:s|ed)?|thinks?|thought|asked)\b"
    r"|\b(?:we|you|i|they|it)\s+(?:really\s+|probably\s+)?(?:should|ought)\b",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(
    r"[.;:!?]\s|,\s+(?:but|so|and|then|we|i)\b|\band\s+(?:we|i|then|so)\b|\s[—–]\s|\b(?:because|since|but|so)\b",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(
    r"\b(?:not|never|cannot|neither|nor|nobody|no\s+one|none|no\s+longer|if|unless|whether)\b|n[’']t\b"
    r"|\bwithout(?:\s+\w+)?\s*$",
    re.IGNORECASE,
)
_SUPPOSED_KO: Final = re.compile(
    r"만약|만일|아마|혹시|가령|예를\s*들|다면|라면\s|거면|지도\s*(?:모르|몰라|모릅)|을지|할지|쓸지|갈지|꿀지|아직|가정(?:하면|하고|해|한다)"
    r"|(?:다|자)고\s*(?:하셨|하시|하더|하던|했|합니다|한다|하네|하는|들었|적혀|적었|쓰여|써\s*있|나와|나온|되어|돼)"
    r"|라고\s*(?:적|쓰여|써\s*있|나와|했|하셨|말)|답니다|대요|[했한]다(?:던|는)"
)
_DENIED_KO: Final = re.compile(
    r"[^.,;!?]{0,8}?(?:지\s*(?:는|도|를)?\s*(?:않(?!기로)|못|말)|(?:적|바|일)(?:이|은|도)?\s*없"
    r"|(?:것|게|건)(?:이|은|도)?\s*아[니닙닌님]|수\s*(?:도|는)?\s*(?:있|없))"
)


def is_supposed(text: str) -> bool:
    """Whether an English sentence as a whole only supposes, doubts, or repeats what an old text says."""
    return bool(_SUPPOSED.search(text))


def is_reported(text: str) -> bool:
    """Whether a sentence tells what a text or somebody says, or what should be: that decides nothing itself."""
    return bool(_REPORTED.search(text))


def is_denied_before(text: str, start: int) -> bool:
    """Whether the clause that leads to the verb at `start` denies it or makes it a condition."""
    before = text[:start]
    begins = max((match.end() for match in _CLAUSE.finditer(before)), default=0)
    return bool(_DENIED.search(before, begins))


def is_supposed_in_korean(text: str) -> bool:
    """Whether a Korean sentence as a whole supposes, doubts, or repeats what somebody or a text says."""
    return bool(_SUPPOSED_KO.search(text))


def is_denied_after(text: str, end: int) -> bool:
    """Whether what follows the Korean verb that ends at `end` denies it: `쓰기로 결정하지 않았습니다`."""
    return bool(_DENIED_KO.match(text, end))
