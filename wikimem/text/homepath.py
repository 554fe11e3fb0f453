"""Paths that a person wrote, with `~` for a home folder."""

from __future__ import annotations

from pathlib import Path

from wikimem.errors import Invalid


def expand_home(written: str) -> Path:
    """`written` with a leading `~` or `~name` as that home folder; other paths as they are.

    Raises ValueError, in words, where there is no such home folder.
    """
    path = Path(written)
    if not written.startswith("~"):
        return path  # also ./~name, which a Path takes for ~name
    try:
        return path.expanduser()
    # An unknown user is a RuntimeError; a name that no system call takes, such as one with a NUL, a ValueError.
    except (RuntimeError, ValueError) as error:
        raise ValueError(f"there is no home folder {path.parts[0]!r}") from error


def named_path(written: str, option: str) -> Path:
    """`expand_home` of what was given as `option`, such as `--vault`. Raises Invalid, which names the option."""
    try:
        return expand_home(written)
    except ValueError as error:
        raise Invalid(
            f"{option}: {error}", hint="Write the whole path; for a folder whose name begins with ~, ./~name."
        ) from error
