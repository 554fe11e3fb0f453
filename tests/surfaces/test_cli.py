"""The command line: what a person or a script sees."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import wikimem
from wikimem.operations import OPERATIONS, PLANNED
from wikimem.surfaces.cli.commands import FACTORIES, cli
from wikimem.surfaces.cli.main import main
from wikimem.surfaces.cli.processes import PLANNED_PROCESSES, PROCESSES

if TYPE_CHECKING:
    from tests.conftest import Home, Run

ROOT = Path(wikimem.__file__).parents[1]


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run the command line in this process."""
    code = main(arguments)
    out = capsys.readouterr()
    return code, out.out, out.err


def at_terminal(home: Home, *arguments: str, answer: str = "") -> tuple[int, str]:
    """Run the command line at a terminal of its own; what it shows comes back."""
    terminal, other = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "wikimem", *arguments],
        cwd=home.path / "work",
        env=home.env | {"PYTHONPATH": str(ROOT)},
        stdin=other,
        stdout=other,
        stderr=other,
        start_new_session=True,
    ) as process:
        os.close(other)
        os.write(terminal, answer.encode())
        shown = b"".join(iter(lambda: _read_terminal(terminal), b""))
        os.close(terminal)
        return process.wait(timeout=60), shown.decode()


def _read_terminal(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # how Linux says that the other side of a terminal is gone
        return b""


# From the working directory to a commit


def test_a_session_from_init_to_forget(home: Home, run: Run) -> None:
    made = run("init", "--json")
    assert made.code == 0, made.stderr
    assert made.json["schema"] == "wikimem/init/1"
    vault = Path(made.json["vault"])
    assert vault == home.path / "wikimem"

    kept = run("remember", "The API runs on port 8080", "--tags", "ops", "--tags", "api", "--text", "-", "--json",
               input="Behind the proxy.\n")  # fmt: skip
    assert kept.code == 0, kept.stderr
    assert kept.json["schema"] == "wikimem/remember/1"
    page = vault / kept.json["page"]["path"]
    assert "Behind the proxy." in page.read_text()
    assert re.search(r"tags:\n +- ops\n +- api\n", page.read_text())

    found = run("search", "which port?", "--json")
    assert found.json["hits"][0]["path"] == kept.json["page"]["path"]
    assert found.stderr == ""

    edited = run("edit", "The API runs on port 8080", "--replace", "Behind", "Before", "--set", "x=1")
    assert edited.code == 2  # one change at a time
    assert run("edit", "The API runs on port 8080", "--replace", "Behind", "Before").code == 0
    assert "Before the proxy." in page.read_text()

    refused = run("forget", "The API runs on port 8080", "--json")
    assert (refused.code, refused.error["kind"], refused.stdout) == (5, "refused", "")
    assert "--yes" in refused.error["hint"]
    assert page.exists()
    assert run("forget", "The API runs on port 8080", "--dry-run").stdout.startswith("Would forget")
    assert page.exists()
    assert run("forget", "The API runs on port 8080", "-y").code == 0
    assert not page.exists()
    subjects = subprocess.run(
        ["git", "-C", str(vault), "log", "--format=%s"], capture_output=True, text=True, check=True, env=home.env
    ).stdout
    assert len(subjects.splitlines()) == 4


def test_forget_asks_at_a_terminal_and_no_means_no(home: Home, vault: Path, run: Run) -> None:
    kept = run("remember", "The API runs on port 8080", "--json").json["page"]["path"]
    code, shown = at_terminal(home, "forget", "The API runs on port 8080", answer="n\n")
    assert "Would forget: The API runs on port 8080" in shown
    assert "Go on?" in shown
    assert code == 5
    assert (vault / kept).exists()
    assert at_terminal(home, "forget", "The API runs on port 8080", answer="y\n")[0] == 0
    assert not (vault / kept).exists()


# Which vault, which caller


def test_options_count_before_and_after_the_command(home: Home, vault: Path, run: Run) -> None:
    run("--agent", "codex", "--session", "s1", "remember", "One")
    run("remember", "Two", "--agent", "codex", "--session", "s2")
    log = run("--json", "log", "--limit", "2").json["entries"]
    assert [(entry["agent"], entry["session"]) for entry in log] == [("codex", "s2"), ("codex", "s1")]


def test_a_parameter_of_the_command_wins_over_the_common_option_after_it(home: Home, vault: Path, run: Run) -> None:
    run("remember", "One", "--agent", "codex")
    log = run("--agent", "someone", "log", "--agent", "codex", "--json").json["entries"]
    assert [entry["agent"] for entry in log] == ["codex"]


def test_the_environment_names_vault_and_caller_and_options_win(home: Home, vault: Path, run: Run) -> None:
    env = {"WIKIMEM_VAULT": "/nowhere", "WIKIMEM_AGENT": "gemini"}
    assert run("status", env=env).code == 3
    done = run("remember", "One", "--vault", str(vault), "--json", env=env)
    assert done.code == 0, done.stderr
    assert run("log", "--json", "--limit", "1").json["entries"][0]["agent"] == "gemini"


def test_a_folder_that_only_looks_like_a_vault_is_refused(home: Home, run: Run, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    (clone / ".wikimem").mkdir(parents=True)
    done = run("search", "x", cwd=clone)
    assert done.code == 5
    assert re.fullmatch(r"error: .*never made or trusted it.*\nhint: .*wikimem trust.*\n", done.stderr)


# Mistakes


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["serch", "x"], "there is no command 'serch'", "Did you mean `wikimem search`"),
        (["search", "--limt", "3"], "search: there is no option '--limt'", "Did you mean --limit?"),
        (["search", "two", "words"], "search: unexpected argument 'words'", "wikimem search 'two words'"),
        (["log", "Release", "days"], "log: unexpected argument 'Release'", "wikimem log --page 'Release days'"),
        (["search"], "search: missing parameter `query`", "wikimem search --help"),
        (["search", "x", "--limit", "0"], "search: limit: ", "wikimem search --help"),
        (["search", "x", "--limit", "many"], "search: invalid value for '--limit'", "wikimem search --help"),
        (["remember", "x", "--type", "idea"], "remember: type: there is no 'idea'; one of fact,", ""),
        (["edit", "p", "--replace", "a"], "option '--replace' requires 2 arguments", ""),
        (["completion", "tcsh"], "completion: invalid value", ""),
        (["init", "~nobody-here/z"], "path: there is no home folder '~nobody-here'", "./~name"),
        (["trust", "~nobody-here/z"], "path: there is no home folder '~nobody-here'", "./~name"),
        (["--vault", "~nobody-here/z", "status"], "vault: there is no home folder '~nobody-here'", "./~name"),
        (["--vault", "~nobody-here/z", "init"], "--vault: there is no home folder '~nobody-here'", "./~name"),
        (["help", "serch"], "the manual has no page 'serch'", ""),
    ],
)
def test_a_mistake_is_named_with_what_to_do(
    capsys: pytest.CaptureFixture[str], home: Home, arguments: list[str], message: str, hint: str
) -> None:
    code, out, err = call(capsys, *arguments)
    assert out == ""
    assert err.startswith(f"error: {message}")
    assert hint in err.partition("\nhint: ")[2]
    assert code == (3 if arguments[0] == "help" else 2)
    code, out, err = call(capsys, *arguments, "--json")
    assert out == ""
    assert set(json.loads(err)["error"]) == {"kind", "message", "hint"}


def test_a_mistake_does_not_repeat_a_pasted_log(capsys: pytest.CaptureFixture[str], home: Home) -> None:
    pasted = "begin " + "x" * 100_000 + " end"
    for arguments in (["search", "two", pasted], [pasted]):
        code, out, err = call(capsys, *arguments, "--json")
        assert (code, out) == (2, "")
        assert "characters left out" in err
        assert len(err) < 6_000


def test_without_a_vault_the_hint_says_how_to_make_one(capsys: pytest.CaptureFixture[str], home: Home) -> None:
    code, out, err = call(capsys, "status")
    assert (code, out) == (3, "")
    assert "wikimem init" in err


def test_text_that_is_not_utf8_is_refused_by_name(home: Home, vault: Path, run: Run) -> None:
    piped = run("remember", "One", "--text", "-", input=b"caf\xe9\n")
    assert piped.code == 2
    assert "text: standard input is not UTF-8 (byte 4)" in piped.stderr
    typed = run("remember", b"caf\xe9")
    assert typed.code == 2
    assert "title: the text is not UTF-8" in typed.stderr


@pytest.mark.parametrize("name", [*PLANNED, *PLANNED_PROCESSES])
def test_what_is_not_built_answers_so_whatever_it_is_given(
    capsys: pytest.CaptureFixture[str], home: Home, name: str
) -> None:
    code, out, err = call(capsys, name, "thing", "--depth", "3", "--json")
    assert (code, out) == (6, "")
    assert json.loads(err)["error"]["kind"] == "unavailable"


def test_a_bug_says_where_to_report_it_and_shows_its_traceback_on_request(
    capsys: pytest.CaptureFixture[str], home: Home, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise KeyError("oops")

    monkeypatch.setattr("wikimem.wiki.Wiki.refresh", broken)
    code, out, err = call(capsys, "status")
    assert (code, out) == (70, "")
    assert err.startswith("error: KeyError: 'oops'\nhint: This is a bug. Report it at ")
    assert "Traceback" not in err
    assert "Traceback" in call(capsys, "status", "--debug")[2]
    assert json.loads(call(capsys, "status", "--json")[2])["error"]["kind"] == "bug"


def test_an_interrupt_ends_quietly_with_the_code_of_one(
    capsys: pytest.CaptureFixture[str], home: Home, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("wikimem.wiki.Wiki.refresh", interrupted)
    code, out, err = call(capsys, "status")
    assert (code, out, err.strip()) == (130, "", "")


# Streams


def test_bytes_of_a_file_name_that_are_no_text_stop_no_output(home: Home, vault: Path, run: Run) -> None:
    with open(os.fsencode(vault) + b"/caf\xe9.md", "wb") as file:
        file.write(b"# Coffee\n\nA house of coffee.\n")
    for arguments in (["list"], ["list", "--json"], ["search", "coffee"], ["status"]):
        for env in ({}, {"PYTHONIOENCODING": "ascii"}):
            done = run(*arguments, env=env)
            assert done.code == 0, done.stderr
    assert run("list", "--json").json["total"] >= 1


def test_json_is_utf8_and_text_stays_readable_where_the_terminal_is_ascii(home: Home, vault: Path, run: Run) -> None:
    env = {"PYTHONIOENCODING": "ascii"}
    assert run("remember", "배포는 금요일", env=env).code == 0
    assert run("list", "--json", env=env).json["pages"]
    assert "배포는 금요일" in run("list", "--json", env=env).stdout
    assert "\\ubc30" in run("list", env=env).stdout


def test_a_reader_that_goes_away_is_no_error(home: Home, vault: Path) -> None:
    for number in range(400):
        (vault / f"Note {number}.md").write_text(f"# Note {number} {'x' * 200}\n")
    with subprocess.Popen(
        [sys.executable, "-m", "wikimem", "list", "--limit", "1000"],
        env=home.env | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_output_that_cannot_be_written_is_not_called_success(home: Home, vault: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "wikimem", "list"],
            env=home.env | {"PYTHONPATH": str(ROOT)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 6
    assert done.stderr.startswith("error: cannot write to standard output")


def test_a_secret_in_a_message_is_masked(home: Home, vault: Path, run: Run) -> None:
    secret = "ghp_" + "a1B2" * 9
    done = run("read", secret, "--json")
    assert (done.code, done.error["kind"]) == (3, "not_found")
    assert secret not in done.stderr
    assert secret not in run("search", secret).stdout


def test_a_page_cannot_steer_the_terminal(home: Home, vault: Path, run: Run) -> None:
    (vault / "Evil.md").write_text("# Evil\n\nred \x1b[31m and title \x1b]0;owned\x07 here\n")
    assert "\x1b" not in at_terminal(home, "read", "Evil.md", "--quiet")[1]
    assert "\x1b[31m" in run("read", "Evil.md").stdout


def test_colour_only_where_it_is_wanted(home: Home, run: Run) -> None:
    colored = "\x1b[31m"
    assert colored not in run("status").stderr
    assert colored in run("status", env={"FORCE_COLOR": "1"}).stderr
    assert colored not in run("status", "--no-color", env={"FORCE_COLOR": "1"}).stderr
    assert colored not in run("status", env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).stderr
    assert colored in at_terminal(home, "status")[1]


def test_quiet_keeps_notes_away(home: Home, run: Run, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.md").write_text("mine\n")
    assert "note: " in run("init", str(tmp_path / "one")).stderr
    assert run("init", str(tmp_path / "two"), "--quiet").stderr == ""


# Help


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "--help")
    assert code == 0
    built, _, planned = out.partition("Not built yet:")
    for name in (*(operation.name for operation in OPERATIONS), *PROCESSES):
        assert re.search(rf"^  {name} ", built, re.MULTILINE)
    for name in (*PLANNED, *PLANNED_PROCESSES):
        assert re.search(rf"\b{name}\b", planned)
    assert call(capsys) == (0, out, "")


@pytest.mark.parametrize("name", FACTORIES)
def test_every_command_explains_itself(name: str) -> None:
    done = CliRunner().invoke(cli, [name, "--help"])
    assert done.exit_code == 0, done.output
    assert f"wikimem {name}" in done.output or f"{name} [OPTIONS]" in done.output
    assert "--json" in done.output


def test_help_of_an_operation_shows_its_parameters_and_examples() -> None:
    shown = " ".join(CliRunner().invoke(cli, ["remember", "--help"]).output.split())
    assert "[fact|decision|" in shown
    assert "[default: fact]" in shown
    assert "[0 to 1]" in shown
    assert "wikimem remember 'The API runs on port 8080' --tags ops" in shown


def test_the_manual_is_listed_and_shown(capsys: pytest.CaptureFixture[str], home: Home) -> None:
    listed = call(capsys, "help")[1]
    assert re.search(r"^  errors +Errors$", listed, re.MULTILINE)
    assert call(capsys, "help", "errors")[1] == (ROOT / "wikimem/manual/errors.md").read_text(encoding="utf-8")
    assert "Usage: wikimem remember" in call(capsys, "help", "remember")[1]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(capsys: pytest.CaptureFixture[str], shell: str) -> None:
    code, out, _ = call(capsys, "completion", shell)
    assert code == 0
    assert "_WIKIMEM_COMPLETE" in out


def test_completion_knows_commands_options_and_choices(home: Home, run: Run) -> None:
    def complete(line: str) -> list[str]:
        words = line.split(" ")
        env = {"_WIKIMEM_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
        return [answer.partition(",")[2] for answer in run(env=env).stdout.splitlines()]

    assert complete("wikimem rem") == ["remember"]
    assert "--supersedes" in complete("wikimem remember --su")
    assert complete("wikimem remember x --type dec") == ["decision"]


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    expected = f"wikimem {wikimem.__version__}\n"
    assert call(capsys, "--version") == (0, expected, "")
    assert call(capsys, "--quiet", "--version") == (0, expected, "")
