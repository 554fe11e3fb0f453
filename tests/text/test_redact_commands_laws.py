"""Laws of the rules for commands, for random texts of what they look for: redacting twice is once, and all ends."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikimem.text.redact import Redactor

GATE = Redactor(b"a key of a test")
SECRET = "q7Zr" + "Kx92mWv"

PIECES = st.sampled_from(
    [
        "echo ", "printf ", "'%s\\n' ", "%s:%s ", "-n ", " | ", "|", "sudo -S ls", "chpasswd",
        "gh secret set F", "su -", " <<< ",
        "<<EOF\n", "EOF", "<<<<<<< ", "bob:", "$(cat f)", "${{ secrets.X }}", "$X", "<token>", "\n", "\\\n",
        "\\n", "'", '"', '\\"', " ",
        "kubectl create secret generic x ", "--from-literal=", "a=", "fly secrets set ", "htpasswd ", "-b ",
        "-c ", "x.txt ",
        "net user ", "/add", "AUTH ", "default ", "expect ", "assword:", 'send "', '\\r"', "q7Zr" + "Kx92",
        "blue", "-p ", "security ",
        "[redacted:password:12345678]", "[redacted:x:", "]", "\u200b", ";", "&&", "=", "ssh-keygen -N ", "-b ",
    ]
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=24).map("".join))
def test_redacting_commands_twice_changes_nothing(text: str) -> None:
    masked = GATE.mask(text)
    assert GATE.redact(masked) == (masked, ())


@pytest.mark.parametrize(
    "unit",
    [
        "echo a ", "echo 'a' ", "printf %s |", "echo a | sudo ", "echo a|sudo -a -b ", "sudo -S <<< ",
        "<<EOF\n", "<<a <<b\n",
        "kubectl create secret --from-literal=a=", "--from-literal=a=b \\\n", "fly secrets set a=b ",
        "htpasswd -b ", "htpasswd -a -a ",
        "net user a b ", "ssh-keygen -N ", "expect assword:\"\n", "AUTH a ", "USER a\n", "security import ",
        "lftp -u ", "put-parameter ",
    ],
)  # fmt: skip
def test_a_long_text_of_any_command_ends(unit: str) -> None:
    text = (unit * (60_000 // len(unit) + 1))[:60_000]
    masked = GATE.mask(f"{text}\n\necho {SECRET} | sudo -S ls\n")
    assert SECRET not in masked
