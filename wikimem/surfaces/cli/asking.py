"""Asking a person at a terminal before something is done that they may not want."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from wikimem.errors import Refused
from wikimem.surfaces.cli.output import is_terminal

if TYPE_CHECKING:
    from wikimem.surfaces.cli.output import Output


def ask_at_terminal(name: str, output: Output, preview: Callable[[], Any]) -> None:
    """Show what would be done (the result that `preview` gives), and return only when a person says yes.

    Raises Refused where they say no, and where there is no terminal to ask at.
    """
    from wikimem.present.text import text

    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        raise Refused(
            f"{name} asks before it does this, and there is no terminal to ask at",
            hint="Pass --yes to do it, or --dry-run to see what would be done.",
        )
    output.message(text(preview()))
    if not click.confirm("Go on?", err=True):
        raise Refused(f"{name}: nothing was done", hint="You answered no.")
