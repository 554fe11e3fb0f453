"""The sets: documents, the haystacks they form, and questions with the documents that answer them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

DOCUMENTS_OF: Final = {"lme_pool": "lme_s48"}
"""Sets that ask about another set's documents."""

FLAT: Final = ("cosqa", "agentmem240", "korquad_ko", "jaquad_ja", "cmrc_zh")
"""Sets whose documents stand alone: one page each. In the others a session of turns is a page."""

NAMES: Final = ("locomo", "lme_s48", "lme_pool", *FLAT)


@dataclass(frozen=True, slots=True)
class Document:
    id: str
    session: str
    date: str | None
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """`golds` are the documents that answer it, `gold_sessions` the sessions that they lie in."""

    id: str
    haystack: str
    text: str
    date: str | None
    type: str
    golds: frozenset[str]
    gold_sessions: frozenset[str]

    @property
    def part(self) -> str:
        """`tune` or `check`: the two parts of a half, by a hash of the question's id, so that they never move."""
        return "tune" if blake2b(self.id.encode(), digest_size=1).digest()[0] % 2 == 0 else "check"


@dataclass(frozen=True, slots=True)
class BenchmarkSet:
    """`sessions` holds each session's documents in order, `haystacks` the sessions that each haystack consists of."""

    name: str
    sessions: dict[str, list[Document]]
    haystacks: dict[str, list[str]]
    questions: list[Question]

    @property
    def flat(self) -> bool:
        return self.name in FLAT


def read_set(folder: Path, name: str, *, half: str, part: str = "all", sample: int = 0) -> BenchmarkSet:
    """Read one set. `sample` keeps that many questions, always the same ones; 0 keeps all."""
    sessions: dict[str, list[Document]] = {}
    for row in _rows(folder / f"{DOCUMENTS_OF.get(name, name)}.docs.jsonl.gz"):
        document = Document(row["doc_id"], row["session_id"], row["date"], row["speaker"] or "", row["text"])
        sessions.setdefault(document.session, []).append(document)
    haystacks = {row["haystack"]: row["session_ids"] for row in _rows(folder / f"{name}.haystacks.jsonl.gz")}
    questions = [
        Question(
            id=row["qid"],
            haystack=row["haystack"],
            text=row["text"],
            date=row["date"],
            type=row["type"],
            golds=frozenset(row["gold_ids"]),
            gold_sessions=frozenset(row["gold_sessions"]),
        )
        for row in _rows(folder / f"{name}.queries.jsonl.gz")
        if row["split"] == half
    ]
    return BenchmarkSet(name, sessions, haystacks, chosen(questions, part=part, sample=sample))


def chosen(questions: Sequence[Question], *, part: str = "all", sample: int = 0) -> list[Question]:
    """Those of a part, and of them so many, always the same ones; 0 keeps all."""
    kept = [question for question in questions if part in ("all", question.part)]
    if not sample:
        return kept
    drawn = sorted(kept, key=lambda question: blake2b(question.id.encode(), digest_size=8).digest())[:sample]
    ids = {question.id for question in drawn}
    return [question for question in kept if question.id in ids]


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
