"""Secrets planted through every door of wikimem, then looked for, byte by byte, in all that this user's home holds."""

from __future__ import annotations

import base64
import contextlib
import json
import re
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Done, Home, Run

CORE = "q7Xw9Kd2Rm"
"""The beginning of each secret, put together with a number, so that a part of one is found too."""


def core(number: int) -> str:
    """A run of 12 characters that stands in one planted secret only."""
    return f"{CORE}{number:02d}"


SECRETS = {
    "github": ("ghp_" + core(1) + "aB3dE6gH9jK2mN5pQ8rS4", "we use {} for releases"),
    "assignment": (core(2) + "zz", "DB_PASSWORD={}"),
    "prose": (core(3) + "yy", "the staging password is {}, as agreed"),
    "korean": (core(4) + "xx", "스테이징 비밀번호는 {} 입니다"),
    "url": (core(5) + "ww", "postgres://shop:{}@db.shop.dev/orders"),
    "command": (core(6) + "vv", "mysql -u root -p{} shop"),
    "header": (core(7) + "uuTTssRRqq77", "curl -H 'Authorization: Bearer {}' https://api.shop.dev"),
    "private": (f"{core(8)} is what they offered", "note <private>{}</private> end"),
    "pem": (core(9) + "A1b2C3d4" * 6, "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----"),
    "user rule": (core(10), "the badge is BADGE:{} today"),
    "vault rule": (core(11), "ticket SHOP:{} was sold"),
    "json": (core(12) + "tt", '{{"api_key": "{}", "region": "eu"}}'),
}
TEXTS = [place.format(secret) for secret, place in SECRETS.values()]
ALL = "\n\n".join(TEXTS)


@pytest.fixture
def ruled(home: Home, vault: Path) -> Path:
    """The vault, with a rule of redaction of its own and one of the user's."""
    config = home.path / ".config" / "wikimem" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("[redact]\nbadge = 'BADGE:([A-Za-z0-9]{12})'\n")
    own = vault / ".wikimem" / "config.toml"
    own.write_text(own.read_text() + "\n[redact]\nticket = 'SHOP:([A-Za-z0-9]{12})'\n")
    return vault


def forms(number: int) -> list[bytes]:
    """How a secret could lie on disk: plain, folded, or encoded at any of the three offsets of base64."""
    plain = core(number).encode()
    wide = [base64.b64encode(b"\0" * shift + plain)[4 if shift else 0 : -4] for shift in range(3)]
    return [plain, plain.lower(), plain.hex().encode(), plain[::-1], str(plain.decode()).encode("utf-16-le"), *wide]


def stored(home: Path, vault: Path) -> Iterator[tuple[str, bytes]]:
    """Every file below the home, and what is compressed in one; and every object of git, loose or packed."""
    for file in sorted(home.rglob("*")):
        if file.is_file() and not file.is_symlink():
            data = file.read_bytes()
            yield str(file), file.name.encode() + b"\n" + data
            for found in re.finditer(rb"\x78[\x01\x5e\x9c\xda]", data):
                with contextlib.suppress(zlib.error):
                    yield (
                        f"{file} at {found.start()}",
                        zlib.decompressobj().decompress(data[found.start() :], 1_000_000),
                    )
    command = ["git", "-C", str(vault), "cat-file", "--batch-all-objects", "--batch", "--unordered"]
    yield "git objects", subprocess.run(command, capture_output=True, check=True).stdout


def leaks(home: Path, vault: Path) -> list[str]:
    """Which secret lies where."""
    wanted = [(name, form) for number, name in enumerate(SECRETS, 1) for form in forms(number)]
    return [f"{name} in {place}" for place, data in stored(home, vault) for name, form in wanted if form in data]


def said(done: Done) -> str:
    """What a process wrote, both streams."""
    return done.stdout + done.stderr


def payloads(cwd: Path) -> Iterator[tuple[str, str]]:
    """Events of an agent with secrets in every field, some of them broken."""
    shared = {"session_id": "s1", "cwd": str(cwd), "transcript_path": "/home/ada/x.jsonl"}
    for text in TEXTS[::3]:
        yield "UserPromptSubmit", json.dumps(shared | {"prompt": text})
    tool = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": ALL, "description": ALL}}
    yield "UserPromptSubmit", json.dumps(shared | {"prompt": ALL})
    yield "PreToolUse", json.dumps(shared | tool)
    yield "PostToolUse", json.dumps(shared | tool | {"tool_response": {"stdout": ALL, "stderr": ALL}})
    yield "PostToolUseFailure", json.dumps(shared | tool | {"error": ALL})
    for event in ("SessionStart", "PreCompact", "SubagentStop", "Stop", "SessionEnd"):
        yield (
            event,
            json.dumps(
                shared | {"message": ALL, "custom_instructions": ALL, "last_assistant_message": ALL, "reason": ALL}
            ),
        )
    yield "UserPromptSubmit", json.dumps(shared | {"prompt": ALL})[:-9]
    yield "UserPromptSubmit", "no json: " + ALL
    yield f"No{core(2)}Event", json.dumps(shared | {"prompt": ALL})


def test_no_planted_secret_is_anywhere_on_the_disk(home: Home, run: Run, ruled: Path) -> None:
    work = home.path / "work"
    output: list[tuple[str, str]] = []
    for number, text in enumerate([*TEXTS[::4], ALL]):
        done = run(
            "remember", f"Note {number}: {text.splitlines()[0]}", "--text", text, "--tags", f"t{number}", "--json"
        )
        assert done.code == 0, done.stderr
        output.append(("remember", said(done)))
    assert run("remember", "Deploy", "--text", "## Steps\n\nport 8080").code == 0
    for text in (TEXTS[1], ALL):
        assert run("edit", "Deploy", "--section", "Steps", "--mode", "append", "--text", text).code == 0
    asked = (
        ("edit", "Deploy", "--replace", "port 8080", f"port 9090 {ALL}"),
        ("edit", "Deploy", "--set", f"aliases={SECRETS['github'][0]}"), ("observe", "--text", ALL),
        ("search", ALL), ("context", ALL), ("search", SECRETS["github"][0], "--json"), ("read", SECRETS["github"][0]),
        ("remember", "x", "--type", SECRETS["github"][0]), ("link", SECRETS["github"][0], "uses", "y"),
        ("sparql", f"SELECT {SECRETS['github'][0]}"), ("files", f"src/{SECRETS['github'][0]}.py"), ("timeline", ALL),
        ("move", "Deploy", f"Deploy {SECRETS['github'][0]}"), ("forget", SECRETS["github"][0]),
    )  # fmt: skip
    output += [(arguments[0], said(run(*arguments))) for arguments in asked]
    for event, payload in payloads(work):
        done = run("hook", "claude", event, input=payload)
        assert done.code == 0
        output.append((f"hook {event}", said(done)))
    assert run("remember", "The last one", "--text", "drains the spool").code == 0
    reading = (("log", "--json"), ("sessions",), ("list",), ("read", "Deploy"), ("check",), ("status",), ("reindex",))
    output += [(arguments[0], said(run(*arguments))) for arguments in reading]

    assert leaks(home.path, ruled) == []
    subprocess.run(["git", "-C", str(ruled), "gc", "-q", "--prune=now"], check=True)
    assert list((ruled / ".git" / "objects" / "pack").glob("*.pack"))
    assert leaks(home.path, ruled) == []
    shown = [(door, name) for door, text in output for number, name in enumerate(SECRETS, 1) if core(number) in text]
    assert shown == []
    history = subprocess.run(["git", "-C", str(ruled), "log", "-p"], capture_output=True, text=True, check=True).stdout
    for kind in (
        "github-token",
        "password",
        "url-password",
        "private",
        "private-key",
        "badge",
        "ticket",
        "authorization",
    ):
        assert f"[redacted:{kind}:" in history


def test_the_search_for_leaks_finds_one(home: Home, run: Run, vault: Path) -> None:
    """A secret that a person wrote is on the disk, plain in the page and compressed in git."""
    (vault / "mine.md").write_text(f"# Mine\n\n{TEXTS[0]}\n")
    for command in (["add", "-A"], ["commit", "-qm", "mine"]):
        subprocess.run(["git", "-C", str(vault), *command], check=True)
    found = leaks(home.path, vault)
    assert any("mine.md" in leak for leak in found)
    assert "github in git objects" in found
    assert any(".git/objects" in leak for leak in found)
    run("search", "releases")
    assert not any("cache" in leak or "state" in leak for leak in leaks(home.path, vault))
