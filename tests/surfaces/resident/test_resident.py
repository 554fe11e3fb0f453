"""The resident process as a person meets it: real commands, real processes, real sockets."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from wikimem.operations.resident import is_running, read_record
from wikimem.surfaces.resident import place

if TYPE_CHECKING:
    from tests.surfaces.resident.conftest import Answer, Desktop

from tests.surfaces.resident.conftest import is_gone, wait_for


@pytest.fixture
def notes(vault: Path) -> Path:
    """A vault with a few pages to find."""
    for name, text in {
        "Use jose": "---\ntype: decision\ntags: [auth]\n---\nJWTs are verified with [[Jose library]].\n",
        "Jose library": "A library without dependencies. See [[Nowhere]].\n",
        "Deploy": "배포는 금요일에. Deploys run on Fridays.\n",
        "Evil": "red \x1b[31m here\n",
    }.items():
        (vault / f"{name}.md").write_text(text, encoding="utf-8")
    # What a person's edit becomes after a while of rest is not what is tested here.
    (vault / ".wikimem/config.toml").write_text("commit_after = 0\n")
    return vault


def same(one: Answer, other: Answer) -> bool:
    return (one.code, one.stdout, one.stderr) == (other.code, other.stdout, other.stderr)


# Start and answer


def test_the_first_use_starts_one_and_the_second_is_answered_by_it(desktop: Desktop, notes: Path) -> None:
    first = desktop.ask("search", "jose")
    assert not first.handed_over
    server = desktop.server()
    second = desktop.ask("search", "jose")
    assert second.handed_over
    assert same(first, second)
    assert desktop.server().pid == server.pid
    shown = json.loads(desktop.ask("resident", "--json").stdout)
    assert (shown["running"], shown["pid"]) == (True, server.pid)
    assert f"resident  yes, process {server.pid}".encode() in desktop.ask("status").stdout


def test_the_process_is_detached(desktop: Desktop, notes: Path, tmp_path: Path) -> None:
    inherited = os.open(tmp_path / "inherited", os.O_CREAT | os.O_RDWR)
    desktop.ask("list", pass_fds=(inherited,))
    os.close(inherited)
    pid = desktop.server().pid
    assert os.getsid(pid) == pid
    if Path("/proc/self/fd").exists():
        open_files = [os.readlink(entry) for entry in Path(f"/proc/{pid}/fd").iterdir()]
        assert str(tmp_path / "inherited") not in open_files
        assert os.readlink(f"/proc/{pid}/cwd") == "/"
    state = desktop.state()
    assert (state / "log/resident.log").stat().st_mode & 0o077 == 0
    socket_file = Path(desktop.server().socket)
    assert socket_file.parent.stat().st_mode & 0o777 == 0o700
    assert socket_file.stat().st_mode & 0o077 == 0
    assert notes not in socket_file.parents


@pytest.mark.parametrize("arguments", [["init", "other"], ["remember", "One"], ["search", "--help"], ["resident"]])
def test_other_commands_start_none(desktop: Desktop, notes: Path, arguments: list[str]) -> None:
    desktop.ask(*arguments)
    assert not any((state / "resident.lock").exists() for state in desktop.states())


def test_what_writes_runs_in_its_own_process(desktop: Desktop, notes: Path) -> None:
    desktop.started()
    assert not desktop.ask("remember", "The API runs on port 8080").handed_over
    assert not desktop.ask("check", "--fix").handed_over
    found = desktop.ask("search", "which port?")
    assert found.handed_over
    assert b"The API runs on port 8080" in found.stdout


@pytest.mark.parametrize("how", ["environment", "setting"])
def test_it_can_be_switched_off(desktop: Desktop, notes: Path, how: str) -> None:
    if how == "environment":
        desktop.env["WIKIMEM_RESIDENT"] = "off"
    else:
        del desktop.env["WIKIMEM_RESIDENT"]
        (desktop.home.path / ".config/wikimem/config.toml").write_text('resident = "off"\n')
    assert not desktop.ask("list").handed_over
    assert not (desktop.state() / "resident.lock").exists()
    if how == "setting":
        assert b"resident  no: switched off in your settings" in desktop.ask("status").stdout


# Byte for byte

COMMANDS: list[list[str]] = [
    ["search", "jose"],
    ["search", "jose", "--json", "--explain", "--now", "2026-01-01"],
    ["search", "배포"],
    ["search", ""],
    ["search", "jose", "--limit", "0"],
    ["search", "two", "words"],
    ["search", "jose", "--at", "HEAD"],
    ["search"],
    ["context", "verify a token", "--json", "--now", "2026-01-01"],
    ["context", "verify a token"],
    ["read", "Use jose"],
    ["read", "Evil"],
    ["read", "Jose library", "--json"],
    ["read", "No such page"],
    ["read", "No such page", "--json"],
    ["list"],
    ["list", "--json", "--limit", "2"],
    ["links", "Use jose"],
    ["log"],
    ["log", "--json", "--limit", "1"],
    ["log", "--limt", "1"],
    ["graph", "library:jose"],
    ["timeline", "jose"],
    ["sparql", "ASK { ?s ?p ?o }"],
    ["check"],
    ["check", "--json"],
    ["check", "--strict"],
    ["--agent", "a<b", "list"],
    ["--project", "shop", "--quiet", "search", "jose"],
    ["list", "--vault", "/nowhere"],
    ["list", "--vault"],
]


@pytest.mark.slow
def test_every_reading_command_answers_byte_for_byte_the_same(desktop: Desktop, notes: Path) -> None:
    desktop.here("check")
    desktop.started()
    for arguments in COMMANDS:
        theirs, ours = desktop.ask(*arguments), desktop.here(*arguments)
        assert theirs.handed_over == ("/nowhere" not in arguments), arguments
        assert same(theirs, ours), arguments


@pytest.mark.parametrize(
    "env",
    [
        {"FORCE_COLOR": "1"},
        {"PYTHONIOENCODING": "ascii"},
        {"TZ": "Asia/Tokyo", "LANG": "C"},
        {"WIKIMEM_AGENT": "codex", "WIKIMEM_SESSION": "s1"},
        {"WIKIMEM_VAULT": "/nowhere"},
    ],
)
def test_the_environment_of_the_client_counts_and_leaves_no_trace(
    desktop: Desktop, notes: Path, env: dict[str, str]
) -> None:
    desktop.started()
    for arguments in (["read", "Nothing"], ["list"], ["log"], ["search", "배포", "--debug"]):
        before = desktop.ask(*arguments)
        assert same(desktop.ask(*arguments, env=env), desktop.here(*arguments, env=env))
        assert same(desktop.ask(*arguments), before)


def test_the_project_is_that_of_the_clients_working_directory(desktop: Desktop, notes: Path) -> None:
    for name in ("shop", "blog"):
        folder = desktop.home.path / "work" / name
        subprocess.run(["git", "init", "-q", str(folder)], check=True, env=desktop.env)
        desktop.ask("remember", f"About the {name}", cwd=folder)
    desktop.started()
    for name in ("shop", "blog", "shop"):
        answer = desktop.ask("search", "about", "--json", cwd=desktop.home.path / "work" / name)
        assert answer.handed_over
        assert json.loads(answer.stdout)["project"] == name
    assert json.loads(desktop.ask("search", "about", "--json").stdout)["project"] is None


def at_terminal(desktop: Desktop, *arguments: str, env: dict[str, str] | None = None) -> tuple[int, bytes]:
    """What a terminal shows."""
    terminal, other = pty.openpty()
    process, _ = desktop.begin(*arguments, stdin=other, stdout=other, stderr=other, env=env or {})
    os.close(other)
    shown = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(terminal)
    return process.wait(timeout=60), shown


@pytest.mark.parametrize("arguments", [["read", "Evil"], ["read", "Nothing"], ["search", "jose"], ["list"]])
def test_a_terminal_shows_the_same(desktop: Desktop, notes: Path, arguments: list[str]) -> None:
    desktop.started()
    theirs = at_terminal(desktop, *arguments)
    assert theirs == at_terminal(desktop, *arguments, env={"WIKIMEM_RESIDENT": "off"})
    assert (b"\x1b[31m" in theirs[1]) == (arguments[1:] == ["Nothing"])


# Streams


def many(vault: Path, count: int = 300) -> None:
    for number in range(count):
        (vault / f"Note {number}.md").write_text(f"# Note {number} {'x' * 400}\n")


def test_a_slow_reader_keeps_nobody_waiting_and_gets_all(desktop: Desktop, notes: Path) -> None:
    many(notes)
    desktop.started()
    slow, _ = desktop.begin("list", "--limit", "1000", "--json")
    assert slow.stdout is not None
    beginning = slow.stdout.read(10)
    assert wait_for(lambda: desktop.ask("search", "jose").handed_over, "an answer beside a slow reader")
    rest = slow.stdout.read()
    assert slow.wait(timeout=60) == 0
    assert beginning + rest == desktop.here("list", "--limit", "1000", "--json").stdout


def test_a_reader_that_goes_away_is_no_error(desktop: Desktop, notes: Path) -> None:
    many(notes)
    desktop.started()
    process, told = desktop.begin("list", "--limit", "1000")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=60) == 141
    assert told.read_text() == "handed over"
    assert desktop.ask("list").handed_over


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_output_that_cannot_be_written_is_not_called_success(desktop: Desktop, notes: Path) -> None:
    desktop.started()
    with open("/dev/full", "w") as full:
        answer = desktop.ask("list", stdout=full)
    assert (answer.code, answer.handed_over) == (6, True)
    assert answer.stderr.startswith(b"error: cannot write to standard output")


def test_both_streams_into_one_file_keep_their_order(desktop: Desktop, notes: Path, tmp_path: Path) -> None:
    desktop.started()
    for arguments in (["check", "--strict"], ["read", "Nothing"]):
        texts = []
        for ask in (desktop.ask, desktop.here):
            with open(tmp_path / "both", "wb") as both:
                ask(*arguments, stdout=both, stderr=subprocess.STDOUT)
            texts.append((tmp_path / "both").read_bytes())
        assert texts[0] == texts[1]


# Many clients, and clients that go


def test_many_clients_at_once_all_get_the_answer(desktop: Desktop, notes: Path) -> None:
    started = [desktop.begin("search", "jose", "--json", "--now", "2026-01-01")[0] for _ in range(6)]
    answers = {process.communicate(timeout=120)[0] for process in started}
    assert {process.returncode for process in started} == {0}
    assert len(answers) == 1
    desktop.server()
    started = [desktop.begin("search", "jose", "--json", "--now", "2026-01-01")[0] for _ in range(20)]
    assert {process.communicate(timeout=120)[0] for process in started} == answers
    running = subprocess.run(["pgrep", "-f", f"{notes} resident run"], capture_output=True, text=True, check=False)
    assert len(running.stdout.split()) == 1


def held(desktop: Desktop, *arguments: str) -> tuple[subprocess.Popen[bytes], Path]:
    """A command that the resident process cannot finish, because its reader takes no more; its turn has come."""
    process, told = desktop.begin(*arguments)
    assert process.stdout is not None
    assert process.stdout.read(1)
    return process, told


def test_an_interrupt_ends_the_client_and_not_the_server(desktop: Desktop, notes: Path) -> None:
    many(notes)
    pid = desktop.started().pid
    process, told = held(desktop, "list", "--limit", "1000")
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert told.read_text() == "handed over"
    assert desktop.ask("list").handed_over
    assert desktop.server().pid == pid


def test_a_server_that_is_killed_before_it_prints_costs_nothing(desktop: Desktop, notes: Path) -> None:
    pid = desktop.started().pid
    os.kill(pid, signal.SIGSTOP)
    answer = desktop.ask("list")
    assert (answer.code, answer.handed_over) == (0, False)
    process, told = desktop.begin("list")
    os.kill(pid, signal.SIGKILL)
    assert process.wait(timeout=60) == 0
    assert told.exists()
    assert b"killed" in desktop.here("status").stdout
    assert desktop.replaced(pid)


def test_a_server_that_is_killed_while_it_prints_is_no_success(desktop: Desktop, notes: Path) -> None:
    many(notes)
    pid = desktop.started().pid
    process, _ = held(desktop, "list", "--limit", "1000")
    os.kill(pid, signal.SIGKILL)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 6
    assert said.startswith(b"error: the resident process ended while it answered")


# What is on disk


def test_a_stale_socket_is_replaced(desktop: Desktop, notes: Path) -> None:
    server = desktop.started()
    os.kill(server.pid, signal.SIGKILL)
    wait_for(lambda: is_gone(server.pid), "the end of a process")
    assert Path(server.socket).is_socket()
    assert desktop.ask("list").code == 0
    assert desktop.replaced(server.pid)


def test_a_folder_that_others_can_enter_is_not_used(desktop: Desktop, notes: Path) -> None:
    server = desktop.started()
    Path(server.socket).parent.chmod(0o755)
    answer = desktop.ask("list")
    assert (answer.code, answer.handed_over) == (0, False)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_folder_or_server_of_another_user_is_not_used(desktop: Desktop, notes: Path) -> None:
    folder = Path(desktop.started().socket).parent
    os.chown(folder, 65534, 65534)
    answer = desktop.ask("list")
    assert (answer.code, answer.handed_over) == (0, False)
    os.chown(folder, 0, 0)
    assert desktop.ask("list").handed_over


def test_a_link_to_a_folder_is_not_followed(desktop: Desktop, notes: Path) -> None:
    folder = Path(desktop.started().socket).parent
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to(folder.with_name("elsewhere"))
    assert not desktop.ask("list").handed_over


def test_the_runtime_folder_is_used_where_it_is_the_users_alone(desktop: Desktop, notes: Path, tmp_path: Path) -> None:
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    desktop.env["XDG_RUNTIME_DIR"] = str(runtime)
    assert Path(desktop.started().socket).parent == runtime / "wikimem"
    assert desktop.ask("list").handed_over
    runtime.chmod(0o755)
    assert not desktop.ask("list").handed_over


def test_a_socket_in_the_vault_is_never_connected_to(desktop: Desktop, notes: Path) -> None:
    lying = notes / "runtime"
    (lying / "wikimem").mkdir(mode=0o700, parents=True)
    lying.chmod(0o700)
    desktop.env["XDG_RUNTIME_DIR"] = str(lying)
    with (
        socket.socket(socket.AF_UNIX) as trap,
        place.Reached(str(lying / "wikimem"), place.socket_name(str(notes))) as address,
    ):
        trap.bind(address)
        trap.listen()
        trap.setblocking(False)
        assert desktop.ask("list").code == 0
        with pytest.raises(BlockingIOError):
            trap.accept()


# What has changed


def test_another_version_makes_the_old_server_end(desktop: Desktop, notes: Path, tmp_path: Path) -> None:
    package = tmp_path / "site/wikimem"
    shutil.copytree(
        Path(place.__file__).parents[2], package, ignore=shutil.ignore_patterns("__pycache__", "resident.md")
    )
    (tmp_path / "site/templates").symlink_to(Path(place.__file__).parents[3] / "templates")
    desktop.env["PYTHONPATH"] = str(tmp_path / "site")
    old = desktop.started().pid
    assert desktop.ask("list").handed_over
    init = package / "__init__.py"
    init.write_text(re.sub(r'__version__ = ".*"', '__version__ = "99.0"', init.read_text()))
    upgraded = desktop.ask("list")
    assert (upgraded.code, upgraded.handed_over) == (0, False)
    wait_for(lambda: is_gone(old), "the end of the old server")
    wait_for(lambda: desktop.ask("list").handed_over, "an answer of the new server")
    assert desktop.server(other_than=old).version == "99.0"


def test_another_wikimem_beside_it_is_not_served_and_ends_nothing(
    desktop: Desktop, notes: Path, tmp_path: Path
) -> None:
    server = desktop.started()
    shutil.copytree(Path(place.__file__).parents[2], tmp_path / "site/wikimem")
    answer = desktop.ask("list", env={"PYTHONPATH": str(tmp_path / "site")})
    assert (answer.code, answer.handed_over) == (0, False)
    assert desktop.server().pid == server.pid
    assert desktop.ask("list").handed_over


def test_trust_that_was_withdrawn_is_refused_at_once(desktop: Desktop, notes: Path) -> None:
    desktop.started()
    registry = desktop.home.path / ".config/wikimem/vaults.json"
    document = json.loads(registry.read_text())
    registry.write_text(json.dumps({**document, "vaults": []}))
    theirs, ours = desktop.ask("list", "--vault", str(notes)), desktop.here("list", "--vault", str(notes))
    assert theirs.code == 5
    assert same(theirs, ours)


def test_settings_count_from_the_next_command_on_and_a_new_server_has_them(desktop: Desktop, notes: Path) -> None:
    old = desktop.started().pid
    assert b"library" in desktop.ask("list").stdout
    (desktop.home.path / ".config/wikimem/config.toml").write_text("[redact]\nbadge = 'library'\n")
    answer = desktop.ask("list", "--json")
    assert answer.handed_over
    assert not any("library" in page["title"] for page in json.loads(answer.stdout)["pages"])
    wait_for(lambda: is_gone(old), "the end of the server with the old settings")
    wait_for(lambda: desktop.ask("list").handed_over, "an answer of the new server")
    (notes / ".wikimem/config.toml").write_text("nonsense = 1\n")
    theirs, ours = desktop.ask("list"), desktop.here("list")
    assert theirs.code == 2
    assert same(theirs, ours)


def test_an_index_that_was_deleted_is_made_again(desktop: Desktop, notes: Path) -> None:
    desktop.started()
    before = desktop.ask("list").stdout
    for index in (desktop.home.path / ".cache/wikimem/vaults").glob("*/index"):
        shutil.rmtree(index)
    answer = desktop.ask("list")
    assert answer.handed_over
    assert answer.stdout == before


def test_a_page_that_was_saved_is_found_and_one_that_was_deleted_is_not(desktop: Desktop, notes: Path) -> None:
    desktop.started()
    (notes / "New.md").write_text("A zebra crossed.\n")
    found = desktop.ask("search", "zebra")
    assert found.handed_over
    assert b"New.md" in found.stdout
    (notes / "New.md").unlink()
    assert b"New.md" not in desktop.ask("search", "zebra").stdout


@pytest.mark.slow
def test_changes_of_every_kind_are_answered_as_without_a_server(desktop: Desktop, notes: Path) -> None:
    desktop.started()

    def git(*arguments: str) -> None:
        subprocess.run(["git", "-C", str(notes), *arguments], check=True, env=desktop.env, capture_output=True)

    def ignored() -> None:
        (notes / ".gitignore").write_text("Deploy.md\n")

    def saved() -> None:
        (notes / "new.tmp").write_text("A zebra crossed.\n")
        (notes / "new.tmp").rename(notes / "Deploy.md")

    def made() -> None:
        (notes / "a/b").mkdir(parents=True)
        (notes / "a/b/Zebra.md").write_text("Another zebra.\n")

    changes: list[Callable[[], object]] = [
        saved,
        made,
        lambda: (notes / "a").rename(notes / "c"),
        lambda: git("add", "-A"),
        lambda: git("commit", "-qm", "mine"),
        lambda: git("checkout", "-q", "HEAD^"),
        lambda: git("checkout", "-q", "-"),
        (notes / "Evil.md").unlink,
        lambda: desktop.ask("remember", "A zebra is striped"),
        ignored,
    ]
    for change in changes:
        change()
        for arguments in (["list", "--json"], ["search", "zebra", "--json", "--now", "2026-01-01"]):
            theirs, ours = desktop.ask(*arguments), desktop.here(*arguments)
            assert theirs.handed_over
            assert same(theirs, ours), arguments


def test_it_indexes_what_is_saved_before_anybody_asks(desktop: Desktop, notes: Path) -> None:
    desktop.started()
    (notes / "New.md").write_text("A zebra crossed.\n")
    wait_for(lambda: "indexed 1 page" in desktop.log(), "a page to be indexed")


def test_a_vault_that_was_moved_is_answered_as_without_a_server(desktop: Desktop, notes: Path) -> None:
    desktop.started()
    notes.rename(notes.with_name("moved"))
    theirs, ours = desktop.ask("list"), desktop.here("list")
    assert theirs.code == 3
    assert same(theirs, ours)


@pytest.mark.slow
def test_two_vaults_have_two_servers(desktop: Desktop, notes: Path) -> None:
    desktop.ask("init", "../other")
    other = desktop.home.path / "other"
    (other / "Zebra.md").write_text("A zebra crossed.\n")
    for arguments in ([], ["--vault", str(other)]):
        desktop.ask("list", *arguments)

    def answered() -> bool:
        return all(desktop.ask("list", *arguments).handed_over for arguments in ([], ["--vault", str(other)]))

    wait_for(answered, "two resident processes")
    assert all(is_running(state) for state in desktop.states())
    pids = {record.pid for state in desktop.states() if (record := read_record(state))}
    assert len(pids) == 2
    for name, arguments in {"Zebra": ["--vault", "../other"], "Deploy": []}.items():
        answer = desktop.ask("list", *arguments)
        assert name in answer.stdout.decode()
    inside = desktop.ask("list", cwd=other)
    assert b"Zebra" in inside.stdout
    assert b"Deploy" not in inside.stdout


def test_another_home_is_not_served(desktop: Desktop, notes: Path, tmp_path: Path) -> None:
    desktop.env["XDG_RUNTIME_DIR"] = str(tmp_path / "runtime")
    (tmp_path / "runtime").mkdir(mode=0o700)
    desktop.started()
    strange = {"XDG_CONFIG_HOME": str(tmp_path / "strange")}
    theirs = desktop.ask("list", "--vault", str(notes), env=strange)
    assert (theirs.code, theirs.handed_over) == (5, False)


# The end


def test_it_ends_when_nobody_asks(desktop: Desktop, notes: Path) -> None:
    desktop.env["WIKIMEM_RESIDENT"] = "0.05"
    server = desktop.started()
    wait_for(lambda: is_gone(server.pid), "an idle process to end")
    assert not Path(server.socket).exists()
    assert b"ended (idle for 0.05 minutes)" in desktop.here("status").stdout


def test_stop_ends_it(desktop: Desktop, notes: Path) -> None:
    pid = desktop.started().pid
    stopped = desktop.ask("resident", "stop")
    assert (stopped.code, b"stopped by SIGTERM" in stopped.stdout) == (0, True)
    assert wait_for(lambda: is_gone(pid), "the end of a process")
    assert b"no: " in desktop.ask("resident", "stop").stdout


def test_a_second_one_leaves_the_first_alone(desktop: Desktop, notes: Path) -> None:
    pid = desktop.started().pid
    assert desktop.ask("resident", "run").code == 0
    assert desktop.server().pid == pid
    assert desktop.ask("list").handed_over


def test_requests_that_make_no_sense_do_no_harm(desktop: Desktop, notes: Path) -> None:
    server = desktop.started()
    folder, name = os.path.split(server.socket)
    for sent in (b"", b"\xff\xff\xff\xff", b"\0\0\0\5hello", b"\0\0\0\1", os.urandom(4000)):
        with socket.socket(socket.AF_UNIX) as channel, place.Reached(folder, name) as address:
            channel.connect(address)
            channel.sendall(sent)
    wait_for(lambda: desktop.ask("list").handed_over, "an answer after nonsense")
    assert desktop.server().pid == server.pid


@pytest.mark.slow
def test_memory_does_not_grow_with_use(desktop: Desktop, notes: Path) -> None:
    pid = desktop.started().pid

    def memory() -> int:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1])

    if not Path("/proc/self/statm").exists():
        pytest.skip("the system does not say how much memory a process has")
    for _ in range(10):
        desktop.ask("search", "jose")
    before = memory()
    for number in range(40):
        desktop.ask("search", f"jose {number}")
    assert memory() < before * 1.2
    assert desktop.server().pid == pid
