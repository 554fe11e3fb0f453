"""The answer to a hook where no resident process gives it, and the answer that one gives."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from wikimem.errors import Invalid, WikimemError
from wikimem.operations.injecting import injected, open_to_inject

if TYPE_CHECKING:
    from wikimem.surfaces.resident.desk import Desk

BUG = 70
"""The exit code of what was not foreseen."""


def answer_alone(root: str, cwd: str, asked: str) -> bytes:
    """The answer, in JSON, from the index as far as it is; empty where the vault cannot be opened."""
    try:
        wiki = open_to_inject(root, cwd)
        return json.dumps(injected(wiki, json.loads(asked), as_indexed=True)).encode("ascii")
    except WikimemError:
        return b""


def start_for_the_next(root: str, cwd: str, asked: str) -> None:
    """Start the vault's resident process, where the user wants one, so that it answers the next question."""
    from wikimem.surfaces.resident.asking import arguments
    from wikimem.surfaces.resident.start import start_after

    try:
        start_after(open_to_inject(root, cwd), arguments(root, cwd, asked))
    except WikimemError:
        return  # the vault cannot be opened, which the next command says


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
        import logging

        # The last translator, as for a command: the process goes on to serve others.
        logging.getLogger(__name__).exception("a hook could not be answered")
        return BUG
    return 0
