"""doctor and status: each says what is in order here and what is not, and what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wikimem.index.index import SHIPPED_MODEL

Desk = Any
Run = Callable[..., Any]

BODY = "".join(f"line {number}\n" for number in range(10))


def lines(run: Run, *arguments: str, **options: Any) -> list[tuple[str, str, str, str]]:
    done = run(*arguments, "doctor", "--json", **options)
    return [(each["name"], each["state"], each["message"], each["remedy"]) for each in done.json["checks"]]


def states(run: Run, *arguments: str, **options: Any) -> dict[str, str]:
    """The worst state of each look."""
    order = ("ok", "warn", "fail")
    worst: dict[str, str] = {}
    for name, state, _, _ in lines(run, *arguments, **options):
        worst[name] = max(worst.get(name, "ok"), state, key=order.index)
    return worst


def test_a_good_vault_passes_every_look(home: Any, vault: Path, run: Run) -> None:
    done = run("doctor")
    assert done.code == 0, done.stdout
    assert "fail" not in done.stdout
    assert {"python", "git", "folder", "settings", "vault", "repository", "locks", "index", "model", "disk"} <= set(
        states(run)
    )
    assert run("doctor", "--json").json["schema"] == "wikimem/doctor/1"


def test_what_fails_ends_with_6_and_says_what_to_do(home: Any, run: Run, tmp_path: Path) -> None:
    done = run("doctor")
    assert done.code == 6
    assert "fail  vault: there is no vault" in done.stdout
    assert "wikimem init" in done.stdout
    assert "ok    model:" in done.stdout, "one failure stops no other look"


def test_a_vault_that_nobody_trusted(home: Any, vault: Path, run: Run, tmp_path: Path) -> None:
    subprocess.run(["git", "clone", "-q", str(vault), str(tmp_path / "clone")], check=True)
    (tmp_path / "clone" / ".wikimem").mkdir(exist_ok=True)
    found = lines(run, "--vault", str(tmp_path / "clone"))
    assert [("wikimem trust" in remedy) for name, state, _, remedy in found if (name, state) == ("vault", "fail")] == [
        True
    ]


def test_folders_that_others_can_reach(home: Any, vault: Path, run: Run) -> None:
    config = home.path / ".config" / "wikimem"
    os.chmod(config, 0o755)
    found = [each for each in lines(run) if each[0] == "folder" and each[1] == "warn"]
    assert len(found) == 1
    assert f"chmod 700 {config}" in found[0][3]
    os.chmod(config, 0o777)
    assert states(run)["folder"] == "fail"


def test_settings_that_do_not_parse(home: Any, vault: Path, run: Run) -> None:
    (home.path / ".config" / "wikimem" / "config.toml").write_text("default_vault = [\n")
    assert states(run)["settings"] == "fail"
    (home.path / ".config" / "wikimem" / "config.toml").write_text("")
    (vault / ".wikimem" / "config.toml").write_text("no_such_key = 1\n")
    found = lines(run)
    assert [state for name, state, _, _ in found if name == "vault"] == ["ok", "fail"]


def test_a_merge_under_way_and_a_lock_left_behind(home: Any, vault: Path, run: Run) -> None:
    (vault / ".git" / "MERGE_HEAD").write_text("0" * 40 + "\n")
    (vault / ".git" / "index.lock").touch()
    found = {message: remedy for name, state, message, remedy in lines(run) if (name, state) == ("repository", "warn")}
    assert any("in a merge" in message for message in found)
    assert any("remove it" in remedy for remedy in found.values())


def test_a_reranker_that_leads_nowhere(home: Any, vault: Path, run: Run, tmp_path: Path) -> None:
    config = home.path / ".config" / "wikimem" / "config.toml"
    for folder in (tmp_path / "nowhere", tmp_path / ("a" * 300)):
        config.write_text(f'[reranker]\npath = "{folder}"\n')
        found = [(state, message, remedy) for name, state, message, remedy in lines(run) if name == "reranker"]
        assert [state for state, _, _ in found] == ["warn"]
        assert str(folder) in found[0][1]
        assert "[reranker]" in found[0][2]
    config.write_text(f'[reranker]\npath = "{SHIPPED_MODEL}"\n')
    assert states(run)["reranker"] == "ok"


def test_a_home_folder_that_is_none_is_named_by_doctor_too(home: Any, vault: Path, run: Run) -> None:
    done = run("--vault", "~nobody-here/x", "doctor")
    assert done.code == 6
    assert "vault: vault: there is no home folder '~nobody-here'" in done.stdout
    (home.path / ".config" / "wikimem" / "config.toml").write_text('model = "~nobody-here/x"\n')
    done = run("doctor")
    assert done.code == 6
    assert "config.toml, line 1: model: there is no home folder" in done.stdout
    assert run("status").code == 2


def test_a_model_that_is_not_there(home: Any, vault: Path, run: Run, tmp_path: Path) -> None:
    (home.path / ".config" / "wikimem" / "config.toml").write_text(f'model = "{tmp_path / "none"}"\n')
    assert states(run)["model"] == "fail"


def test_an_index_of_somebody_else(home: Any, vault: Path, run: Run) -> None:
    run("list")
    stamp = next((home.path / ".cache").rglob("stamp.json"))
    stamp.write_text(stamp.read_text().replace('"stamp": "', '"stamp": "0'))
    assert states(run)["index"] == "warn"


def test_without_git_on_the_path(home: Any, vault: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    found = states(run, env={"PATH": str(tmp_path / "bin")})
    assert found["git"] == "warn"
    assert found["vault"] == "ok"


def test_only_agents_that_are_there_are_named(home: Any, vault: Path, run: Run) -> None:
    assert "agent" not in states(run)
    (home.path / ".codex").mkdir()
    (home.path / ".cursor").mkdir()
    (home.path / ".cursor" / "mcp.json").write_text('{"mcpServers": {"wikimem": {"command": "wikimem"}}}')
    said = {message: state for name, state, message, _ in lines(run) if name == "agent"}
    assert said == {
        "Codex: wikimem is not in its settings": "ok",
        "Cursor: wikimem is in ~/.cursor/mcp.json": "ok",
    }


def test_nothing_is_changed(home: Any, vault: Path, run: Run) -> None:
    before = subprocess.run(["git", "-C", str(vault), "status", "--porcelain"], capture_output=True, check=True).stdout
    head = (vault / ".git" / "HEAD").read_bytes()
    run("doctor")
    after = subprocess.run(["git", "-C", str(vault), "status", "--porcelain"], capture_output=True, check=True).stdout
    assert (after, (vault / ".git" / "HEAD").read_bytes()) == (before, head)


# status


def test_status_says_what_it_takes_and_who_works(desk: Desk) -> None:
    desk.put("a.md", BODY)
    done = desk.run("status")
    assert done.disk.pages >= len(BODY)
    assert done.disk.git > 0
    assert done.disk.index > 0
    assert done.watching.startswith("no")
    from wikimem.vault.duty import Duty

    duty = Duty(desk.wiki().folders.state, "watch")
    assert duty.take()
    assert "wikimem watch" in desk.run("status").watching
    duty.release()


def test_a_merge_by_somebody_else_that_left_markers_is_named(desk: Desk) -> None:
    desk.put("a.md", BODY)
    desk.git("add", "-A")
    desk.git("commit", "-qm", "base")
    for branch, word in (("theirs", "one"), ("mine", "two")):
        desk.git("checkout", "-q", "-b", branch, "main")
        desk.put("a.md", BODY.replace("line 3", word))
        desk.git("commit", "-qam", branch)
    with pytest.raises(subprocess.CalledProcessError):
        desk.git("merge", "-q", "theirs")
    desk.git("add", "-A")
    desk.git("-c", "user.name=Bo", "commit", "-qm", "merged, it says")
    merge = desk.git("rev-parse", "HEAD")
    done = desk.run("status")
    assert [(each.path, each.what, each.commit, each.author) for each in done.to_mend] == [
        ("a.md", "conflict markers", merge, "Bo")
    ]


def test_two_pages_of_one_id_are_to_be_mended_until_check_does(desk: Desk) -> None:
    page = "---\nid: 01JDZK3V9Q4T8M2X7B5C1R6W0N\n---\nx\n"
    desk.put("a.md", page)
    desk.put("b.md", page)
    assert [(each.path, each.what) for each in desk.run("status").to_mend] == [("b.md", "the id of 'a.md'")]
    desk.run("check", fix=True)
    assert desk.run("status").to_mend == ()
