"""What hooks captured becomes session pages: once, in commits of the agent, and nothing acknowledged is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wikimem.memory.sessions.drain import spool_of
from wikimem.model.event import Event

if TYPE_CHECKING:
    from tests.memory.conftest import Yard

Make = Callable[..., Event]
ROOT = Path(__file__).parents[2]


def test_a_session_becomes_one_page_and_one_commit_by_its_agent(yard: Yard, make_event: Make) -> None:
    yard.spool(
        make_event(0, "session_start"),
        make_event(1, "prompt", prompt="Add JWT auth to the API", cwd=str(yard.code)),
        make_event(
            5, "tool", tool="Edit", action="edit", files=(str(yard.code / "src/auth.ts"),), input="const key = 1"
        ),
        make_event(9, "session_end", reason="exit"),
    )
    commits = int(yard.git("rev-list", "--count", "HEAD"))
    drained = yard.drain()
    assert (len(drained.flushed), drained.events, drained.notes, yard.waiting()) == (1, 4, (), 0)
    assert int(yard.git("rev-list", "--count", "HEAD")) == commits + 1
    assert yard.git("status", "--porcelain") == ""
    assert yard.page.relative_to(yard.root).as_posix() == (
        "projects/shop-api/sessions/2027/03/2027-03-01 0900 claude-code add-jwt-auth-to-the-api.md"
    )
    assert yard.git("log", "-1", "--format=%an|%cn|%s") == (
        "claude-code|Ada Example|session: Add JWT auth to the API (3 observations)"
    )
    trailers = yard.git("log", "-1", "--format=%(trailers:only,unfold)")
    for trailer in ("Wikimem-Op: session", "Wikimem-Agent: claude-code", "Wikimem-Session: s1", "Wikimem-Page: "):
        assert trailer in trailers
    assert "\n- 09:00:05 **Edit** `src/auth.ts` defines key ^o-" in yard.text
    assert (yard.root / "projects/shop-api/Profile.md").read_text().count("host.example/a/shop-api") == 1


def test_each_session_of_a_flush_has_a_commit_of_its_own(yard: Yard, make_event: Make) -> None:
    for number in range(3):
        yard.spool(make_event(number, "prompt", prompt=f"Task number {number}", session=f"s{number}"))
    assert [each.session for each in yard.drain().flushed] == ["s0", "s1", "s2"]
    assert yard.git("log", "-3", "--format=%(trailers:key=Wikimem-Session,valueonly,separator=%x20)").split() == [
        "s2", "s1", "s0",
    ]  # fmt: skip


def test_what_is_on_the_page_already_is_acknowledged_without_a_change(yard: Yard, make_event: Make) -> None:
    events = [make_event(1, "prompt", prompt="Fix the build"), make_event(2, "turn_end", text="It is fixed.")]
    yard.spool(*events)
    yard.drain()
    before, head = yard.text, yard.git("rev-parse", "HEAD")
    yard.spool(*events)
    drained = yard.drain()
    assert (drained.flushed, drained.events, yard.waiting()) == ((), 2, 0)
    assert (yard.text, yard.git("rev-parse", "HEAD")) == (before, head)


def test_reads_never_drain_and_writes_do(yard: Yard, make_event: Make) -> None:
    yard.spool(make_event(1, "prompt", prompt="Rename the cart module"))
    for name, arguments in (
        ("search", {"query": "cart"}),
        ("list", {}),
        ("status", {}),
        ("sessions", {}),
        ("check", {}),
    ):
        yard.run(name, **arguments)
    assert (yard.pages(), yard.waiting()) == ([], 1)
    assert yard.run("sessions").waiting == 1
    yard.run("remember", title="Carts live in Redis")
    assert (len(yard.pages()), yard.waiting()) == (1, 0)
    subjects = yard.git("log", "-2", "--format=%s|%an").split("\n")
    assert subjects[0].startswith("remember(fact): Carts live in Redis|Ada")
    assert subjects[1].startswith("session: Rename the cart module (1 observation)|claude-code")


def test_a_damaged_event_is_set_aside_and_stops_nobody(yard: Yard, make_event: Make) -> None:
    yard.spool(make_event(1, "prompt", prompt="Keep this one"))
    spool = Path(spool_of(yard.wiki()).folder)
    (spool / "00000000000000000007_aa_n_claude-code.json").write_text('{"format": 1, "kind": "pro')
    yard.spool(make_event(2, "turn_end", text="Its time cannot be read.", time="yesterday noon"))
    done = yard.run("remember", title="A fact")
    assert any("set aside" in note for note in done.notes)
    assert "Keep this one" in yard.text
    assert "Its time cannot be read." in yard.text
    assert spool_of(yard.wiki()).counts().damaged == 1


def test_a_session_of_which_there_is_nothing_to_say_has_no_page(yard: Yard, make_event: Make) -> None:
    yard.spool(make_event(0, "session_start"), make_event(1, "tool", tool="Read", action="read", files=("a.py",)))
    yard.spool(make_event(2, "session_end", reason="exit"))
    yard.drain()
    assert (yard.pages(), yard.waiting()) == ([], 1), "its end waits for a while, should something still come"
    yard.now += timedelta(hours=3)
    yard.drain()
    assert (yard.pages(), yard.waiting()) == ([], 0)


def test_two_agents_that_report_one_session_write_one_page(yard: Yard) -> None:
    yard.report("UserPromptSubmit", prompt="Speed up the checkout")
    yard.report("UserPromptSubmit", "copilot", prompt="Speed up the checkout")
    yard.report("Stop", last_assistant_message="It takes half the time now.")
    yard.drain()
    assert yard.text.count("**prompt** Speed up the checkout") == 1
    assert yard.waiting() == 0


@pytest.mark.parametrize("session", ["../../etc", "a\nb: c", "<x>", "k" * 999, "---", "[[x]]", "# h", "\u202eabc"])
def test_any_name_of_a_session_or_an_agent_is_carried_or_replaced(yard: Yard, make_event: Make, session: str) -> None:
    yard.spool(make_event(1, "prompt", prompt="Hello there friend", session=session, agent=session[:60]))
    assert yard.drain().notes == ()
    assert yard.page.is_relative_to(yard.root)
    assert yard.run("check").total == 0
    assert yard.run("sessions").total == 1


def test_events_without_a_session_of_one_day_and_folder_are_one_session(yard: Yard, make_event: Make) -> None:
    yard.spool(make_event(1, "prompt", prompt="First question here", session="", cwd=str(yard.code)))
    yard.drain()
    yard.spool(make_event(2, "prompt", prompt="Second question here", session="", cwd=str(yard.code)))
    yard.drain()
    assert yard.text.count("**prompt**") == 2


def test_secrets_that_come_together_on_a_line_are_taken_out(yard: Yard, make_event: Make) -> None:
    secret = "AKIA" + "IOSFODNN7EXAMPLQ"
    yard.spool(make_event(1, "tool", tool="Bash", action="run", command="aws login", output=f"key {secret}"))
    assert yard.drain().notes == ()
    assert secret not in yard.text
    assert "[redacted:" in yard.text


def test_a_session_goes_into_global_where_there_is_no_repository(yard: Yard, make_event: Make, tmp_path: Path) -> None:
    yard.spool(make_event(1, "prompt", prompt="What is a monad", cwd=str(tmp_path)))
    yard.drain()
    assert yard.page.parent == yard.root / "global/sessions/2027/03"


def test_what_wikimem_itself_said_or_was_asked_is_left_out(yard: Yard) -> None:
    yard.report("UserPromptSubmit", prompt="<wikimem>\nold news\n</wikimem>\nWhat did we decide on JWT?")
    for number, (tool, given) in enumerate(
        [("mcp__wikimem__search", {"query": "old news"}), ("Bash", {"command": "wikimem search 'old news'"})]
    ):
        yard.report("PostToolUse", tool_name=tool, tool_input=given, tool_response="old news", tool_use_id=f"t{number}")
    yard.drain()
    assert "What did we decide on JWT?" in yard.text
    assert "old news" not in yard.text


KILLED_DRAIN = """
import os, signal, sys
from datetime import datetime
from pathlib import Path
from wikimem.memory.sessions.drain import drain
from wikimem.model.caller import Caller
from wikimem.vault import spool
from wikimem.vault.commit import Committer
from wikimem.vault.journal import Journal
from wikimem.wiki import Wiki, open_wiki

point, root = sys.argv[1:]

def die(name):
    if name == point:
        os.kill(os.getpid(), signal.SIGKILL)

Wiki.committer = property(
    lambda wiki: Committer(wiki.repository, Journal(wiki.folders.state / "journal"), fault=die))
acknowledge, mark = spool.Batch.acknowledge, spool._mark_done
spool.Batch.acknowledge = lambda *given: (die("committed"), acknowledge(*given), die("acknowledged"))
spool._mark_done = lambda *given: (mark(*given), die("one acknowledged"))
wiki = open_wiki(root, cwd=Path(root), caller=Caller(cwd=Path(root)))
die("begun")
drain(wiki)
"""
STEPS = ("begun", "journal", "file", "commit", "ref", "end", "committed", "one acknowledged", "acknowledged")


def test_killed_at_every_step_a_drain_loses_and_repeats_nothing(yard: Yard, make_event: Make, home: Any) -> None:
    for number, step in enumerate(STEPS):
        events = [
            make_event(60 * number + second, "prompt", prompt=f"Question {number} part {second}", cwd=str(yard.code))
            for second in (1, 2)
        ]
        yard.spool(*events)
        killed = subprocess.run(
            [sys.executable, "-c", KILLED_DRAIN, step, str(yard.root)],
            env=os.environ | {"PYTHONPATH": str(ROOT)}, cwd=yard.root, capture_output=True, check=False, timeout=120,
        )  # fmt: skip
        assert killed.returncode == -signal.SIGKILL, (step, killed.stderr)
        yard.drain()
        assert yard.waiting() == 0, step
        for second in (1, 2):
            assert yard.text.count(f"**prompt** Question {number} part {second} ^o-") == 1, step
        assert yard.git("status", "--porcelain") == "", step
    assert yard.git("fsck", "--strict", "--no-dangling") == ""
    assert len(yard.git("log", "--format=%H", "--grep", "^Wikimem-Op: session").split()) == len(STEPS)


def test_two_who_drain_at_once_write_each_event_once(yard: Yard, make_event: Make) -> None:
    yard.spool(*(make_event(number, "prompt", prompt=f"Ask {number} things") for number in range(40)))
    code = KILLED_DRAIN
    running = [
        subprocess.Popen([sys.executable, "-c", code, "never", str(yard.root)], cwd=yard.root,
                         env=os.environ | {"PYTHONPATH": str(ROOT)})
        for _ in range(3)
    ]  # fmt: skip
    assert [process.wait(120) for process in running] == [0, 0, 0]
    yard.drain()
    assert yard.waiting() == 0
    assert all(yard.text.count(f"**prompt** Ask {number} things ^o-") == 1 for number in range(40))


def test_a_session_that_cannot_be_written_waits_and_the_others_do_not(
    yard: Yard, make_event: Make, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (yard.root / "global").mkdir(exist_ok=True)
    (yard.root / "global/sessions").symlink_to(tmp_path / "elsewhere")
    yard.spool(make_event(1, "prompt", prompt="Without a repository", session="a"))
    yard.spool(make_event(2, "prompt", prompt="Within a repository", session="b", cwd=str(yard.code)))
    drained = yard.drain()
    assert [each.session for each in drained.flushed] == ["b"]
    assert "symbolic link" in "".join(drained.notes)
    assert (yard.waiting(), list((tmp_path / "elsewhere").iterdir())) == (1, [])
    (yard.root / "global/sessions").unlink()
    assert [each.session for each in yard.drain().flushed] == ["a"]
    assert yard.waiting() == 0
