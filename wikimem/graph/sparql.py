"""SPARQL over a graph, read-only, with limits: a query runs in a process of its own that is killed when time is up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from msgspec import Struct

from wikimem.errors import Invalid, Refused, Unavailable
from wikimem.text.triples import Triple, render_triple

MOST_BYTES: Final = 4_000_000_000
"""Memory that a query may have."""
LONGEST_QUERY: Final = 20_000
_PACKAGE: Final = Path(__file__).parents[2]
_HINT: Final = "See `wikimem help graph` for the terms that a query can use."


class Answer(Struct, frozen=True):
    """Rows of texts, in the order of `vars`; `more` says that there were more rows than asked for."""

    vars: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    more: bool


def run_query(triples: Iterable[Triple], query: str, *, limit: int, timeout_s: float) -> Answer:
    """Answer `query` over `triples`.

    Raises Invalid for a query that cannot be understood, Refused for one that would change data or reach elsewhere,
    Unavailable where it takes longer than `timeout_s` seconds or more memory than it may.
    """
    if not query.strip():
        raise Invalid("query: there is nothing to ask", hint=_HINT)
    if len(query) > LONGEST_QUERY:
        raise Invalid(f"query: more than {LONGEST_QUERY} characters", hint="Ask for less at once.")
    request = {"query": query, "limit": limit, "seconds": int(timeout_s) + 2, "bytes": MOST_BYTES}
    data = json.dumps(request) + "\n" + "".join(f"{render_triple(triple)}\n" for triple in triples)
    path = os.pathsep.join(filter(None, [str(_PACKAGE), os.environ.get("PYTHONPATH", "")]))
    try:
        # -P: a module of the folder that somebody works in is never taken for one of ours.
        done = subprocess.run(
            [sys.executable, "-P", "-m", "wikimem.graph.sparqlprocess"],
            input=data.encode(),
            capture_output=True,
            timeout=timeout_s,
            check=False,
            env={**os.environ, "PYTHONPATH": path},
        )
    except subprocess.TimeoutExpired as error:
        raise Unavailable(
            f"the query took longer than {timeout_s:g} seconds, and was stopped",
            hint="Bind more of its variables, or allow more time with --timeout.",
        ) from error
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise Unavailable(
            f"the query could not be answered: {said[-1] if said else f'its process ended with {done.returncode}'}",
            hint=_HINT,
        )
    answer = json.loads(done.stdout)
    if "refused" in answer:
        raise Refused(f"query: {answer['refused']}", hint=_HINT)
    if "invalid" in answer:
        raise Invalid(f"query: {answer['invalid']}", hint=_HINT)
    if "unavailable" in answer:
        raise Unavailable(f"query: {answer['unavailable']}", hint="Ask for less at once.")
    return Answer(tuple(answer["vars"]), tuple(map(tuple, answer["rows"])), answer["more"])
