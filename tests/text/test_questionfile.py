"""Question files in their three forms; whatever is wrong in one is named by file and line."""

from __future__ import annotations

import pytest

from wikimem.errors import Invalid
from wikimem.model.evaluation import EvalQuestion
from wikimem.text.questionfile import read_questions


def test_json_lines_with_everything_and_with_the_least() -> None:
    text = (
        '{"question": "which port?", "pages": ["Port", "Proxy#Listen"], "type": "fact", "project": "api", '
        '"now": "2025-03-01", "as_of": "last march"}\n\n{"question": " who? ", "pages": "Ada"}\n'
    )
    assert read_questions("q.jsonl", text.encode()) == [
        EvalQuestion("which port?", ("Port", "Proxy#Listen"), 1, "fact", "api", "2025-03-01", "last march"),
        EvalQuestion("who?", ("Ada",), 3),
    ]


def test_a_table_of_a_spreadsheet() -> None:
    text = '\ufeffquestion,pages,type\r\n"which port, and why?",Port; Proxy,fact\r\n\r\n"two\r\nlines",Ada,\r\nx,B\r\n'
    assert read_questions("q.csv", text.encode()) == [
        EvalQuestion("which port, and why?", ("Port", "Proxy"), 2, "fact"),
        EvalQuestion("two\r\nlines", ("Ada",), 4),
        EvalQuestion("x", ("B",), 6),
    ]


def test_a_list_in_markdown_with_types_as_headings() -> None:
    text = (
        "# Questions\n\nWhat we ask.\n\n- who? -> [[Ada]]\n\n## fact\n\n"
        "* [ ] which port? → [[Port|the port]], [[Proxy#Listen]]\n"
    )
    assert read_questions("q.md", text.encode()) == [
        EvalQuestion("who?", ("Ada",), 5, "Questions"),
        EvalQuestion("which port?", ("Port", "Proxy#Listen"), 9, "fact"),
    ]


@pytest.mark.parametrize(
    ("name", "text", "where", "said"),
    [
        ("q.txt", "x", "q.txt:", "not known what kind of file"),
        ("q.jsonl", "", "q.jsonl:", "there is no question in it"),
        ("q.jsonl", '{"question": "a", "pages": ["b"]}\n{"question": ', "q.jsonl:2:", "not JSON"),
        ("q.jsonl", "[1]", "q.jsonl:1:", "not a JSON object"),
        ("q.jsonl", '{"question": "a", "pages": []}', "q.jsonl:1:", "the pages that answer it"),
        ("q.jsonl", '{"question": "a", "pages": [1]}', "q.jsonl:1:", "the pages that answer it"),
        ("q.jsonl", '{"question": "a"}', "q.jsonl:1:", "the pages that answer it"),
        ("q.jsonl", '{"pages": ["b"]}', "q.jsonl:1:", "the question is missing"),
        ("q.jsonl", '{"question": "a", "pages": ["b"], "answer": "c"}', "q.jsonl:1:", "there is no key 'answer'"),
        ("q.jsonl", '{"question": "a", "pages": ["b"], "now": 3}', "q.jsonl:1:", "now: a text is expected"),
        ("q.csv", "question,pages\na,b,c\n", "q.csv:2:", "3 cells under 2 columns"),
        ("q.csv", "question,pages\na,b\nc\n", "q.csv:3:", "the pages that answer it"),
        ("q.csv", 'question,pages\na,b\n"c"d,e\n', "q.csv:3:", "not CSV"),
        ("q.csv", "question,page\na,b\n", "q.csv:2:", "there is no key 'page'"),
        ("q.md", "# x\n- who?\n", "q.md:2:", "no pages are named"),
        ("q.md", "- who? -> Ada\n", "q.md:1:", "the pages that answer it"),
    ],
)
def test_what_is_wrong_is_named_by_file_and_line(name: str, text: str, where: str, said: str) -> None:
    with pytest.raises(Invalid) as refused:
        read_questions(name, text.encode())
    assert refused.value.message.startswith(where)
    assert said in refused.value.message
    assert refused.value.hint


def test_bytes_that_are_no_text_are_named_by_line() -> None:
    with pytest.raises(Invalid) as refused:
        read_questions("q.jsonl", b'{"question": "a", "pages": ["b"]}\n\xff\n')
    assert refused.value.message.startswith("q.jsonl:2:")
