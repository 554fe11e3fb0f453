"""The answer to a hook where no resident process gives it, and the answer that one gives."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from wikimem.errors import Invalid, WikimemError
from wikimem.operations.injecting import injected, open_to_inject

if TYPE_CHECKING:
    from wikimem.surfaces.resident.desk import Desk

log = logging.getLogger(__name__)

BUG = 70
"""The exit code of what was not foreseen."""


def answer_alone(root: str, cwd: str, asked: str) -> bytes:
    """The answer, in JSON, from the index as far as it is; empty where the vault cannot be opened.

    A resident process is started for the next time, where the user wants one.
    """
    from wikimem.surfaces.resident.start import start_after

    try:
        wiki = open_to_inject(root, cwd)
        start_after(wiki, request_of(root, cwd, asked))
        return json.dumps(injected(wiki, json.loads(asked))).encode("ascii")
    except WikimemError:
        return b""


def request_of(root: str, cwd: str, asked: str) -> list[str]:
    """The arguments that make a resident process answer a hook."""
    from wikimem.surfaces.resident.asking import arguments

    return arguments(root, cwd, asked)


def answer_in_resident(arguments: Sequence[str], desk: Desk) -> int:
    """Print the answer that `arguments` ask for, from the vault that is open on the desk; returns an exit code."""
    from wikimem.surfaces.resident.asking import parts

    try:
        root, cwd, text = parts(arguments)
        asked = json.loads(text)
        if not isinstance(asked, dict):
            raise ValueError
        wiki = open_to_inject(root, cwd)
        desk.take(wiki)
        print(json.dumps(injected(wiki, asked)), end="")
    except WikimemError as error:
        return error.exit_code
    except ValueError:
        return Invalid("this is no question of a hook").exit_code
    except Exception:
        # The last translator, as for a command: the process goes on to serve others.
        log.exception("a hook could not be answered")
        return BUG
    return 0
