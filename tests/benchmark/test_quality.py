"""The quality benchmark reads the public formats, writes turns word for word, and reports with intervals."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmark.quality.formats import read_locomo, read_longmemeval
from benchmark.quality.sets import chosen
from benchmark.quality.vaults import LAYOUTS, page_text

ROOT = Path(__file__).parents[2]

ODD = "Here is the file:\n\n---\ntitle: x\n---\n# Not a page's heading\n```py\nprint('never closed')"

LONGMEMEVAL: list[dict[str, Any]] = [
    {
        "question_id": "dog",
        "question_type": "single-session-user",
        "question": "What is my dog called?",
        "answer": "Biscuit",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["s1", "s2", "s2"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/22 (Mon) 09:00", "2023/05/23 (Tue) 09:00"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "My dog Biscuit likes the beach.", "has_answer": True},
                {"role": "assistant", "content": ODD, "has_answer": False},
                {"role": "user", "content": "Thank you."},
            ],
            [{"role": "user", "content": "How do I bake bread with rye flour?"}],
            [{"role": "user", "content": "And how do I keep a sourdough alive?"}],
        ],
        "answer_session_ids": ["s1"],
    },
    {
        "question_id": "boat_abs",
        "question_type": "single-session-user",
        "question": "What is my boat called?",
        "answer": "There is no boat.",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["s9"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21"],
        "haystack_sessions": [[{"role": "user", "content": "I like the sea."}]],
        "answer_session_ids": ["s9"],
    },
    {
        "question_id": "bread",
        "question_type": "multi-session",
        "question": "Which flour did I ask about?",
        "answer": "rye",
        "question_date": "2023/06/01 (Thu) 08:00",
        "haystack_session_ids": ["s1", "s2"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/22 (Mon) 09:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "My garden has roses."}],
            [{"role": "user", "content": "How do I bake bread with rye flour?", "has_answer": True}],
        ],
        "answer_session_ids": ["s2"],
    },
]

LOCOMO: list[dict[str, Any]] = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Bo",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ada", "dia_id": "D1:1", "text": "I adopted a puppy today!"},
                {"speaker": "Bo", "dia_id": "D1:2", "text": "Look.", "blip_caption": "a cat on a sofa", "img_url": []},
            ],
            "session_2_date_time": "10:04 am on 9 June, 2023",
            "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "My kitchen is painted green now."}],
            "session_3_date_time": "11:00 am on 9 July, 2023",
            "session_3": [],
        },
        "qa": [
            {"question": "When did Ada adopt a puppy?", "answer": "8 May", "evidence": ["D1:1"], "category": 2},
            {"question": "What do they have?", "answer": "...", "evidence": ["D1:1; D:1:2", "D2:1"], "category": 1},
            {"question": "What is Bo's puppy called?", "adversarial_answer": "?", "evidence": [], "category": 5},
        ],
    }
]


@pytest.fixture
def longmemeval(tmp_path: Path) -> Path:
    file = tmp_path / "longmemeval_s.json"
    file.write_text(json.dumps(LONGMEMEVAL), encoding="utf-8")
    return file


@pytest.fixture
def locomo(tmp_path: Path) -> Path:
    file = tmp_path / "locomo10.json"
    file.write_text(json.dumps(LOCOMO), encoding="utf-8")
    return file


def test_longmemeval_instances_become_haystacks_of_their_own(longmemeval: Path) -> None:
    read = read_longmemeval(longmemeval)
    assert read.haystacks == {"dog": ["dog/s1", "dog/s2", "dog/s2#2"], "bread": ["bread/s1", "bread/s2"]}
    dog, bread = read.questions
    assert (dog.text, dog.date, dog.type) == ("What is my dog called?", "2023-05-30T23:40", "single-session-user")
    assert (dog.golds, dog.gold_sessions) == ({"dog/s1#0"}, {"dog/s1"})
    assert bread.gold_sessions == {"bread/s2"}
    assert read.sessions["dog/s1"][1].text == ODD
    assert read.sessions["dog/s1"][0].date == "2023-05-20T02:21"


def test_questions_that_ask_for_no_answer_are_left_out(longmemeval: Path, locomo: Path) -> None:
    assert [question.id for question in read_longmemeval(longmemeval).questions] == ["dog", "bread"]
    assert [question.id for question in read_locomo(locomo).questions] == ["conv-1/q0", "conv-1/q1"]


def test_locomo_conversations_keep_speakers_captions_and_dates(locomo: Path) -> None:
    read = read_locomo(locomo)
    assert read.haystacks == {"conv-1": ["conv-1/S1", "conv-1/S2"]}
    ada, bo = read.sessions["conv-1/S1"]
    assert (ada.id, ada.speaker, ada.date) == ("conv-1/D1:1", "Ada", "2023-05-08T13:56")
    assert bo.text == "Look. [shares a photo: a cat on a sofa]"
    when, several = read.questions
    assert (when.type, when.date, when.golds) == ("temporal", "2023-06-09T10:04", {"conv-1/D1:1"})
    assert several.golds == {"conv-1/D1:1", "conv-1/D1:2", "conv-1/D2:1"}
    assert several.gold_sessions == {"conv-1/S1", "conv-1/S2"}


@pytest.mark.parametrize("reader", [read_longmemeval, read_locomo])
def test_a_file_of_another_format_is_refused_by_name(tmp_path: Path, reader: Any) -> None:
    file = tmp_path / "other.json"
    for text in ('{"a": 1}', '[{"a": 1}]', "[1]"):
        file.write_text(text)
        with pytest.raises(ValueError, match=r"other\.json"):
            reader(file)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_turns_stand_on_their_page_word_for_word(longmemeval: Path, layout: str) -> None:
    read = read_longmemeval(longmemeval)
    documents = read.sessions["dog/s1"]
    text, turns = page_text(read, documents, 0, layout)
    ends = [place for place, _ in turns[1:]] + [len(text)]
    assert [name for _, name in turns] == [document.id for document in documents]
    for (begin, _), end, document in zip(turns, ends, documents, strict=True):
        assert document.speaker in text[begin:end]
        assert text[begin:end].rstrip().endswith(document.text)


def test_a_sample_is_always_the_same_and_parts_do_not_overlap(longmemeval: Path) -> None:
    questions = read_longmemeval(longmemeval).questions
    assert chosen(questions, sample=1) == chosen(questions, sample=1)
    parts = [chosen(questions, part=part) for part in ("tune", "check")]
    assert sorted(question.id for part in parts for question in part) == ["bread", "dog"]


def test_an_official_file_is_asked_through_the_operations_and_reported(longmemeval: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmark.quality", str(longmemeval), "--format", "longmemeval"]
    command += ["--variant", "default", "--variant", "no close reading", "--out", str(tmp_path / "out")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "| default | all | 2 | 100.0 (100.0 to 100.0) |" in done.stdout
    assert "| no close reading | all | 2 |" in done.stdout
    assert "| default | multi-session | 1 |" in done.stdout
    name = "longmemeval_s-whole-all-session-paragraphs"
    lines = (tmp_path / "out" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["qid"] for line in lines] == ["dog", "dog", "bread", "bread"]
    assert json.loads(lines[0])["ranked"][0] == ["dog/s1"]


def test_a_figure_shows_each_row_and_is_the_same_again(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from benchmark.quality.plots import write_plot
    from wikimem.search.evaluation import score, summarise

    figures = {
        "default": summarise([score([["a"]], ["a"]), score([["b"], ["a"]], ["a"])]),
        "no graph": summarise([score([["b"]], ["a"]), score([["b"], ["a"]], ["a"])]),
    }
    files = [tmp_path / "one.svg", tmp_path / "two.svg"]
    for file in files:
        write_plot("a set", figures, file)
    drawn = files[0].read_text(encoding="utf-8")
    assert "no graph" in drawn
    assert "NDCG@10" in drawn
    assert drawn == files[1].read_text(encoding="utf-8")
