"""`python -m benchmark.hooks.floor`: for which prompts hooks find something worth saying on the example vault.

Prompts about the project of the example vault, which deserve something, and others, which deserve nothing. They were
written for this, and the floor was chosen on them.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from wikimem.search.filters import make_filter
from wikimem.search.injection import Floor
from wikimem.search.query import parse_query
from wikimem.search.search import search
from wikimem.wiki import Caller, Wiki, open_wiki

ROOT = Path(__file__).parents[2]
PROJECT = "shop-api"

ABOUT = (
    "add rate limiting to the public api",
    "the JWT verification middleware fails on the edge runtime",
    "which library do we use to verify tokens?",
    "write a test for the refresh token flow with a fixed clock",
    "deploy shop-api to staging",
    "the cart disappears after a week, fix it",
    "add a NOT NULL column discount to orders",
    "let's publish an event when an order is refunded",
    "validate the body of POST /orders",
    "how should errors look like in the response",
    "convert prices to floats for the report",
    "paginate the product list",
    "who owns payments?",
    "upgrade node to 24",
    "the redis memory is growing, look into the carts",
    "connections to postgres run out under load",
    "import the price list from the supplier",
    "retry the webhook when the payment provider is down",
    "store the created_at time in the local timezone",
    "split this pull request, it has 900 lines",
    "remove jsonwebtoken",
    "schedule the release for friday",
    "login tokens expire too soon",
    "use an ORM for the new reporting queries",
    "Write unit tests for src/middleware/auth.ts",
)

OTHERS = (
    "thanks, looks good",
    "yes",
    "go on",
    "ok do it",
    "continue with the next step",
    "commit this",
    "run the tests again",
    "what do you think?",
    "no, that is wrong, try another way",
    "can you explain that in more detail?",
    "hello",
    "looks great! push it",
    "stop",
    "undo your last change please",
    "fix the typo in the comment above",
    "that did not work, same problem",
    "rename the variable to something better",
    "make the headline bigger and blue",
    "translate this sentence into Spanish",
    "write a haiku about autumn",
    "what is the capital of Mongolia",
    "center the logo on the login screen",
    "install the eslint plugin and run it",
    "add a dark mode toggle to the settings screen",
    "set up a Kubernetes operator in Rust",
)


def main() -> int:
    """Count and print, with the prompts that came out wrong."""
    with tempfile.TemporaryDirectory() as folder:
        wiki = opened(Path(folder))
        for name, prompts, wanted in (("about the project", ABOUT, True), ("others", OTHERS, False)):
            found = {prompt: worth_saying(wiki, prompt) for prompt in prompts}
            searched = sum(any_hits for any_hits, _ in found.values())
            print(f"{name}: {sum(said for _, said in found.values())} of {len(found)}; a search finds {searched}")
            for prompt, (_, said) in found.items():
                if said != wanted:
                    print(f"  {'nothing' if wanted else 'something'} for: {prompt}")
        wiki.close()
    return 0


def opened(folder: Path) -> Wiki:
    """A copy of the example vault, indexed, in a home of its own."""
    import os

    from wikimem.operations.processes import init

    for name in [name for name in os.environ if name.startswith(("XDG_", "WIKIMEM_"))]:
        del os.environ[name]
    os.environ["HOME"] = str(folder)
    shutil.copytree(ROOT / "example-vault", folder / "vault")
    init(folder / "vault", cwd=folder)
    wiki = open_wiki(str(folder / "vault"), cwd=folder, caller=Caller(cwd=folder))
    wiki.refresh()
    return wiki


def worth_saying(wiki: Wiki, prompt: str) -> tuple[bool, bool]:
    """Whether a search finds something for the prompt, and whether any of it is worth saying unasked."""
    now = wiki.clock()
    where = make_filter(now=now, project=PROJECT)
    found = search(wiki.index, prompt, where, now=now, read_page=wiki.page_to_recall, mask=wiki.redactor.mask, limit=8)
    floor = Floor(wiki.index, parse_query(prompt, now))
    return bool(found.hits), any(floor.admits(hit) for hit in found.hits)


if __name__ == "__main__":
    sys.exit(main())
