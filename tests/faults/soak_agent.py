"""An agent of the soak: a process that remembers, edits and forgets until the file `stop` is there.

    python soak_agent.py NAME ROOT ACKS STOP

A line of JSON goes to the file ACKS for each operation that was acknowledged, after it was.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from pathlib import Path

from wikimem.errors import WikimemError
from wikimem.model.caller import Caller
from wikimem.operations import OPERATIONS
from wikimem.wiki import open_wiki

BY_NAME = {operation.name: operation for operation in OPERATIONS}


def main(name: str, root: Path, acks: Path, stop: Path) -> None:
    chance = random.Random(name)
    out = os.open(acks, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    wiki = open_wiki(str(root), cwd=root, caller=Caller(agent=name, cwd=root))
    mine: list[str] = []
    number = 0
    while not stop.exists():
        number += 1
        text = f"{name} says {number}"
        kinds = ["remember", "shared", *(["edit", "edit", "search"] if mine else []), *(["forget"] if mine[4:] else [])]
        kind = chance.choice(kinds)
        page = chance.choice(mine) if mine else ""
        try:
            if kind == "remember":
                done = BY_NAME["remember"].run(wiki, {"title": text, "text": text + "\n" + "words of it\n" * 20})
                page = done.page.path
                mine.append(page)
            elif kind == "search":
                done = BY_NAME["search"].run(wiki, {"query": text})
            elif kind == "forget":
                done = BY_NAME["forget"].run(wiki, {"page": page})
                mine.remove(page)
            else:
                page = "Shared.md" if kind == "shared" else page
                done = BY_NAME["edit"].run(wiki, {"page": page, "text": f"- {text}\n", "mode": "append"})
        except WikimemError as error:
            # A page is away while the person has another branch checked out; a write may meet a person's git.
            line = {"agent": name, "failed": kind, "page": page, "error": error.kind, "message": error.message}
        else:
            line = {"agent": name, "did": kind, "page": page, "text": text, "commit": getattr(done, "commit", None)}
        os.write(out, (json.dumps(line) + "\n").encode())
        time.sleep(chance.uniform(0.05, 0.4))
    wiki.close()


if __name__ == "__main__":
    main(sys.argv[1], *(Path(argument) for argument in sys.argv[2:5]))
