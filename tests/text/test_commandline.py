"""A command line is read as a shell reads it, as far as that tells which programs run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikimem.text.commandline import commands_in, program_of


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("cd api && npm test -- auth", ["cd api", "npm test -- auth"]),
        ("FOO=1 BAR='b c' make 2>&1 >/dev/null | tee log", ["make", "tee log"]),
        ('git commit -m "a; b && c"', ["git commit -m a; b && c"]),
        ('echo "found $(rg "a b" src) of it" `date`', ["rg a b src", "date", "echo found $ of it $"]),
        ("for f in a b; do npx prettier --write $f; done", ["prettier --write $f"]),
        ("if [ -f x ]; then make; else ./b.sh; fi", ["[ -f x ]", "make", "./b.sh"]),
        ("while ! curl -s host; do sleep 1; done < list", ["curl -s host", "sleep 1"]),
        ("( cd a && make ) & wait", ["cd a", "make", "wait"]),
        ("apply() { echo; }; ls # make", ["echo", "ls"]),
        ("[[ -f a && -f b ]] || make", ["[[ -f a -f b ]]", "make"]),
        ("cat > f <<'EOF'\nnpm test\nEOF\nmake", ["cat", "make"]),
        ("bash <<EOF\nnpm test\nEOF", ["bash", "npm test"]),
        ("echo $((1 + 2)) && make", ["echo $", "make"]),
        ("sudo -u me -S systemctl restart nginx", ["systemctl restart nginx"]),
        ("timeout -k 5 20 nice -n 19 env A=1 npm test", ["npm test"]),
        ("rg -l a | xargs -n 1 -P 4 sed -i s/a/b/", ["rg -l a", "sed -i s/a/b/"]),
        ("uv run --quiet --with x python -X dev -m pytest -q", ["pytest -q"]),
        ("poetry run bundle exec rspec", ["rspec"]),
        ('bash -lc "cd a && npm test"', ["cd a", "npm test"]),
        ("bash -lc npm uninstall moment", ["npm uninstall moment"]),
        ('watch -n 5 "git status"', ["git status"]),
        ("uv add jose", ["uv add jose"]),
        ("command -v jq", ["command -v jq"]),
        ("env", ["env"]),
        ("", []),
    ],
)
def test_the_programs_of_a_line_are_found(line: str, commands: list[str]) -> None:
    assert [" ".join(words) for words in commands_in(line)] == commands


@pytest.mark.parametrize("folder", ["", "/usr/local/bin/", "./.venv/bin/", "C:\\bin\\"])
def test_a_program_is_known_in_any_folder(folder: str) -> None:
    assert program_of([f"{folder}make", "all"]) == "make"


PIECES = st.sampled_from(
    ["$(", ")", "`", '"', "'", "\\", "<<E", "E", "\n", ";", "&&", "|", "bash -c ", "eval ", "sudo ", "if ", "do ",
     "[[ ", "]]", "$((", "#", " ", "a", ">", "&", "2>", "env A=1 ", "for "]
)  # fmt: skip


@given(st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=60))
def test_no_line_fails_and_every_command_has_a_program(line: str) -> None:
    assert all(words for words in commands_in(line))


@pytest.mark.parametrize("piece", ["$(", "`a`", '"', "(\n", "<<a\n", "bash -c '", "eval ", "sudo ", "if "])
def test_a_hostile_line_ends(piece: str) -> None:
    commands_in(piece * 30_000)
