"""Where the `wikimem` command begins.

Nothing is imported here that `wikimem --version` does not need: shells, editors and agents ask for it often.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from wikimem import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given == ["--version"]:
        sys.stdout.write(f"wikimem {__version__}\n")
        return 0
    from wikimem.surfaces.cli.run import run

    return run(given)
