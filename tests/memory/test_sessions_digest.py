"""What a session comes to, by rules alone: what lines events leave, and the digest of these."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from tests.memory.conftest import event_at
from wikimem.agents.normal import normalised
from wikimem.memory.sessions.commands import command_key, error_line, is_test, only_looks, says_failed, summary_of
from wikimem.memory.sessions.digest import make_digest, title_of
from wikimem.memory.sessions.observations import Observer
from wikimem.memory.sessions.wordings import decisions, open_ends
from wikimem.text.sessionpage import Observation

OBSERVER = Observer("s1", "/code/shop", lambda text: text)


def lines(*events: Any) -> list[str]:
    return [f"{each.label}: {each.body}" for event in events for each in OBSERVER.see(event).observations]


def seen(*lines: str) -> list[Observation]:
    """Observations `label: body`, a second apart; their ids are their numbers."""
    return [
        Observation(str(number), datetime(2027, 3, 1, 9, 0, number), *line.split(": ", 1))
        for number, line in enumerate(lines)
    ]


@pytest.mark.parametrize(
    ("command", "looks"),
    [
        ("ls -la && git status", True),
        ("cat a.py | grep -n def | head -5", True),
        ("git log --oneline -5; git diff", True),
        ("cd src && rg token 2>/dev/null", True),
        ("FOO=1 echo $FOO", True),
        ("sed -n 1,20p a.py", True),
        ("sed -i s/a/b/ a.py", False),
        ("echo x > a.txt", False),
        ("cat a | tee b", False),
        ("find . -name '*.pyc' -delete", False),
        ("git commit -m x", False),
        ("git status && npm test", False),
        ("npm install jose", False),
        ('bash -lc "ls; cat a"', True),
        ("for f in *.py; do cat $f; done", True),
        ("echo $(npm install jose)", False),
        ("rg -l a | xargs rm", False),
    ],
)
def test_commands_that_only_look_are_told_from_those_that_do(command: str, looks: bool) -> None:
    assert only_looks(command) is looks


@pytest.mark.parametrize(
    ("command", "key", "test"),
    [
        ("cd api && npm test -- auth", "npm test", True),
        ("python -m pytest tests/a.py -q -x", "pytest", True),
        ("uv run pytest -q", "pytest", True),
        ("npx vitest run src", "vitest run", True),
        ("cargo test --workspace", "cargo test", True),
        ("PGHOST=x go test ./...", "go test", True),
        ("npm run lint -- --fix", "npm lint", False),
        ("npm run test:unit", "npm test:unit", True),
        ("node build.js", "node build.js", False),
        ("./scripts/deploy.sh --prod", "deploy.sh", False),
        ("for f in a b; do npx prettier --write $f; done", "prettier", False),
        ("if true; then make all; fi", "make all", False),
        ("printf x | sudo -S systemctl restart nginx", "systemctl restart", False),
        ('curl -H "X-Api-Key: k" https://host.example/a?key=1', "curl https://host.example/a", False),
        ("bash -lc npm uninstall moment", "npm uninstall", False),
        ('bash -lc "cd api && npm test"', "npm test", True),
        ("timeout 60 nice -n 5 cargo build", "cargo build", False),
        ("git -C api push origin", "git push", False),
        ("git commit -m 'a; b'", "git commit", False),
        ("cat > f <<EOF\nnpm start\nEOF\nmake", "make", False),
        ("echo 'never closed; make", "echo", False),
    ],
)
def test_runs_of_one_thing_have_one_key(command: str, key: str, test: bool) -> None:
    assert (command_key(command), is_test(command)) == (key, test)


@pytest.mark.parametrize(
    ("output", "summary", "failed"),
    [
        ("....\n==== 12 passed, 1 skipped in 0.31s ====", "12 passed, 1 skipped", False),
        ("F\n=== 1 failed, 11 passed in 2s ===", "1 failed, 11 passed", True),
        ("Tests:       2 failed, 10 passed, 12 total\nTime: 1s", "2 failed, 10 passed, 12 total", True),
        ("test result: ok. 5 passed; 0 failed; 0 ignored", "ok. 5 passed; 0 failed", False),
        ("ok  \tapp/a\t0.1s\nFAIL\tapp/b\t0.2s", "FAIL\tapp/b\t0.2s", True),
        ("Tests run: 4, Failures: 1, Errors: 0", "Tests run: 4, Failures: 1, Errors: 0", True),
        ("  7 passing (12ms)", "7 passing (12ms)", False),
        ("Exit code: 1\nnope", "", True),
        ("Exit code: 0\nfine", "", False),
        ("built in 3 s", "", False),
    ],
)
def test_the_summary_of_a_run_is_found(output: str, summary: str, failed: bool) -> None:
    assert (summary_of(output), says_failed(output)) == (summary, failed)


def test_the_line_that_says_the_error_is_found_among_frames() -> None:
    output = (
        "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    raise KeyError(name)\nKeyError: 'sub'\n"
    )
    assert error_line(output) == "KeyError: 'sub'"
    assert error_line("Exit code 1\nnpm ERR! Cannot find module 'jose'\n    at x (a.js:1)\n") == (
        "npm ERR! Cannot find module 'jose'"
    )
    assert error_line("Exit code 2") == "Exit code 2"


@pytest.mark.parametrize(
    "sentence",
    [
        "We chose jose over jsonwebtoken because the edge has no Node crypto.",
        "Let's use PostgreSQL for the queue.",
        "I've decided to keep the REST routes.",
        "Decision: tokens live fifteen minutes",
        "I'll go with a sliding window.",
        "Use pnpm instead of npm here.",
        "From now on, commit messages are in English.",
        "jose를 쓰자.",
        "토큰 만료는 15분으로 하자.",
        "Redis 대신 PostgreSQL을 사용하기로 했습니다.",
        "jsonwebtoken보다 jose를 선택했습니다.",
        "redis를 쓰지 말자.",
        "redis를 쓰지 않기로 했습니다.",
        "아직 정하지 못한 것도 있지만 jose를 쓰기로 했습니다.",
        "Do not use moment any more, date-fns instead.",
        "We decided not to touch vendor/ because it is generated.",
        "Not sure about speed, but let's use redis.",
        "The cache failed again, so we decided to use redis.",
        "We decided to use redis if memory allows.",
        "Decision: not to use redis",
        "Let's keep using npm.",
        "I'll use PostgreSQL for the queue.",
        "Always use UTC.",
        "Never pass tokens in URLs.",
    ],
)
def test_a_sentence_that_decides_is_known(sentence: str) -> None:
    assert decisions(f"Some words before.\n- {sentence}\nAnd after it.") == [sentence]


@pytest.mark.parametrize(
    "sentence",
    [
        "Should we use jose over jsonwebtoken?",
        "Let's use jose?",
        "I used the search to find it.",
        "The user chose a plan.",
        "Add JWT auth to the API.",
        "It uses more memory over time.",
        "인증을 추가해 주세요.",
        "jose를 쓸까요?",
        "만약 loki를 쓰기로 했다면 디스크가 더 필요합니다.",
        "sqlite를 쓰기로 결정하지 않았습니다.",
        "sqlite를 쓰기로 결정을 못 했습니다.",
        "예를 들어 redis를 쓰기로 결정했다면 서버가 필요합니다.",
        "아마 loki 대신 elasticsearch를 사용하는 게 좋을지도 모릅니다.",
        "redis 대신 valkey를 사용하면 빠릅니다.",
        "redis를 쓰기로 했다고 문서에 적혀 있습니다.",
        "kafka 채택 여부를 봅시다.",
        "걱정하지 말자.",
        "Perhaps we should use pnpm instead of npm.",
        "Maybe, we should go with valkey.",
        "We should go with valkey, maybe.",
        "We have not decided to use redis.",
        "I haven't decided on a cache yet.",
        "Nobody has decided to use redis.",
        "If we had decided to use redis, we would need a server.",
        "Had we decided to use redis, we would need a server.",
        "Once we have decided on a cache, I will add it.",
        "I do not think we should use redis.",
        "I wonder whether we should use redis.",
        "The old README says we decided to use gulp.",
        "Never mind, it works now.",
        "Never seen this before.",
        "Always happy to help.",
        "Always returns null here.",
        "I'll keep you posted.",
        "Let's keep going.",
        "I'll use the Edit tool to change it.",
        "I'll use grep to find the callers.",
        "Decided nothing so far.",
        "Decision: none yet",
        "We decided nothing.",
    ],
)
def test_a_sentence_that_only_sounds_like_it_is_not(sentence: str) -> None:
    assert decisions(sentence) == []


def test_code_decides_nothing() -> None:
    assert decisions("```\nlet's use x over y\n```\nDone.") == []


def test_what_is_left_to_do_is_known() -> None:
    text = "All green. The refresh route is not yet done.\n- TODO: rate limits\n남은 작업은 문서입니다. 끝."
    assert open_ends(text) == ["The refresh route is not yet done.", "TODO: rate limits", "남은 작업은 문서입니다."]


@pytest.mark.parametrize(
    ("sentence", "is_open"),
    [
        ("There are no next steps.", False),
        ("No TODO is left.", False),
        ("There is nothing left to do.", False),
        ("All TODOs are done.", False),
        ("I fixed the remaining errors.", False),
        ("아직도 잘 됩니다.", False),
        ("아직 문제 없습니다.", False),
        ("남은 작업은 없습니다.", False),
        ("아직도 잘 안 됩니다.", True),
        ("아직 테스트가 없습니다.", True),
        ("환불 로직은 아직 손대지 않았습니다.", True),
        ("No one has reviewed the remaining routes.", True),
        ("I haven't run the integration tests.", True),
        ("Next steps: write the docs.", True),
    ],
)
def test_what_is_done_is_not_left_to_do(sentence: str, is_open: bool) -> None:
    assert (open_ends(sentence) == [sentence]) == is_open


def test_coloured_output_tells_of_a_failure_without_litter() -> None:
    printed = (
        "\x1b[31mE   AssertionError: 1 == 2\x1b[0m\n\x1b[31m\x1b[1m1 failed\x1b[0m, \x1b[32m6 passed\x1b[0m in 0.1s"
    )
    payload = {"tool_name": "Bash", "tool_input": {"command": "pytest"}, "tool_response": {"stdout": printed}}
    document = normalised("claude", "PostToolUse", payload, {})
    assert document is not None
    assert lines(event_at(0, "tool", tool="Bash", action="run", command="pytest", output=document["output"])) == [
        "Bash: `pytest` failed: 1 failed, 6 passed; E AssertionError: 1 == 2"
    ]


def test_a_summary_that_is_the_line_of_the_error_is_said_once() -> None:
    run = event_at(0, "tool", tool="Bash", action="run", command="npx vitest", output=" Tests  2 failed | 3 passed (5)")
    assert lines(run) == ["Bash: `npx vitest` failed: 2 failed | 3 passed (5)"]


def test_what_a_person_was_asked_leaves_one_line_with_the_answer() -> None:
    asked = {"questions": [{"question": "Which CI do you want?"}], "answers": {"Which CI do you want?": "Buildkite"}}
    payload = {"tool_name": "AskUserQuestion", "tool_input": asked, "tool_response": asked}
    document = normalised("claude", "PostToolUse", payload, {})
    assert document is not None
    event = event_at(0, "tool", tool=document["tool"], action=document["action"], input=document["input"])
    assert lines(event) == ["Ask: Which CI do you want? Buildkite"]


def test_noise_of_tools_leaves_no_line() -> None:
    noise = [
        event_at(0, "tool", tool="Read", action="read", files=("/code/shop/a.py",)),
        event_at(1, "tool", tool="Grep", action="search", input='{"pattern": "x"}', output="a.py:1"),
        event_at(2, "tool", tool="TodoWrite", action="plan", input="{}"),
        event_at(3, "tool", tool="Bash", action="run", command="ls -la", output="a b c"),
        event_at(4, "tool_failed", tool="Grep", action="search", error="no match"),
        event_at(5, "tool_start", tool="Edit", action="edit", files=("a.py",)),
        event_at(6, "notification", text="Waiting for your input"),
        event_at(7, "setting"),
        event_at(8, "tool_batch"),
    ]
    assert lines(*noise) == []


def test_what_was_asked_changed_run_and_said_leaves_a_line() -> None:
    assert lines(
        event_at(0, "prompt", prompt="Fix\nthe build"),
        event_at(1, "expansion", prompt="review it", title="review"),
        event_at(2, "tool", tool="MultiEdit", action="edit", files=("/code/shop/src/a.py", "b.py"), cwd="/code/shop",
                 input="x = 1"),
        event_at(3, "tool", tool="Write", action="write", files=("/etc/hosts",),
                 input="class Host:\n  def name(self): ..."),
        event_at(4, "tool", tool="Bash", action="run", command="make build", output="cc a.c\nbuilt a in 2 s\n"),
        event_at(5, "tool_failed", tool="Bash", action="run", command="make test",
                 error="Exit code 2\n1 failed, 3 passed\nE"),
        event_at(6, "tool", tool="mcp__tracker__create_issue", action="mcp",
                 input='{"title": "Flaky"}', output="PROJ-7"),
        event_at(7, "tool", tool="WebFetch", action="fetch",
                 input='{"url": "https://host.example/a"}', output="The answer"),
        event_at(8, "permission", event="PermissionDenied", tool="Bash", reason="not allowed"),
        event_at(9, "task_end", title="Write the tests"),
        event_at(10, "turn_failed", error="rate limited"),
        event_at(11, "session_end", reason="logout"),
    ) == [
        "prompt: Fix the build",
        "prompt: `/review` review it",
        "Edit: `src/a.py` `b.py`: `x = 1`",
        "Write: `/etc/hosts` defines Host, name",
        "Bash: `make build` built a in 2 s",
        "Bash: `make test` failed: 1 failed, 3 passed",
        "mcp__tracker__create_issue: title: Flaky PROJ-7",
        "Fetch: url: https://host.example/a The answer",
        "denied: Bash not allowed",
        "done: Write the tests",
        "interrupted: rate limited",
        "ended: logout",
    ]  # fmt: skip


def test_a_decision_beyond_what_is_kept_of_a_text_has_a_line_of_its_own() -> None:
    long = "This is what I found in the code. " * 30 + "We decided to use jose over jsonwebtoken. " + "More words. " * 9
    said, decided = lines(event_at(0, "turn_end", text=long))
    assert said.endswith("…")
    assert decided == "decision: We decided to use jose over jsonwebtoken."


def test_the_digest_says_goal_outcome_changes_runs_fixes_decisions_and_what_is_open() -> None:
    digest = make_digest(
        seen(
            "prompt: hi",
            "prompt: Add JWT auth to the API. Let's use jose.",
            "Write: `src/auth.ts` defines verify",
            "Bash: `npm test -- auth` failed: 1 failed; TypeError: sub is undefined",
            "Edit: `src/auth.ts` `src/jwt.ts`: `payload?.sub`",
            "Bash: `npm test -- auth` 4 passed",
            "Bash: `npm run lint` failed: 2 errors",
            "task: Rate limits",
            "task: Write docs",
            "done: Write docs",
            "said: JWT auth works. The limits are not yet there.",
            "ended: exit",
        )
    )
    assert digest.goal == "Add JWT auth to the API. Let's use jose."
    assert digest.outcome == "JWT auth works. The limits are not yet there."
    assert [note.text for note in digest.changed] == ["`src/auth.ts` twice", "`src/jwt.ts` once"]
    assert digest.ran == (
        "`npm test` passed once, failed once; last: 4 passed",
        "`npm run lint` failed once; last: 2 errors",
    )
    (fix,) = digest.mended
    assert fix.text == "1 failed; TypeError: sub is undefined: gone after a change of `src/auth.ts`, `src/jwt.ts`"
    assert fix.ids == ("3", "4", "5")
    assert [(note.text, note.ids) for note in digest.decided] == [("Let's use jose.", ("1",))]
    assert [note.text.partition(" ")[0] for note in digest.open] == ["`npm", "task:", "The"]


def test_without_words_of_the_agent_the_outcome_is_what_was_done() -> None:
    digest = make_digest(seen("prompt: Fix it now", "Edit: `a.py`: `x`", "Bash: `pytest -q` 3 passed"))
    assert digest.outcome == "1 file changed; `pytest`: 3 passed"


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("Fix the flaky checkout test. It fails on Mondays.", "Fix the flaky checkout test"),
        ("see [[Home]] and `a.ts`", "see Home and a.ts"),
        ("use the key [redacted:password:0123abcd] now", "use the key … now"),
        ("장바구니 버그를 고쳐 주세요", "장바구니 버그를 고쳐 주세요"),
        ("word " * 60, " ".join(["word"] * 15) + " word…"),
    ],
)
def test_the_title_is_the_first_prompt_in_short(prompt: str, title: str) -> None:
    assert title_of(OBSERVER.see(event_at(0, "prompt", prompt=prompt)).observations) == title


def test_a_run_that_printed_errors_alone_neither_passed_nor_mended_anything() -> None:
    def ran(command: str, output: str, second: int) -> Any:
        return event_at(second, "tool", tool="Bash", action="run", command=command, output=output)

    told = lines(
        ran("make lint", "stderr:\nwarning: unused\n", 1), ran("python -m unittest", "stderr:\nRan 2\n\nOK\n", 2)
    )
    assert told == ["Bash: `make lint` on stderr: warning: unused", "Bash: `python -m unittest` OK"]
    digest = make_digest(
        seen(
            "Bash: `make check` failed: 1 failed",
            "Edit: `a.py` defines x",
            "Bash: `make check` on stderr: warning: unused",
            "Bash: `make check` on stderr: warning: unused",
        )
    )
    assert digest.ran == (
        "`make check` failed once, ran twice with an outcome that is not known; last: on stderr: warning: unused",
    )
    assert digest.mended == ()
    assert [note.text for note in digest.open] == ["`make check` still failed: 1 failed"]
