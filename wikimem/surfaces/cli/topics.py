"""`wikimem help`: the pages of the manual."""

from __future__ import annotations

import difflib
import os
import shutil
import sys
from importlib.resources import files
from typing import TYPE_CHECKING, cast

import click

from wikimem.errors import NotFound
from wikimem.surfaces.cli.output import is_terminal

if TYPE_CHECKING:
    from wikimem.surfaces.cli.run import Session


def topics() -> dict[str, str]:
    """The pages of the manual by name, with the title of each."""
    found = {}
    for entry in files("wikimem").joinpath("manual").iterdir():
        if entry.name.endswith(".md"):
            title = next((line for line in entry.read_text("utf-8").splitlines() if line.startswith("# ")), "")
            found[entry.name.removesuffix(".md")] = title.removeprefix("# ")
    return dict(sorted(found.items()))


def show_topic(context: click.Context, topic: str | None) -> None:
    """Print a page of the manual, the help of a command of that name, or the list of pages. Raises NotFound."""
    session: Session = context.obj
    pages = topics()
    root = context.find_root()
    group = cast(click.Group, root.command)
    if topic is None:
        width = max((len(name) for name in pages), default=0)
        rows = "\n".join(f"  {name:<{width}}  {title}" for name, title in pages.items())
        session.output.data(f"Pages of the manual, for `wikimem help TOPIC`:\n\n{rows}\n\nCommands: `wikimem --help`.")
        return
    if topic in pages:
        _page(session, files("wikimem").joinpath("manual", f"{topic}.md").read_text("utf-8"))
        return
    command = group.get_command(root, topic)
    if command is None:
        near = difflib.get_close_matches(topic, [*pages, *group.list_commands(root)], n=3)
        raise NotFound(
            f"the manual has no page '{topic}'",
            hint=f"Did you mean {' or '.join(near)}?" if near else "See `wikimem help` for the list.",
        )
    session.output.data(command.get_help(click.Context(command, parent=root, info_name=topic)))


def _page(session: Session, text: str) -> None:
    long = len(text.splitlines()) >= shutil.get_terminal_size().lines
    if long and is_terminal(sys.stdout) and is_terminal(sys.stdin):
        # less: leave short output alone, keep colours, do not clear the screen. As git starts it.
        os.environ.setdefault("LESS", "FRX")
        click.echo_via_pager(text, color=session.output.colored(sys.stdout))
        return
    session.output.data(text)
