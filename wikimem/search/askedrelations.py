"""Which relations a question asks about: `what replaced jsonwebtoken?` asks for what succeeded it."""

from __future__ import annotations

import re
from typing import Final

from wikimem.graph.vocabulary import RELATIONS
from wikimem.text.lazyregex import lazily

_CUES: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        r"\b(?:replac(?:e[sd]?|ing)|successors?|succe+ded|superse[dc]ed?s?|took (?:the|its) place|instead of"
        r"|(?:switch|mov|migrat)(?:ed|e|ing)? (?:from|to|away)|before|after)\b|대신|교체|대체|바꿨|바꾼|전환",
        ("succeeded_by",),
    ),
    (
        r"\b(?:us(?:e[sd]?|ing)|import(?:s|ed)?|rel(?:y|ies) on|built (?:on|with)|runs? on|verif(?:y|ies) (?:\w+ )?with"
        r"|which (?:library|package|tool|database|framework)|provides?)\b|사용|쓰나|쓰는|쓰지|쓸까|라이브러리",
        ("uses", "imports", "depends_on"),
    ),
    (
        r"\b(?:reject(?:ed|s)?|alternatives?|rul(?:ed|e|es) out|decided against|turned down|considered|lose|lost"
        r"|not chosen|chose|chosen|pick(?:ed)?|over)\b|대안|기각|거절|탈락|제외",
        ("rejected", "prefers"),
    ),
    (r"\b(?:fix(?:e[sd])?|solv(?:e[sd]?)|resolv(?:e[sd]?)|repair(?:ed|s)?)\b|해결|고쳤|고친|수정", ("fixes",)),
    (
        r"\b(?:caus(?:e[sd]?)|why (?:does|did|do)|le(?:a)?d to|throws?|thrown|raises?)\b|원인|때문",
        ("causes", "caused_by"),
    ),
    (r"\b(?:where|which file|defined|lives? in|located|thrown)\b|어디|어느 파일", ("located_in",)),
    (r"\b(?:depends? on|needs?|requires?)\b|의존|필요", ("depends_on", "requires")),
    (
        r"\b(?:who (?:decided|chose|wants?|prefers?|ruled|rejected)|prefers?|wants?|likes?)\b|누가|선호",
        ("prefers", "rejected", "avoids"),
    ),
    (r"\b(?:avoid(?:s|ed)?|must not use|never use)\b|피해야|금지", ("avoids",)),
    (r"\b(?:works? (?:at|for)|employ(?:s|ed|er)?)\b|회사|근무", ("works_at",)),
    (r"\b(?:block(?:s|ed)?|waits? for)\b|막혀|막는", ("blocked_by",)),
)  # fmt: skip
_COMPILED: Final = tuple((lazily(pattern, re.IGNORECASE), names) for pattern, names in _CUES)
LONGEST_READ: Final = 2000
"""Characters of a question that are read."""


def asked_relations(question: str) -> frozenset[str]:
    """The predicates (IRIs) that a question asks about; empty for one that asks about none."""
    read = question[:LONGEST_READ]
    return frozenset(RELATIONS[name].iri for pattern, names in _COMPILED if pattern.search(read) for name in names)
