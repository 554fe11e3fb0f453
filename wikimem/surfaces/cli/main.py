"""Where the `wikimem` command begins.

Nothing is imported here that `wikimem --version` does not need: shells, editors and agents ask for it often. What the
resident process can answer is handed over before the command line is even parsed.
"""

from __future__ import annotations

import os
import sys

from wikimem import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given == ["--version"]:
        sys.stdout.write(f"wikimem {__version__}\n")
        return 0
    if given[:1] == ["hook"] and "--help" not in given:
        from wikimem.surfaces.hooks.main import main as hook

        return hook(given[1:], ends_process=arguments is None)
    from wikimem.surfaces.resident.client import ServerDied, hand_over

    try:
        code = hand_over(given)
    except ServerDied:
        from wikimem.surfaces.cli.run import server_died

        return server_died(given)
    if code is not None:
        return code
    # numpy starts a thread for each core as it is imported, which takes longer than all that they could save here.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from wikimem.surfaces.cli.run import run

    return run(given)
