"""`wikimem hook AGENT EVENT`: whatever happens here, the agent goes on. Always exit 0.

Standard library only, and little of it: an agent waits for this at every prompt and every tool.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wikimem.agents.capture import Outcome

READ_LIMIT = 8_388_608
"""Bytes of a payload that are read whole. Of a larger one the beginning and the end are kept."""

HEAD_BYTES = 1_048_576
TAIL_BYTES = 262_144
"""How much of the beginning and of the end of a payload that is larger."""

QUIET_S = 2.0
"""How long an agent may pause before its payload counts as ended, although the pipe is still open."""

INJECTING = frozenset({"session_start", "prompt"})
"""Kinds of events at which memory is given, where the agent takes text at them."""

FORGETTING = frozenset({"pre_compact", "post_compact"})
"""Kinds of events after which the model has forgotten what it was given."""

Answer = Callable[["Outcome", float], str | None]
"""Text for the model, or None, in answer to an event that was kept at a place; the number is when the hook began."""


def main(arguments: Sequence[str], answer: Answer | None = None, *, ends_process: bool = False) -> int:
    """Take one event from standard input. `arguments` are AGENT, EVENT, and perhaps `--vault PATH`. Returns 0.

    `answer` is asked once the event is kept, instead of `injecting.inject`; what it gives reaches the model where the
    agent takes text at this event.
    With `ends_process` the process ends here: to take Python down in order takes a third of the time that starting it
    does, and there is nothing left to write.
    """
    began = time.monotonic()
    agent, event, vault = _named(arguments)
    try:
        text = _take(agent, event, vault, answer, began)
    except BaseException as error:  # noqa: BLE001 - an agent must never fail because its memory did
        _log(agent, event, f"failed: {type(error).__name__}")
        text = None
    try:
        _say(agent, event, text)
    except BaseException as error:  # noqa: BLE001
        _log(agent, event, f"could not answer: {type(error).__name__}")
    if ends_process:
        os._exit(0)
    return 0


def _named(arguments: Sequence[str]) -> tuple[str, str, str | None]:
    vault = os.environ.get("WIKIMEM_VAULT") or None
    plain: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--vault":
            vault = next(rest, vault)
        elif argument.startswith("--vault="):
            vault = argument.removeprefix("--vault=")
        elif not argument.startswith("-"):
            plain.append(argument)
    return (*[*plain, "", ""][:2], vault)  # type: ignore[return-value]


def _take(agent: str, event: str, vault: str | None, answer: Answer | None, began: float) -> str | None:
    data, tail = _read()
    from wikimem.agents.recursion import is_child_of_wikimem

    if is_child_of_wikimem():
        return None
    from wikimem.agents.capture import capture

    outcome = capture(agent, event, data, tail, vault)
    if said := outcome.said():
        _log(agent, event, said)
    return _answer(agent, event, outcome, answer, began) if outcome.document else None


def _answer(agent: str, event: str, outcome: Outcome, answer: Answer | None, began: float) -> str | None:
    if answer is not None:
        return answer(outcome, began)
    kind = outcome.document["kind"]
    if kind in FORGETTING:
        from wikimem.surfaces.hooks.injecting import forget

        forget(outcome)
    if kind not in INJECTING:
        return None
    from wikimem.agents.agent import agent_named
    from wikimem.agents.dialects import takes_text

    table = agent_named(agent)
    if table is None or not takes_text(table, event):
        return None
    from wikimem.surfaces.hooks.injecting import inject

    return inject(outcome, began)


def _read() -> tuple[bytes, bytes]:
    """The payload, or its beginning and its end. All of it is taken from the pipe, or the agent would wait or fail."""
    try:
        if os.isatty(0):
            return b"", b""
    except OSError:
        return b"", b""
    parts: list[bytes] = []
    size = 0
    tail = b""
    while part := _part():
        size += len(part)
        if size <= READ_LIMIT:
            parts.append(part)
        else:
            tail = (tail + part)[-TAIL_BYTES:]
    data = b"".join(parts)
    if size <= READ_LIMIT:
        return data, b""
    return data[:HEAD_BYTES], (data[-TAIL_BYTES:] + tail)[-TAIL_BYTES:]


def _part() -> bytes:
    import select

    try:
        ready, _, _ = select.select([0], [], [], QUIET_S)
        return os.read(0, 1 << 18) if ready else b""
    except OSError:
        return b""


def _say(agent: str, event: str, text: str | None) -> None:
    from wikimem.agents.agent import agent_named

    table = agent_named(agent)
    if table is None or (text is None and not table.wants_answer):
        return
    from wikimem.agents.dialects import answer_for

    said = answer_for(table, event, text)
    if said:
        view = memoryview((said + "\n").encode())
        try:
            while view:
                view = view[os.write(1, view) :]
        except OSError:
            pass  # nobody listens


def _log(agent: str, event: str, said: str) -> None:
    try:
        from wikimem.agents.log import note

        note(agent, event, said)
    except BaseException:  # noqa: BLE001 - no log is no reason to fail an agent either
        return
