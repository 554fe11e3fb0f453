"""What the model is told in answer to an event, within the time that an agent can be made to wait; else nothing.

The resident process answers where there is one. Where there is none this process answers by itself if it can in time,
and a child that has waited for that starts one for the next time. Nothing heavy is imported before that.
"""

from __future__ import annotations

import json
import os
import time

from wikimem.agents.given import Given
from wikimem.agents.given import forget as forget_given

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wikimem.agents.capture import Outcome

WAIT_S = {"session_start": 1.5, "prompt": 0.8}
"""Seconds from the hook's beginning within which something is said, by the kind of the event."""

WAIT_VARIABLE = "WIKIMEM_HOOK_WAIT"
"""The environment variable that says other seconds, for slow machines."""

BUDGET_AT = ("session_start", "prompt")
"""The order of `Place.injected`."""

MOST_PROMPT = 4000
"""Characters of a prompt that are asked about: its beginning, and a quarter of them from its end."""


def inject(outcome: Outcome, began: float) -> str | None:
    """Text for the model in answer to an event that was kept; `began` is when the hook did (`time.monotonic`)."""
    document, place = outcome.document, outcome.place
    kind = str(document["kind"])
    if place is None or not place.injected[BUDGET_AT.index(kind)]:
        return None
    deadline = began + _wait(kind)
    source = str(document.get("source", ""))
    try:
        with Given(place.state, _session(document), deadline) as given:
            if kind == "session_start":
                given.begin(source)
            asked = {
                "kind": kind,
                "source": source,
                "prompt": _shortened(str(document.get("prompt", ""))),
                "session": str(document.get("session", "")),
                "given": given.keys,
            }
            answer = _answered(outcome, json.dumps(asked), deadline)
            if answer is None:
                return None
            text, keys = answer
            given.add(keys)
            return text
    except TimeoutError:
        return None


def forget(outcome: Outcome) -> None:
    """The model of this session is about to forget what it was given."""
    if outcome.place is not None:
        forget_given(outcome.place.state, _session(outcome.document))


def _wait(kind: str) -> float:
    try:
        return max(0.0, float(os.environ.get(WAIT_VARIABLE, "")))
    except ValueError:
        return WAIT_S[kind]


def _session(document: dict[str, object]) -> str:
    """What tells this session from others; an agent that names none has one for each folder that it works in."""
    return str(document.get("session") or f"{document['agent']}\n{_folder(document)}")


def _folder(document: dict[str, object]) -> str:
    return str(document.get("cwd") or document.get("ran_in") or "/")


def _shortened(prompt: str) -> str:
    if len(prompt) <= MOST_PROMPT:
        return prompt
    return f"{prompt[: MOST_PROMPT * 3 // 4]}\n{prompt[-MOST_PROMPT // 4 :]}"


def _answered(outcome: Outcome, asked: str, deadline: float) -> tuple[str, list[str]] | None:
    """The text and the keys of what it gives; None where there is nothing to say in time."""
    from wikimem.surfaces.resident import asking

    place, cwd = outcome.place, _folder(outcome.document)
    if place is None:
        return None
    off = asking.is_off()
    reply = None if off else asking.ask(place.root, cwd, asked, deadline)
    if reply is None:
        done = -1 if off else _start_when_done(place.root, cwd, asked)
        try:
            # Without an index there is nothing to say.
            reply = _by_itself(place.root, cwd, asked, deadline) if place.has_index() else b""
        finally:
            if done >= 0:
                os.close(done)
    try:
        answer = json.loads(reply)
        text, keys = answer["text"], answer["given"]
        return (text, keys) if isinstance(text, str) and text and isinstance(keys, list) else None
    except (ValueError, TypeError, KeyError):
        return None


def _start_when_done(root: str, cwd: str, asked: str) -> int:
    """Fork a child that starts the resident process once the descriptor that is returned is closed, at the latest when
    this process ends: to start it costs time that the answer needs. -1 where that cannot be had."""
    try:
        wait, done = os.pipe()
        child = os.fork()
    except OSError:
        return -1
    if child:
        os.close(wait)
        return done
    try:
        # Neither the agent's pipes nor a lock of this process may live on in the child.
        os.setsid()
        os.dup2(wait, 3)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        os.closerange(4, 4096)
        os.read(3, 1)
        from wikimem.surfaces.hooks.alone import start_for_the_next

        start_for_the_next(root, cwd, asked)
    finally:
        os._exit(0)


def _by_itself(root: str, cwd: str, asked: str, deadline: float) -> bytes:
    """The answer of this process; empty where it takes too long: the thread then ends with the process."""
    import threading

    found: list[bytes] = []

    def answer() -> None:
        from wikimem.surfaces.hooks.alone import answer_alone

        found.append(answer_alone(root, cwd, asked))

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    thread.join(max(0.0, deadline - time.monotonic()))
    return found[0] if found else b""
