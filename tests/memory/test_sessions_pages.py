"""A session's page: the same for the same events in any order, whole whatever is in them, and its owner's to edit."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.memory.conftest import START, event_at
from wikimem.memory.sessions.observations import Observer
from wikimem.memory.sessions.pages import Arrival, find_parts, part_of, write_parts
from wikimem.memory.sessions.watching import SpoolWatch, end_stale
from wikimem.model.event import Event
from wikimem.text.links import find_links
from wikimem.text.oneline import as_written, flatten, shorten
from wikimem.text.page import parse_page
from wikimem.vault.draft import Draft

if TYPE_CHECKING:
    from tests.memory.conftest import Yard

Make = Callable[..., Event]

POOL = [
    event_at(0, "session_start"),
    event_at(1, "prompt", prompt="Add JWT auth. Let's use jose over jsonwebtoken."),
    event_at(2, "tool", tool="Edit", action="edit", files=("src/auth.ts",), input="const key = 1"),
    event_at(3, "tool_failed", tool="Bash", action="run", command="npm test", error="TypeError: sub is undefined"),
    event_at(4, "subagent_start", subagent="a1", subagent_type="Explore"),
    event_at(5, "tool", tool="Bash", action="run", command="npm ls jose", output="5.2.0", subagent="a1",
             subagent_type="Explore"),
    event_at(6, "subagent_end", subagent="a1", subagent_type="Explore", text="It is there."),
    event_at(7, "tool", tool="Edit", action="edit", files=("src/auth.ts",), input="payload?.sub"),
    event_at(8, "tool", tool="Bash", action="run", command="npm test", output="Tests: 4 passed, 4 total"),
    event_at(9, "turn_end", text="Done. Rate limits are not yet there."),
    event_at(10, "session_end", reason="exit"),
    event_at(3600 * 20, "session_start", source="resume"),
    event_at(3600 * 20 + 1, "prompt", prompt="Now the rate limits"),
    event_at(-3600 * 10, "prompt", prompt="A first question, the day before"),
]  # fmt: skip


def page_of(yard: Yard, flushes: Sequence[Sequence[Event]]) -> str:
    """The page that these flushes make, without what differs from one page to another: its id."""
    wiki = yard.wiki().on_behalf(agent="claude-code", session="s1")
    draft = Draft(yard.root)
    path = ""
    for events in flushes:
        seen = [Observer("s1", "", wiki.redactor.mask).see(event) for event in events]
        observations = tuple({each.id: each for one in seen for each in one.observations}.values())
        groups = tuple(one.group for one in seen if one.group)
        parts = [part_of(parse_page(path, draft.read(path)))] if path else []
        written = write_parts(wiki, draft, parts, Arrival("s1", "claude-code", "shop", observations, groups))
        path = written.path if written else path
    return re.sub(r"(?m)^id: .*$", "id: X", draft.read(path).decode()) if path else ""


@given(st.permutations(POOL), st.lists(st.integers(1, 5), max_size=8), st.lists(st.sampled_from(POOL), max_size=5))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_order_repetition_and_splitting_make_no_difference(
    yard: Yard, order: list[Event], sizes: list[int], again: list[Event]
) -> None:
    flushes: list[list[Event]] = []
    rest = [*order, *again]
    for size in sizes:
        flushes.append(rest[:size])
        rest = rest[size:]
    assert page_of(yard, [*flushes, rest]) == page_of(yard, [POOL])


def test_events_of_one_second_keep_their_order(yard: Yard, make_event: Make) -> None:
    yard.spool(*(make_event(number / 10, "prompt", prompt=f"Ask {number}", key=f"{9 - number}") for number in range(5)))
    yard.drain()
    yard.spool(*(make_event(0.5 + number / 10, "prompt", prompt=f"Ask {number + 5}") for number in range(4)))
    yard.drain()
    assert re.findall(r"\*\*prompt\*\* Ask (\d)", yard.text) == [str(number) for number in range(9)]


def test_what_a_sub_agent_did_is_nested_below_it(yard: Yard) -> None:
    lines = page_of(yard, [POOL[4:7][::-1]]).partition("## Observations\n")[2].splitlines()
    assert [re.sub(r" \^o-\w{10}$", "", line) for line in lines] == [
        "- 09:00:05 **sub-agent** Explore",
        "  - 09:00:05 **Bash** `npm ls jose` 5.2.0",
        "  - 09:00:06 **said** It is there.",
    ]


# What is in a prompt cannot break the page

HOSTILE = [
    "## Observations\n- 09:00:00 **prompt** forged ^o-aaaaaaaaaa",
    "---\ntype: decision\npinned: true\n---\n",
    "```\nnever closed",
    "<!-- never closed",
    "%% never closed",
    "$$ never closed",
    "<script>alert(1)</script><iframe src=x>",
    "[[Home]] ![[Home]] ![x](http://host.example/a.png) uses:: [[jose]] #tag ^o-aaaaaaaaaa",
    "<!-- wikimem:begin digest 0123456789abcdef -->\nforged\n<!-- wikimem:end -->",
    "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other",
    "- [ ] task\n> quote\n| a | b |\n|---|---|\n===\n***",
    "\u202eright to left\u2066 \x00 \x1b[31m \u2028 line \x85 end",
    "{{ 7 * 7 }}{% for x in y %}<%= 1 %>",
    "결정: 토큰은 15분으로 하기로 했습니다.\r\n다음 줄",
]


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("where", ["prompt", "said", "command", "file", "error", "agent type"])
def test_no_text_can_break_the_page_and_every_text_can_be_read(yard: Yard, hostile: str, where: str) -> None:
    cases: dict[str, dict[str, Any]] = {
        "prompt": {"kind": "prompt", "prompt": hostile},
        "said": {"kind": "turn_end", "text": hostile},
        "command": {"kind": "tool", "tool": "Bash", "action": "run", "command": hostile, "output": hostile},
        "file": {"kind": "tool", "tool": hostile, "action": "edit", "files": (hostile,), "input": hostile},
        "error": {"kind": "tool_failed", "tool": hostile, "action": "mcp", "input": hostile, "error": hostile},
        "agent type": {"kind": "subagent_end", "subagent": "a", "subagent_type": hostile, "text": hostile},
    }
    fields = cases[where]
    events = [event_at(0, "prompt", prompt="Before"), event_at(1, **fields), event_at(2, "prompt", prompt="Later"),
              event_at(3, "session_end", reason=hostile)]  # fmt: skip
    page = parse_page("x.md", page_of(yard, [[event] for event in events]).encode())
    assert [heading.text for heading in page.headings] == ["Digest", "Observations"]
    assert (page.problems, page.tags, page.meta.type, page.meta.pinned) == ((), (), "session", False)
    seen = part_of(page).seen
    assert seen[0].label == "prompt"
    assert as_written(next(each.body for each in seen if each.body.startswith("Later"))) == "Later"
    cited = {f"^{each.id}" for each in seen}
    links = find_links(page.text, page.body_start)
    assert all(link.target == "" and link.fragment in cited for link in links), [link.target for link in links]
    assert page.text.count("\n- 09:00:0") == len([each for each in seen if not each.group])
    if where == "prompt":
        assert as_written(seen[1].body) == shorten(flatten(hostile), 1000)


# People's edits


def test_a_persons_edits_survive_byte_for_byte(yard: Yard) -> None:
    yard.spool(*POOL[:9])
    yard.drain()
    before = yard.text
    edited = (
        before.replace("status: active", "status:   active  # still")
        .replace("## Observations\n", "A note of mine.\n\n## Observations\n\nWhat happened:\n")
        .replace(" defines key ", " sets the key ")
        + "\n> a remark at the end\n\n## Mine\n\n- 09:00:03 **not** an observation\n"
    )
    yard.page.write_text(edited)
    yard.git("commit", "-qam", "mine")
    yard.spool(POOL[9])
    yard.drain()
    added = [line for line in yard.text.splitlines(keepends=True) if "**said** Done" in line]
    assert len(added) == 1
    assert yard.text.replace(added[0], "") == edited


def test_line_breaks_and_a_missing_end_of_the_file_stay(yard: Yard) -> None:
    yard.spool(*POOL[:3])
    yard.drain()
    windows = yard.text.replace("\n", "\r\n").rstrip("\r\n").encode()
    yard.page.write_bytes(windows)
    yard.git("commit", "-qam", "mine")
    yard.spool(*POOL[7:11])
    yard.drain()
    data = yard.page.read_bytes()
    assert b"\n" not in data.replace(b"\r\n", b"")
    assert data.count(b"**Edit**") == 2


def test_a_digest_that_a_person_edited_or_deleted_is_theirs(yard: Yard) -> None:
    yard.spool(*POOL[:11])
    yard.drain()
    yard.page.write_text(yard.text.replace("**Outcome:** Done.", "**Outcome:** It works, I tried it."))
    yard.git("commit", "-qam", "mine")
    yard.spool(event_at(20, "prompt", prompt="We decided to drop cookies."), event_at(21, "session_end"))
    yard.drain()
    assert "**Outcome:** It works, I tried it." in yard.text
    assert "drop cookies" not in yard.text.partition("## Observations")[0]
    yard.page.write_text(re.sub(r"(?s)## Digest.*?(?=## Observations)", "", yard.text))
    yard.git("commit", "-qam", "mine")
    yard.spool(event_at(30, "turn_end", text="Cookies are gone."), event_at(31, "session_end"))
    yard.drain()
    assert "Digest" not in yard.text


def test_a_title_follows_the_first_prompt_until_a_person_gives_one(yard: Yard) -> None:
    yard.spool(POOL[2])
    yard.drain()
    assert "\ntitle: Session of claude-code\n" in yard.text
    yard.spool(POOL[1])
    yard.drain()
    assert "\ntitle: Add JWT auth\n" in yard.text
    yard.page.write_text(yard.text.replace("title: Add JWT auth", "title: Log in with JWT"))
    yard.git("commit", "-qam", "mine")
    yard.spool(event_at(-60, "prompt", prompt="An earlier prompt that came late"))
    yard.drain()
    assert "\ntitle: Log in with JWT\n" in yard.text


def test_a_page_that_its_owner_moved_is_found_by_its_session(yard: Yard) -> None:
    yard.spool(*POOL[:3])
    yard.drain()
    (yard.root / "archive").mkdir()
    moved = yard.root / "archive/My session.md"
    yard.page.rename(moved)
    yard.git("add", "-A")
    yard.git("commit", "-qm", "mine")
    yard.spool(*POOL[3:9])
    assert yard.drain().flushed[0].path == "archive/My session.md"
    assert (len(yard.pages()), "Tests: 4 passed" in moved.read_text() or "4 passed" in moved.read_text()) == (0, True)


@pytest.mark.parametrize("damage", ["---\n: [\n---\nbroken", "<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n"])
def test_where_a_page_cannot_be_written_the_session_goes_on_in_a_new_part(yard: Yard, damage: str) -> None:
    yard.spool(*POOL[:3])
    yard.drain()
    first = yard.page
    broken = damage if damage.startswith("---") else yard.text + damage
    broken = broken.replace("---\n: [", "---\ntype: session\nsession: s1\n: [")
    first.write_text(broken)
    yard.git("commit", "-qam", "mine")
    yard.spool(POOL[9])
    drained = yard.drain()
    assert (drained.notes, yard.waiting()) == ((), 0)
    assert first.read_text() == broken
    (second,) = (page for page in yard.pages() if page != first)
    assert "**said** Done." in second.read_text()


# Long, resumed, forked and forgotten sessions


def test_a_long_session_goes_on_in_parts_and_closed_ones_are_never_rewritten(yard: Yard, make_event: Make) -> None:
    prompts = [make_event(number, "prompt", prompt=f"Please do thing {number}") for number in range(620)]
    yard.spool(*prompts[:249])
    yard.drain()
    yard.spool(*prompts[249:255])
    yard.drain()
    two, one = yard.pages()
    assert (one.stem, two.stem) == ("2027-03-01 0900 claude-code please-do-thing-0",
                                    "2027-03-01 0900 claude-code please-do-thing-0 part 2")  # fmt: skip
    closed = one.read_bytes()
    assert closed.count(b"\n- ") == 250
    yard.spool(*prompts[255:], make_event(700, "session_end"))
    yard.drain()
    assert one.read_bytes() == closed
    pages = sorted(yard.pages(), key=lambda page: (len(page.name), page.name))
    assert [page.read_text().partition("## Observations")[2].count("\n- ") for page in pages] == [250, 250, 121]
    assert f'continues: "[[{one.stem}]]"' in two.read_text()
    assert "**Goal:** Please do thing 0\n" in pages[-1].read_text(), "the digest is of the whole session"
    assert yard.run("check").counts.get("broken-link", 0) == 0
    (summary,) = yard.run("sessions").sessions
    assert (summary.observations, summary.parts) == (621, 3)


def test_a_resumed_session_goes_on_on_its_page(yard: Yard, make_event: Make) -> None:
    yard.spool(*POOL[:11])
    yard.drain()
    assert ("\nended: " in yard.text, "\nopen: false\n" in yard.text) == (True, True)
    yard.spool(make_event(100, "session_start", source="resume"), make_event(101, "prompt", prompt="And the limits?"))
    yard.drain()
    assert ("\nended: " in yard.text, "\nopen: true" in yard.text) == (False, True)
    assert "no answer yet: And the limits?" in yard.text
    assert "**resumed** ^o-" in yard.text


@pytest.mark.parametrize("source", ["resume", "fork"])
def test_a_session_that_goes_on_under_another_name_is_linked_to_the_one_before(
    yard: Yard, make_event: Make, source: str
) -> None:
    yard.spool(*POOL[:3])
    yard.spool(make_event(50, "prompt", prompt="Something else", session="other", agent="codex"))
    yard.drain()
    first = next(page for page in yard.pages() if "codex" not in page.stem)
    yard.spool(make_event(100, "session_start", source=source, session="s2"))
    yard.drain()
    yard.spool(make_event(101, "prompt", prompt="Go on with it now", session="s2"))
    yard.drain()
    (second,) = (page for page in yard.pages() if "go-on" in page.stem)
    assert f'continues: "[[{first.stem}]]"' in second.read_text()


def test_a_compacted_session_stays_one_and_keeps_its_summary(yard: Yard) -> None:
    yard.report("UserPromptSubmit", prompt="Port the importer to async")
    yard.report("PreCompact", trigger="auto")
    yard.report("PostCompact", trigger="auto", compact_summary="Two of five readers are ported. CSV is next.")
    yard.report("SessionStart", source="compact")
    yard.report("Stop", last_assistant_message="The CSV reader is ported.")
    yard.drain()
    labels = re.findall(r"^- .{8} \*\*(\w+)\*\*", yard.text, re.MULTILINE)
    assert labels == ["prompt", "compacted", "summary", "said"]


def test_a_session_that_never_ended_gets_a_digest_that_says_so(yard: Yard) -> None:
    yard.spool(*POOL[:9])
    yard.drain()
    yard.now = START + timedelta(hours=5)
    assert end_stale(yard.wiki()) == []
    yard.now = START + timedelta(hours=7)
    (ended,) = end_stale(yard.wiki())
    assert "The session ended without a word: nothing was heard for 6 hours." in yard.text
    assert 'ended: "2027-03-01T09:00:08"' in yard.text
    assert yard.git("log", "-1", "--format=%an") == "claude-code"
    assert end_stale(yard.wiki()) == [], "once"
    yard.spool(event_at(3600 * 8, "prompt", prompt="Back again, go on"))
    yard.drain()
    assert "\nopen: true" in yard.text
    assert ended.path == yard.page.relative_to(yard.root).as_posix()


def test_session_pages_that_capture_did_not_make_are_never_ended(yard: Yard) -> None:
    page = yard.root / "notes/My session.md"
    page.parent.mkdir()
    page.write_text(
        "---\ntype: session\nsession: mine\ncreated: 2027-03-01\n---\n"
        "## Observations\n- 09:00:00 **prompt** hello ^o-aaaaaaaaaa\n"
    )
    yard.run("list")
    yard.now = START + timedelta(days=2)
    before = page.read_bytes()
    assert end_stale(yard.wiki()) == []
    assert page.read_bytes() == before


def test_the_duty_holder_lets_events_settle_and_a_session_end_does_not_wait(yard: Yard) -> None:
    watch, wiki = SpoolWatch(), yard.wiki()
    yard.report("UserPromptSubmit", prompt="Explain the build")
    assert watch.look(wiki) is None
    yard.report("SessionEnd", reason="exit")
    drained = watch.look(wiki)
    assert drained is not None
    assert [each.observations for each in drained.flushed] == [2]
    for number in range(20):
        assert watch.look(wiki) is None
        yard.report("UserPromptSubmit", prompt=f"Question {number}", session="s2")
    drained = watch.look(wiki)
    assert drained is not None
    assert [each.observations for each in drained.flushed] == [20]
    yard.now = START
    yard.spool(event_at(-(10**8), "prompt", prompt="One that has waited long", session="s3"))
    drained = watch.look(wiki)
    assert drained is not None
    assert [each.session for each in drained.flushed] == ["s3"]


def test_a_thousand_events_come_onto_pages_in_one_flush(yard: Yard, make_event: Make) -> None:
    chance = random.Random(7)
    events = [make_event(0, "prompt", prompt="Refactor the whole shop")]
    for number in range(1, 999):
        file = f"src/module{chance.randrange(40)}/file{chance.randrange(9)}.ts"
        events.append(
            make_event(
                number, "tool", tool="Edit", action="edit", files=(file,), input=f"export function f{number}() {{}}"
            )
        )
    yard.spool(*events, make_event(1000, "session_end"))
    drained = yard.drain()
    assert ([each.observations for each in drained.flushed], yard.waiting()) == ([1000], 0)
    assert len(yard.pages()) == 4
    assert len(find_parts(yard.wiki(), "s1")) == 4
