"""Who speaks on a page."""

from __future__ import annotations

import pytest

from wikimem.text.speakers import cut_out, said_by_person


def said(text: str) -> list[str] | None:
    spans = said_by_person(text)
    return None if spans is None else [text[first:last].strip() for first, last in spans]


@pytest.mark.parametrize(
    "text",
    [
        "**user**: mine\nstill mine\n\n**assistant**: theirs\n\n**User:** mine too",
        "## User\nmine\nstill mine\n\n## Assistant\ntheirs\n\n## user\nmine too\n",
        "user: mine\nstill mine\nassistant: theirs\nuser: mine too",
        "- **Human**: mine\n  still mine\n- **Claude**: theirs\n- **Human**: mine too\n",
        "**사용자**: mine\nstill mine\n**어시스턴트**: theirs\n**사용자**: mine too",
    ],
)
def test_a_turn_goes_on_to_the_next(text: str) -> None:
    found = said(text)
    assert found is not None
    assert [" ".join(piece.split()) for piece in found] == ["mine still mine", "mine too"]


def test_of_a_session_the_prompts_are_what_the_person_said() -> None:
    page = (
        "## Observations\n- 09:12:04 **prompt** add JWT auth ^o-1\n- 09:14:40 **Edit** `src/auth.ts` ^o-2\n"
        "- 09:15:00 **prompt** now the tests ^o-3\n"
    )
    assert said(page) == ["add JWT auth ^o-1", "now the tests ^o-3"]


@pytest.mark.parametrize(
    "text",
    [
        "Plain text.",
        "",
        "## Usage\n\nuser guide: none\n",
        "**Note**: the user said nothing.",
        "Melanie: hello\nCaroline: hi",
    ],
)
def test_where_nobody_is_named_as_speaking_nothing_is_told_apart(text: str) -> None:
    assert said(text) is None


def test_only_what_lies_within_a_piece_is_cut_out() -> None:
    text = "**user**: one two\n**assistant**: three\n**user**: four"
    spans = said_by_person(text)
    assert spans is not None
    assert cut_out(text, spans, 0, len(text)) == "one two\nfour"
    assert cut_out(text, spans, 14, 20) == "two"
    assert cut_out(text, spans, text.index("**assistant"), text.index("three") + 5) == ""
