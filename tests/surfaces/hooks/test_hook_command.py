"""`wikimem hook` as agents run it: a process that always ends with 0, says nothing, and keeps what it can."""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wikimem.agents.recursion import child_environment
from wikimem.model.event import Event
from wikimem.surfaces.hooks.main import READ_LIMIT
from wikimem.vault.folders import user_folders, vault_folders, vault_key
from wikimem.vault.spool import SPOOL, Spool

if TYPE_CHECKING:
    from tests.conftest import Home, Run

ROOT = Path(__file__).parents[3]
PROMPT = {"session_id": "s1", "cwd": "/srv/shop", "prompt": "cap the cart"}
ALLOWED = {
    "wikimem", "json", "re", "enum", "functools", "collections", "operator", "keyword", "reprlib", "types", "copyreg",
    "copy", "weakref", "select", "bisect", "itertools", "warnings", "errno", "fcntl",
}  # fmt: skip


@pytest.fixture
def spool(vault: Path) -> Spool:
    return Spool(vault_folders(vault_key(vault)).state / SPOOL)


def events(spool: Spool) -> list[Event]:
    with spool.claim() as batch:
        assert batch.damaged == []
        return list(batch)


def log() -> str:
    file = user_folders().state / "hooks.log"
    return file.read_text() if file.exists() else ""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "wikimem", "hook", *arguments]


def env_of(home: Home) -> dict[str, str]:
    return home.env | {"PYTHONPATH": str(ROOT)}


def test_an_event_is_kept_and_nothing_is_said(run: Run, spool: Spool) -> None:
    done = run("hook", "claude", "UserPromptSubmit", input=json.dumps(PROMPT))
    assert (done.code, done.stdout, done.stderr) == (0, "", "")
    (event,) = events(spool)
    assert (event.kind, event.session, event.prompt) == ("prompt", "s1", "cap the cart")
    assert log() == ""


def test_an_agent_that_reads_json_gets_an_object(run: Run, spool: Spool) -> None:
    for agent, event in (("cursor", "stop"), ("gemini", "AfterAgent"), ("cline", "UserPromptSubmit")):
        done = run("hook", agent, event, input=json.dumps(PROMPT))
        assert (done.code, done.stderr) == (0, "")
        json.loads(done.stdout)


@pytest.mark.parametrize(
    ("data", "kept"),
    [
        (b"", 0),
        (b"{", 0),
        (b"no json", 0),
        (b'{"session_id": "s1", "prompt": "cut he', 1),
        (b'{"session_id": "s1", "prompt": "caf\xe9"}', 1),
        (b'{"session_id": "s1", "prompt": "a", "prompt": "b", "n": NaN}', 1),
        (b'{"session_id": "s1", "prompt": "deep", "x": ' + b"[" * 50_000 + b"}", 1),
        (b"\xff\xfe" + '{"session_id": "s1", "prompt": "wide"}'.encode("utf-16-le"), 1),
        (b'{"session_id": "s1", "prompt": "\\u0000\\ud800"}', 1),
    ],
    ids=range(9),
)
def test_no_payload_fails_the_agent(run: Run, spool: Spool, data: bytes, kept: int) -> None:
    done = run("hook", "claude", "UserPromptSubmit", input=data)
    assert (done.code, done.stdout, done.stderr) == (0, "", "")
    assert len(events(spool)) == kept
    assert len(log().splitlines()) <= 1
    assert kept or "not kept" in log()


@pytest.mark.parametrize(
    "arguments", [[], ["claude"], ["nobody", "Nothing"], ["claude", "Nothing"], ["--x", "y", "z", "w"], ["../..", "\n"],
                  ["claude", "ghp_" + "Zx81kQpL" * 5]]
)  # fmt: skip
def test_no_arguments_fail_the_agent_and_none_is_repeated_in_the_log(
    run: Run, spool: Spool, arguments: list[str]
) -> None:
    done = run("hook", *arguments, input=b'{"session_id": "s1", "prompt": "x')
    assert (done.code, done.stdout, done.stderr) == (0, "", "")
    assert "ghp_" not in log()
    assert log().count("\n") <= 1


def test_a_payload_of_many_megabytes_keeps_its_beginning_and_its_end(run: Run, spool: Spool) -> None:
    output = "begin " + "a line of output\n" * (READ_LIMIT // 10) + "end"
    payload = {"session_id": "s1", "tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": output,
               "tool_use_id": "u7", "cwd": "/srv/shop"}  # fmt: skip
    done = run("hook", "claude", "PostToolUse", input=json.dumps(payload))
    assert (done.code, done.stdout, done.stderr) == (0, "", "")
    (event,) = events(spool)
    assert (event.command, event.call, event.cwd) == ("make", "u7", "/srv/shop")
    assert event.output.startswith("begin a line")
    assert event.flaws == ("damaged JSON", "too large")
    assert "too large" in log()


def test_an_agent_that_never_closes_the_pipe_is_not_waited_for(home: Home, spool: Spool) -> None:
    with subprocess.Popen(
        command("claude", "UserPromptSubmit"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env_of(home)
    ) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(PROMPT).encode())
        process.stdin.flush()
        assert process.wait(timeout=60) == 0
    assert [event.prompt for event in events(spool)] == ["cap the cart"]


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_fail_nothing(home: Home, spool: Spool, closed: str) -> None:
    line = f"exec {' '.join(command('cursor', 'beforeSubmitPrompt'))} {closed}"
    done = subprocess.run(
        ["bash", "-c", line], input=json.dumps(PROMPT).encode(), capture_output=True, env=env_of(home), check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(events(spool)) == (0 if "<&-" in closed else 1)


def test_an_agent_that_does_not_listen_fails_nothing(home: Home, spool: Spool) -> None:
    process = subprocess.Popen(
        command("cursor", "beforeSubmitPrompt"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env_of(home)
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        process.stdin.write(json.dumps(PROMPT).encode())
        process.stdin.close()
        assert process.wait(timeout=60) == 0
    assert len(events(spool)) == 1


def test_without_a_vault_nothing_is_done_and_the_log_says_so(run: Run, home: Home) -> None:
    done = run("hook", "claude", "UserPromptSubmit", input=json.dumps(PROMPT))
    assert (done.code, done.stdout, done.stderr) == (0, "", "")
    assert "claude UserPromptSubmit: not kept: this user has no vault" in log()
    assert "cap the cart" not in log()
    assert not [file for file in home.path.rglob("*.json") if "spool" in str(file)]


def test_a_vault_that_is_named_is_meant(run: Run, home: Home, spool: Spool) -> None:
    run("init", str(home.path / "notes"))
    for arguments in (["--vault", str(home.path / "notes")], ["--vault=~/notes"]):
        run("hook", "claude", "UserPromptSubmit", *arguments, input=json.dumps(PROMPT))
    run("hook", "claude", "Stop", input=json.dumps(PROMPT), env={"WIKIMEM_VAULT": str(home.path / "notes")})
    run("--vault", str(home.path / "notes"), "hook", "claude", "SessionEnd", input=json.dumps(PROMPT))
    notes = Spool(vault_folders(vault_key(home.path / "notes")).state / SPOOL)
    assert [event.kind for event in events(notes)] == ["prompt", "turn_end", "session_end"]
    assert events(spool) == []


def test_an_agent_below_a_wikimem_that_runs_an_llm_reports_nothing(home: Home, spool: Spool) -> None:
    for env in (child_environment(env_of(home)), env_of(home)):
        done = subprocess.run(
            command("claude", "UserPromptSubmit"), input=json.dumps(PROMPT).encode(), env=env, check=False, timeout=60
        )
        assert done.returncode == 0
    assert len(events(spool)) == 1


def test_a_vault_that_is_locked_by_a_writer_does_not_matter(run: Run, vault: Path, spool: Spool) -> None:
    from wikimem.vault.lock import write_lock

    with write_lock(vault / ".git" / "wikimem.lock", "a test"):
        assert run("hook", "claude", "UserPromptSubmit", input=json.dumps(PROMPT)).code == 0
    assert len(events(spool)) == 1


def test_events_are_added_while_the_spool_is_drained(run: Run, spool: Spool) -> None:
    with spool.claim():
        assert run("hook", "claude", "UserPromptSubmit", input=json.dumps(PROMPT)).code == 0
    assert len(events(spool)) == 1


def test_ten_at_once_are_ten_events_also_where_everything_is_made_anew(home: Home, vault: Path, spool: Spool) -> None:
    (user_folders().state / "key").unlink(missing_ok=True)
    config = Path(home.env["XDG_CONFIG_HOME"]) / "wikimem" / "config.toml"
    config.write_text("[redact]\nbadge = 'BN-[0-9]{4}'\n")
    running = []
    for number in range(10):
        process = subprocess.Popen(command("claude", "UserPromptSubmit"), stdin=subprocess.PIPE, env=env_of(home))
        assert process.stdin is not None
        payload = PROMPT | {"session_id": f"s{number}", "prompt": f"lost BN-{1000 + number}"}
        process.stdin.write(json.dumps(payload).encode())
        process.stdin.close()
        running.append(process)
    assert [process.wait(timeout=120) for process in running] == [0] * 10
    found = events(spool)
    assert {event.session for event in found} == {f"s{number}" for number in range(10)}
    assert all("[redacted:badge:" in event.prompt for event in found)
    assert log() == ""


def test_hooks_that_are_killed_at_any_point_lose_no_acknowledged_event(run: Run, home: Home, spool: Spool) -> None:
    report(run, session_id="the first one makes this user's key")
    chance = random.Random(7)
    acknowledged = {"the first one makes this user's key"}
    for number in range(24):
        process = subprocess.Popen(command("claude", "UserPromptSubmit"), stdin=subprocess.PIPE, env=env_of(home))
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(PROMPT | {"session_id": f"s{number}", "prompt": "go on " * 2000}).encode())
            process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=chance.uniform(0.0, 0.4))
        process.kill()
        if process.wait() == 0:
            acknowledged.add(f"s{number}")
    kept = {event.session for event in events(spool)}
    assert acknowledged <= kept
    assert kept <= {f"s{number}" for number in range(24)} | acknowledged


def test_nothing_heavy_is_loaded(home: Home, run: Run, spool: Spool) -> None:
    report(run, session_id="the first one makes this user's key")
    script = (
        "import sys\nbefore = set(sys.modules)\nfrom wikimem.__main__ import main\n"
        "code = main(sys.argv[1:])\nnames = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(name for name in names if not name.startswith('_')), file=sys.stderr)\nsys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "hook", "claude", "UserPromptSubmit"],
        input=json.dumps(PROMPT).encode(), capture_output=True, env=env_of(home), check=True, timeout=60,
    )  # fmt: skip
    loaded = set(done.stderr.decode().strip().strip("[]").replace("'", "").split(", "))
    assert loaded <= ALLOWED
    assert len(events(spool)) == 2


def test_an_answer_is_asked_for_with_the_event_as_it_was_kept_and_written_for_the_agent(
    home: Home, spool: Spool
) -> None:
    script = (
        "import sys\nfrom wikimem.surfaces.hooks.main import main\n"
        'said = lambda event: f\'{event["kind"]} {event["session"]}: {event["prompt"]}\'\n'
        "sys.exit(main(sys.argv[1:], lambda outcome, began: said(outcome.document)))"
    )
    payload = PROMPT | {"prompt": "cap <private>it all</private> it"}
    for agent, event, said in (
        ("hermes", "pre_llm_call", '{"context":"prompt s1: cap  it"}'),
        ("kiro", "UserPromptSubmit", "prompt s1: cap  it"),
        ("goose", "UserPromptSubmit", ""),
    ):
        done = subprocess.run(
            [sys.executable, "-c", script, agent, event],
            input=json.dumps(payload).encode(), capture_output=True, env=env_of(home), check=True, timeout=60,
        )  # fmt: skip
        assert (done.stdout.decode().strip(), done.stderr) == (said, b"")


def test_an_answer_that_fails_costs_the_answer_and_not_the_event(home: Home, spool: Spool) -> None:
    script = "import sys\nfrom wikimem.surfaces.hooks.main import main\nsys.exit(main(sys.argv[1:], lambda *_: 1 / 0))"
    done = subprocess.run(
        [sys.executable, "-c", script, "cursor", "beforeSubmitPrompt"],
        input=json.dumps(PROMPT).encode(), capture_output=True, env=env_of(home), check=True, timeout=60,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == (b"{}\n", b"")
    assert len(events(spool)) == 1
    assert "failed: ZeroDivisionError" in log()


def test_help_says_what_it_is(run: Run) -> None:
    done = run("hook", "--help")
    assert done.code == 0
    assert "AGENT" in done.stdout
    assert done.stderr == ""


# Disks


@contextlib.contextmanager
def mounted(folder: Path, *options: str) -> Iterator[None]:
    """A small disk of its own at `folder`, where this user may mount one."""
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", ",".join(("size=1m,mode=0700", *options)), "tmpfs", str(folder)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        why = f"a disk cannot be mounted here: {done.stderr.strip()}"
        if os.geteuid() == 0 and "CI" in os.environ:
            pytest.fail(why)
        pytest.skip(why)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def report(run: Run, **more: Any) -> None:
    done = run("hook", "claude", "UserPromptSubmit", input=json.dumps(PROMPT | more))
    assert (done.code, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("leave", [0, 2000])
def test_a_full_disk_tears_nothing_and_the_log_says_so(run: Run, spool: Spool, leave: int) -> None:
    report(run, session_id="before")
    with mounted(Path(spool.folder)):
        filler = Path(spool.folder) / "filler"
        with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while file.write(b"\0" * 4096):
                pass
        os.truncate(filler, filler.stat().st_size - leave)
        report(run, prompt="a line of it\n" * 3000)
        assert [file.name for file in Path(spool.folder).iterdir()] == ["filler"]
        assert "not kept: No space left on device" in log()
        filler.unlink()
        report(run, session_id="meanwhile")
        assert [event.session for event in events(spool)] == ["meanwhile"]
    assert [event.session for event in events(spool)] == ["before"]


def test_a_read_only_disk_fails_nothing(run: Run, home: Home, spool: Spool) -> None:
    state = Path(home.env["XDG_STATE_HOME"])
    with mounted(state, "ro"):
        report(run)
        assert list(state.iterdir()) == []
    report(run)
    assert len(events(spool)) == 1


def test_a_home_without_a_place_for_state_fails_nothing(run: Run, home: Home, spool: Spool) -> None:
    state = Path(home.env["XDG_STATE_HOME"])
    state.rename(state.with_name("away"))
    state.write_text("in the way")
    report(run)
