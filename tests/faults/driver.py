"""Real processes that write to a vault, and die where they are told to. Started by the tests of this folder.

One process imports everything and then forks a child for each job, which it reads as a line of JSON:

    {"job": NAME, ...}          -> {"pid": N}
    {"wait": N}                 -> {"pid": N, "status": exit code, or minus the signal}

A child appends a line to the file `acks` for each operation that was acknowledged, after it was.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np  # noqa: F401 - imported once for all children

from wikimem.errors import Conflict, Locked, WikimemError
from wikimem.index import embedder, update, vectors, words  # noqa: F401
from wikimem.model.caller import Caller
from wikimem.operations import OPERATIONS
from wikimem.search import search  # noqa: F401
from wikimem.vault.commit import Committer
from wikimem.vault.journal import Journal
from wikimem.wiki import Wiki, open_wiki

BY_NAME = {operation.name: operation for operation in OPERATIONS}
INDEX_STEPS = ("_announce", "_write_words", "_write_vectors", "_conclude")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_at(point: str, nth: int) -> None:
    """Have this process die at the nth time that a write, or an update of the index, comes to a step."""
    seen = {"count": 0}

    def reached() -> None:
        seen["count"] += 1
        if seen["count"] == nth:
            die()

    if point in INDEX_STEPS:
        step = getattr(update, point)

        def replaced(*arguments: Any) -> Any:
            reached()
            return step(*arguments)

        setattr(update, point, replaced)
        return

    def fault(name: str) -> None:
        if name == point:
            reached()

    Wiki.committer = property(  # type: ignore[assignment, method-assign]
        lambda wiki: Committer(wiki.repository, Journal(wiki.folders.state / "journal"), fault=fault)
    )


def without_privileges() -> None:
    """Root, but one for whom the permission bits of files hold, as for anybody else; also in what it starts."""
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    sets = (ctypes.c_uint32 * 6)()
    libc.capget(header, sets)
    for part in (0, 1, 2):
        sets[part] &= ~0b110
    if libc.capset(header, sets) != 0:
        raise OSError(ctypes.get_errno(), "capset")


class Worker:
    """What a job has: the vault, and a file for what was acknowledged."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job = job
        self.root = Path(job["root"])
        self.acks = os.open(job["acks"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.wiki = open_wiki(
            str(self.root), cwd=self.root, caller=Caller(agent=job.get("agent"), cwd=self.root), clock=datetime.now
        )

    def run(self, name: str, **arguments: Any) -> Any:
        return BY_NAME[name].run(self.wiki, arguments)

    def note(self, **line: Any) -> None:
        os.write(self.acks, (json.dumps(line) + "\n").encode())


def job_operations(worker: Worker) -> None:
    """Run the operations of the job; a failure is noted, and ends it."""
    for name, arguments in worker.job["operations"]:
        try:
            done = worker.run(name, **arguments)
        except WikimemError as error:
            worker.note(error=error.kind, message=error.message, hint=error.hint)
            return
        worker.note(
            operation=name,
            arguments=arguments,
            commit=getattr(done, "commit", None),
            notes=list(getattr(done, "notes", ())),
        )


def job_any(worker: Worker) -> None:
    """Write at random until killed, or `times` times: new pages, edits, closings, forgettings."""
    chance = random.Random(worker.job["seed"])
    who = worker.job["agent"]
    mine: list[str] = []
    for number in range(worker.job.get("times", 1_000_000)):
        title = f"{who} {worker.job['seed']} {number}"
        kind = chance.choices(["remember", "edit", "supersede", "forget"], [5, 4, 2, 2 if len(mine) > 3 else 0])[0]
        try:
            if kind == "remember" or not mine:
                done = worker.run("remember", title=title, text=body_of(title), type="fact")
                mine.append(done.page.path)
            elif kind == "edit":
                done = worker.run("edit", page=chance.choice(mine), text=f"- {title}\n", mode="append")
            elif kind == "supersede":
                old = mine.pop(chance.randrange(len(mine)))
                done = worker.run("remember", title=title, text=body_of(title), type="fact", supersedes=[old])
                mine.append(done.page.path)
            else:
                done = worker.run("forget", page=mine.pop(chance.randrange(len(mine))))
        except Conflict as error:
            worker.note(conflict=error.message)
            continue
        worker.note(operation=kind, commit=done.commit, title=title)


def until_its_turn(worker: Worker, name: str, **arguments: Any) -> Any:
    """Do it, and again where another process kept the lock too long: the answer says to."""
    while True:
        try:
            return worker.run(name, **arguments)
        except Locked as error:
            worker.note(conflict=error.message)


def job_shared(worker: Worker) -> None:
    """Append lines to the `pages`, one page after the other, each based on the revision that was read.

    Of the `times` steps every third is a new page instead.
    """
    who, pages, times = worker.job["agent"], worker.job["pages"], worker.job["times"]
    for number in range(times):
        page = pages[number * len(pages) // times]
        title = f"{who} {number}"
        if number % 3 == 2:
            done = until_its_turn(worker, "remember", title=title, text=body_of(title), type="fact")
            worker.note(operation="remember", commit=done.commit, title=title)
            if number % 6 == 5:
                done = until_its_turn(worker, "forget", page=done.page.path)
                worker.note(operation="forget", commit=done.commit, title=title)
            continue
        while True:
            revision = worker.run("read", page=page).revision
            try:
                done = worker.run("edit", page=page, text=f"- line {title}\n", mode="append", base=revision)
            except Conflict as error:
                worker.note(conflict=error.message)
                continue
            worker.note(operation="edit", commit=done.commit, line=f"- line {title}")
            break


def job_read(worker: Worker) -> None:
    """Read, list and search until the file `stop` is there; whatever is wrong is noted."""
    stop = Path(worker.job["stop"])
    rounds = 0
    while not stop.exists():
        rounds += 1
        try:
            listed = worker.run("list", type="fact", limit=20).pages
            worker.run("search", query="line agent")
            for page in listed[:5]:
                check_whole(worker, page.path)
        except WikimemError as error:
            if error.kind != "not_found":  # forgotten between the list and the look
                worker.note(wrong=f"{error.kind}: {error.message}")
        time.sleep(worker.job["pause_s"])
    worker.note(rounds=rounds)


def check_whole(worker: Worker, path: str) -> None:
    try:
        text = (worker.root / path).read_text("utf-8")
    except FileNotFoundError:
        return
    if (
        not text.startswith("---\n")
        or "begin " not in text
        or f"end {text.split('begin ')[1].splitlines()[0]}" not in text
    ):
        worker.note(wrong=f"torn: {path}: {len(text)} characters")


def body_of(title: str) -> str:
    return f"begin {title}\n" + f"A line of the fact {title}.\n" * 60 + f"end {title}\n"


JOBS: dict[str, Callable[[Worker], None]] = {
    "operations": job_operations,
    "any": job_any,
    "shared": job_shared,
    "read": job_read,
}


def child(job: dict[str, Any]) -> int:
    for name in [name for name in os.environ if name.startswith(("XDG_", "GIT_", "WIKIMEM_"))]:
        del os.environ[name]
    os.environ.update(job["env"])
    os.chdir(job["root"])
    if job.get("unprivileged"):
        without_privileges()
    if "kill" in job:
        kill_at(*job["kill"])
    worker = Worker(job)
    if "handles" in job:
        resource.setrlimit(resource.RLIMIT_NOFILE, (job["handles"], job["handles"]))
    time.sleep(job.get("after", 0))
    JOBS[job["job"]](worker)
    return 0


def say(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def main() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        if "wait" in order:
            _, status = os.waitpid(order["wait"], 0)
            say({"pid": order["wait"], "status": os.waitstatus_to_exitcode(status)})
            continue
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                code = child(order)
            except WikimemError as error:
                sys.stderr.write(f"{order['job']}: {error.kind}: {error.message}\n")
                code = error.exit_code
            except BaseException:  # noqa: BLE001 - the child must end here, and say why
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        say({"pid": pid})


if __name__ == "__main__":
    main()
