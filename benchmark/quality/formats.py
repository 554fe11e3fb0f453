"""The official files of LongMemEval and LoCoMo, read as they are published.

    longmemeval   longmemeval_s.json, _m.json or _oracle.json: a list of instances, each with a haystack of its own
    locomo        locomo10.json: a list of conversations, each with its questions

Turns keep their text word for word. Questions without evidence are left out: LongMemEval's abstention questions, whose
ids end in `_abs`, and those of LoCoMo that name none. Sessions get names that begin with their haystack's, because the
files use one name in several haystacks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from benchmark.quality.sets import BenchmarkSet, Document, Question

ABSTAINS: Final = "_abs"

LOCOMO_TYPES: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
"""By the number of the category. Adversarial questions ask about the wrong person; their evidence is what misleads."""

_LONGMEMEVAL_DATE: Final = re.compile(r"(\d{4})/(\d\d)/(\d\d)(?: \(\w+\))?(?: (\d\d:\d\d))?")
_LOCOMO_DATE: Final = "%I:%M %p on %d %B, %Y"
_LOCOMO_SESSION: Final = re.compile(r"session_(\d+)")
_LOCOMO_EVIDENCE: Final = re.compile(r"D:?(\d+):(\d+)")


def read_longmemeval(file: Path) -> BenchmarkSet:
    """LongMemEval's file. Raises ValueError, naming the instance, for what is not in its format."""
    made = BenchmarkSet(file.stem, {}, {}, [])
    for at, instance in enumerate(_list(file)):
        try:
            _add_instance(made, instance)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{file}: instance {at}: not in LongMemEval's format ({error!r})") from error
    return made


def _add_instance(made: BenchmarkSet, instance: Mapping[str, Any]) -> None:
    name = instance["question_id"]
    if name.endswith(ABSTAINS):
        return
    evidence = set(instance["answer_session_ids"])
    sessions: list[str] = []
    golds: set[str] = set()
    gold_sessions: set[str] = set()
    rows = zip(instance["haystack_session_ids"], instance["haystack_dates"], instance["haystack_sessions"], strict=True)
    for place, (session, when, turns) in enumerate(rows):
        own = f"{name}/{session}"
        if own in made.sessions:
            own = f"{own}#{place}"
        documents = [
            Document(f"{own}#{number}", own, _longmemeval_date(when), turn["role"], turn["content"])
            for number, turn in enumerate(turns)
        ]
        if not documents:
            continue
        made.sessions[own] = documents
        sessions.append(own)
        if session in evidence:
            gold_sessions.add(own)
            golds |= {each.id for each, turn in zip(documents, turns, strict=True) if turn.get("has_answer")}
    if not gold_sessions:
        return
    made.haystacks[name] = sessions
    date = _longmemeval_date(instance["question_date"])
    question = instance["question"]
    made.questions.append(
        Question(name, name, question, date, instance["question_type"], frozenset(golds), frozenset(gold_sessions))
    )


def _longmemeval_date(text: str) -> str:
    found = _LONGMEMEVAL_DATE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"no date: {text!r}")
    year, month, day, time = found.groups()
    return f"{year}-{month}-{day}" + (f"T{time}" if time else "")


def read_locomo(file: Path) -> BenchmarkSet:
    """LoCoMo's file. Raises ValueError, naming the conversation, for what is not in its format."""
    made = BenchmarkSet(file.stem, {}, {}, [])
    for at, sample in enumerate(_list(file)):
        try:
            _add_conversation(made, sample)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{file}: conversation {at}: not in LoCoMo's format ({error!r})") from error
    return made


def _add_conversation(made: BenchmarkSet, sample: Mapping[str, Any]) -> None:
    name, conversation = sample["sample_id"], sample["conversation"]
    numbers = sorted(int(found[1]) for key in conversation if (found := _LOCOMO_SESSION.fullmatch(key)))
    session_of: dict[str, str] = {}
    last = None
    made.haystacks[name] = []
    for number in numbers:
        turns = conversation[f"session_{number}"]
        if not turns:
            continue
        session = f"{name}/S{number}"
        last = datetime.strptime(conversation[f"session_{number}_date_time"].strip(), _LOCOMO_DATE).isoformat()[:16]
        documents = [
            Document(f"{name}/{turn['dia_id']}", session, last, turn["speaker"], _locomo_text(turn)) for turn in turns
        ]
        made.sessions[session] = documents
        made.haystacks[name].append(session)
        session_of |= {document.id: session for document in documents}
    for at, asked in enumerate(sample["qa"]):
        golds = frozenset(_evidence(name, asked.get("evidence") or ()) & session_of.keys())
        if golds:
            kind = LOCOMO_TYPES[asked["category"]]
            sessions = frozenset(session_of[gold] for gold in golds)
            made.questions.append(Question(f"{name}/q{at}", name, asked["question"], last, kind, golds, sessions))


def _locomo_text(turn: Mapping[str, Any]) -> str:
    """What was said; of a picture, which is not part of the set, its caption."""
    caption = turn.get("blip_caption")
    return f"{turn['text']} [shares a photo: {caption}]" if caption else str(turn["text"])


def _evidence(name: str, evidence: Iterable[str]) -> set[str]:
    """Turns by their ids. Some entries hold several, or are written `D:8:6`."""
    return {f"{name}/D{session}:{turn}" for each in evidence for session, turn in _LOCOMO_EVIDENCE.findall(each)}


def _list(file: Path) -> list[Any]:
    read = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(read, list):
        raise ValueError(f"{file}: a list is expected")
    return read


READERS: Final[Mapping[str, Callable[[Path], BenchmarkSet]]] = {
    "longmemeval": read_longmemeval,
    "locomo": read_locomo,
}
"""By the name that `--format` takes."""
