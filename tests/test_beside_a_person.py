"""Eight agents write pages while a person commits with git: everything is there, and everybody's is their own."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conftest import Home, Run

AGENTS = 8


def git(root: Path, *args: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *args], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def test_eight_agents_and_a_person(home: Home, run: Run, vault: Path) -> None:
    (vault / "mine").mkdir()
    done = threading.Event()
    committed: list[str] = []

    def person() -> None:
        number = 0
        while not done.is_set() or number < 10:
            name = f"mine/{number}.txt"
            (vault / name).write_text(f"{number}\n")
            (vault / "mine" / "unsaved.txt").write_text(f"never staged {number}\n")
            git(vault, "add", name)
            if git(vault, "commit", "-m", f"mine {number}"):
                committed.append(f"mine {number}")
            number += 1

    def agent(number: int) -> int:
        command = [sys.executable, "-m", "wikimem", "--agent", f"agent-{number}"]
        command += ["remember", f"Fact {number} of an agent"]
        env = home.env | {"PYTHONPATH": os.fspath(Path(__file__).parents[1])}
        return subprocess.run(command, env=env, cwd=vault, capture_output=True, check=False).returncode

    writer = threading.Thread(target=person)
    writer.start()
    with ThreadPoolExecutor(max_workers=4) as agents:
        codes = list(agents.map(agent, range(AGENTS)))
    done.set()
    writer.join()

    assert codes == [0] * AGENTS
    assert committed, "the person's git got through"
    in_head = git(vault, "ls-tree", "-r", "--name-only", "HEAD").splitlines()
    pages = {f"global/facts/Fact {number} of an agent.md" for number in range(AGENTS)}
    assert pages <= set(in_head)
    assert "mine/unsaved.txt" not in in_head
    touched: dict[str, set[str]] = {}
    for commit in git(vault, "log", "--format=%H").splitlines():
        author = git(vault, "show", "-s", "--format=%an", commit)
        names = git(vault, "show", "--format=", "--name-status", commit).splitlines()
        assert not any(line.startswith("D") for line in names), f"{commit} deletes {names}"
        touched.setdefault(author, set()).update(line.partition("\t")[2] for line in names)
    for author, names in touched.items():
        if author.startswith("agent-"):
            assert names <= pages, f"{author} committed {names - pages}"
    subjects = git(vault, "log", "--format=%s").splitlines()
    assert sorted(s for s in subjects if s.startswith("remember")) == sorted(
        f"remember(fact): Fact {number} of an agent" for number in range(AGENTS)
    )
    assert all("mine/" in line for line in git(vault, "status", "--porcelain").splitlines())
    assert subprocess.run(["git", "-C", str(vault), "fsck", "--strict", "--no-dangling"], check=False).returncode == 0
    found = run("list", "--type", "fact", "--limit", "100", "--json", cwd=vault)
    assert {page["path"] for page in found.json["pages"]} == pages
