"""Captures made-up sessions into a new vault and asks one question of each.

    python -m benchmark.sessions [--budget 2000]

48 sessions of five observations each: twelve parts of a shop, four tasks each. A task of one part reads like the same
task of another, so that words alone do not find the answer. For each question: whether the context holds the answer,
and what it cost, beside what the whole vault would have cost.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from benchmark.quality.vaults import keep_apart

NOW: Final = datetime(2027, 3, 1, 9)
PARTS: Final = (
    "checkout", "cart", "search page", "login", "billing", "catalogue", "shipping", "review page", "admin panel",
    "report module", "mailer", "importer",
)  # fmt: skip
LIBRARIES: Final = (
    "zod", "valibot", "yup", "joi", "ajv", "superstruct", "io-ts", "typebox", "arktype", "runtypes", "vine",
    "effect-schema",
)  # fmt: skip
STORES: Final = (
    "Redis", "SQLite", "PostgreSQL", "a signed cookie", "DynamoDB", "local files", "Memcached", "etcd", "MongoDB",
    "an S3 bucket", "LevelDB", "FoundationDB",
)  # fmt: skip
FORMATS: Final = (
    "CSV", "Parquet", "NDJSON", "Avro", "YAML", "TOML", "Excel", "Protobuf", "MessagePack", "Arrow", "ORC", "Markdown",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Told:
    """One session: what was asked and done in it, a question about it, and an answer that is nowhere else."""

    prompt: str
    file: str
    command: str
    said: str
    question: str
    answer: str


def sessions() -> Iterator[Told]:
    """The 48 sessions."""
    for number, part in enumerate(PARTS):
        folder = f"src/{part.replace(' ', '_')}"
        library, other = LIBRARIES[number], LIBRARIES[(number + 5) % 12]
        wait = f"{150 + 70 * number} milliseconds"
        yield Told(
            f"Validate what users send to the {part}", f"{folder}/schema.ts", f"npm test -- {folder}",
            f"Bad requests get a 422 now. We chose {library} over {other} because it is smaller.",
            f"Which library checks the input of the {part}?", f"chose {library} over {other}",
        )  # fmt: skip
        yield Told(
            f"The {part} hangs when its backend is slow", f"{folder}/client.ts", f"npm run bench -- {folder}",
            f"It gives up now and says so. Let's use a timeout of {wait} there.",
            f"How long does the {part} wait for a slow backend?", f"timeout of {wait}",
        )  # fmt: skip
        yield Told(
            f"The {part} forgets its state at a restart", f"{folder}/state.ts", f"npm run e2e -- {folder}",
            f"The state survives. I decided to keep it in {STORES[number]}.",
            f"Where is the state of the {part} kept?", f"keep it in {STORES[number]}",
        )  # fmt: skip
        yield Told(
            f"Let people take their data out of the {part}", f"{folder}/export.ts", f"npm test -- {folder}/export",
            f"There is a button for it. We settled on {FORMATS[number]} instead of XML.",
            f"In which format does the {part} export data?", f"settled on {FORMATS[number]}",
        )  # fmt: skip


def capture_all(wiki: Any) -> int:
    """Put the sessions into the spool as hooks do, and drain it; returns the number of observations."""
    from wikimem.memory.sessions.drain import drain, spool_of
    from wikimem.model.event import Event
    from wikimem.vault.spool import event_name, put

    folder = Path(spool_of(wiki).folder)
    folder.mkdir(mode=0o700, exist_ok=True)
    count = 0
    for number, told in enumerate(sessions()):
        fields: list[dict[str, Any]] = [
            {"kind": "prompt", "prompt": told.prompt},
            {
                "kind": "tool",
                "tool": "Edit",
                "action": "edit",
                "files": (told.file,),
                "input": "export const limit = 1",
            },
            {
                "kind": "tool",
                "tool": "Bash",
                "action": "run",
                "command": told.command,
                "output": "Tests: 9 passed, 9 total",
            },
            {"kind": "turn_end", "text": told.said},
            {"kind": "session_end", "reason": "exit"},
        ]
        for step, each in enumerate(fields):
            when = NOW - timedelta(days=48 - number) + timedelta(seconds=step)
            count += 1
            given = {"agent": "claude-code", "event": each["kind"], "session": f"s{number}", "key": f"k{count}"}
            event = Event(time=when.isoformat(), **given, **each)
            name = event_name(int(when.timestamp() * 1e9), f"{count:016x}", "n", "claude-code")
            put(str(folder), name, json.dumps(event.to_document()).encode())
    return sum(each.observations for each in drain(wiki).flushed)


def measure(wiki: Any, budget: int) -> dict[str, Any]:
    """Ask every question within a budget."""
    from wikimem.operations import OPERATIONS

    context = next(operation for operation in OPERATIONS if operation.name == "context")
    answers = [(told, context.run(wiki, {"query": told.question, "budget": budget})) for told in sessions()]
    found = sum(told.answer in answer.text for told, answer in answers)
    return {
        "budget": budget,
        "questions": len(answers),
        "answered": found,
        "tokens_mean": round(sum(answer.tokens for _, answer in answers) / len(answers)),
        "tokens_whole": answers[0][1].vault_tokens,
    }


def main(argv: list[str] | None = None) -> int:
    """Print one line of JSON for each budget."""
    parser = argparse.ArgumentParser(prog="python -m benchmark.sessions", description=__doc__)
    parser.add_argument("--budget", type=int, action="append", help="tokens; repeat for several")
    chosen = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        keep_apart(folder)
        from wikimem.model.caller import Caller
        from wikimem.operations.processes import init
        from wikimem.wiki import open_wiki

        init(folder / "vault", cwd=folder)
        wiki = open_wiki(str(folder / "vault"), cwd=folder, caller=Caller(cwd=folder), clock=lambda: NOW)
        started = time.process_time()
        observations = capture_all(wiki)
        print(json.dumps({"observations": observations, "drain_cpu_s": round(time.process_time() - started, 1)}))
        for budget in chosen.budget or [2000, 1000, 500]:
            print(json.dumps(measure(wiki, budget)))
        wiki.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
