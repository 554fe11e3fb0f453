"""Search over a real vault: found, filtered, explained, and true at the moment of the answer."""

from __future__ import annotations

import math
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from wikimem.errors import Invalid, Unavailable
from wikimem.search.fuse import FUSIONS
from wikimem.text.dates import Period

if TYPE_CHECKING:
    from tests.search.conftest import SmallVault

JOSE = """---
type: decision
title: Use jose for JWT verification
valid_from: 2025-09-12
confidence: 0.9
supersedes:
  - "[[Use jsonwebtoken]]"
---
JWTs are verified with [[jose]] in `src/middleware/auth.ts`, because the edge runtime has no Node crypto.
"""
OLD = """---
type: decision
title: Use jsonwebtoken
status: superseded
valid_from: 2025-01-10
valid_to: 2025-09-12
---
JWTs are verified with jsonwebtoken in the Express middleware.
"""
LIBRARY = """---
type: entity
title: jose
---
A library for signatures and encryption that needs no native modules. Its author is Filip.
"""
PRICES = """---
title: Prices are integer cents
---
Rounding of floating point lost a cent on refunds.
"""


def small(vault: SmallVault) -> SmallVault:
    vault.add(Use_jose=JOSE, Use_jsonwebtoken=OLD, jose=LIBRARY, Prices=PRICES)
    return vault


def test_a_natural_question_finds_its_page_with_all_that_a_hit_says(vault: SmallVault) -> None:
    hit = small(vault).search("how do we verify JWTs at the edge?").hits[0]
    assert (hit.path, hit.type, hit.status, hit.trust, hit.confidence) == (
        "Use jose.md", "decision", "active", "human", 0.9,
    )  # fmt: skip
    assert hit.title == "Use jose for JWT verification"
    assert "edge runtime has no Node crypto" in hit.passage
    assert "---" not in hit.passage
    assert hit.valid_from == datetime(2025, 9, 12)
    assert hit.id == vault.index.find_pages("Use jose.md")[0].id


def test_every_score_is_the_sum_of_its_trace(vault: SmallVault) -> None:
    small(vault)
    for fusion in FUSIONS.values():
        for group in ("page", "passage"):
            outcome = vault.search('jose "edge runtime" JWT', fusion=fusion, group=group)
            assert outcome.hits
            for hit in outcome.hits:
                assert math.fsum((*hit.trace.parts.values(), *hit.trace.boosts.values())) == hit.score
                assert (
                    set(hit.trace.parts)
                    == set(hit.trace.ranks)
                    <= {"words", "page", "vectors", "closeness", "pairs", "graph"}
                )
    assert "phrase" in vault.search('"edge runtime" JWT').hits[0].trace.boosts


def test_a_page_beside_the_answer_is_found_by_the_link_and_the_trace_says_how(vault: SmallVault) -> None:
    hits = {hit.path: hit for hit in small(vault).search("JWT verification middleware").hits}
    trace = hits["jose.md"].trace
    assert "graph" in trace.ranks
    assert "jose" in trace.graph_path


def test_what_was_replaced_is_found_only_as_of_its_time(vault: SmallVault) -> None:
    small(vault)
    assert "Use jsonwebtoken" not in vault.paths("jsonwebtoken JWT")
    spring = Period(datetime(2025, 5, 1), datetime(2025, 6, 1))
    then = vault.paths("JWT verified", as_of=spring)
    assert "Use jsonwebtoken" in then
    assert "Use jose" not in then


def test_a_date_is_asked_to_its_end(vault: SmallVault) -> None:
    small(vault)

    def on(day: int) -> list[str]:
        asked = Period(datetime(2025, 9, day), datetime(2025, 9, day + 1))
        return [path for path in vault.paths("JWT verified", as_of=asked) if path.startswith("Use")]

    assert on(11) == ["Use jsonwebtoken"]
    assert on(12) == ["Use jose"]


def test_a_period_that_ends_before_it_begins_holds_nowhere(vault: SmallVault) -> None:
    vault.add(odd="---\nvalid_from: 2025-06-01\nvalid_to: 2025-02-01\n---\nThe moon base opens.")
    assert vault.paths("moon base") == []
    assert vault.paths("moon base", as_of=Period(datetime(2025, 4, 1), datetime(2025, 4, 2))) == []
    assert vault.paths("moon base", status="any") == ["odd"]


def test_filters_reach_every_stream(vault: SmallVault) -> None:
    vault.add(
        projects__shop__facts__Deploy="---\nproject: shop\n---\nDeploy with the blue script. See [[Secret plan]].",
        projects__other__facts__Secret_plan="---\nproject: other\n---\nDeploy with the red script.",
        global__facts__Habit="Deploy on Tuesdays.",
    )
    for streams in (["words"], ["vectors"], ["graph"], ["words", "vectors", "graph"]):
        found = vault.paths("Deploy with Secret plan script", project="shop", streams=streams)
        assert "projects/other/facts/Secret plan" not in found
    assert set(vault.paths("deploy", project="shop")) == {"projects/shop/facts/Deploy", "global/facts/Habit"}
    assert vault.paths("deploy", project="shop", with_global=False) == ["projects/shop/facts/Deploy"]


@pytest.mark.parametrize("text", ["zzzqqq xyzzy plugh", "qwrtz vbnmp", "(", "*", "\u200b.", "\ufffd\x00"])
def test_nonsense_finds_nothing_and_changes_nothing(vault: SmallVault, text: str) -> None:
    tags = "\n".join(f"  - tag{n}" for n in range(40))
    vault.add(**{f"Note_{n}": f"---\ntags:\n{tags}\n---\nNote {n} about shipping and returns." for n in range(44)})
    before = vault.index.manifest()
    outcome = vault.search(text)
    assert (outcome.hits, outcome.next_offset) == ((), None)
    assert outcome.answered["words"] == "ok"
    assert vault.index.manifest() == before


@pytest.mark.parametrize(
    "text",
    ["jose AND unicode", "pre-jose", "GB/s jose", "jose don't", "C++ jose", "(jose", '"jose', "jose*", "NOT jose"],
)
def test_words_beside_signs_are_found(vault: SmallVault, text: str) -> None:
    assert "jose" in small(vault).paths(text)


@pytest.mark.parametrize(
    ("page", "question"),
    [
        ("인증 토큰은 30분 뒤에 만료된다.", "토큰은 언제 만료되나요"),
        ("認証トークンは三十分で失効する。", "認証トークンの失効はいつ"),
        ("支付失败后系统会重试三次。", "支付失败会重试几次"),
    ],
)
def test_other_scripts(vault: SmallVault, page: str, question: str) -> None:
    vault.add(page=page, other="Unrelated text about gardening.")
    assert vault.paths(question)[0] == "page"


def test_an_empty_query_and_senseless_options_are_refused(vault: SmallVault) -> None:
    with pytest.raises(Invalid, match="query is empty"):
        vault.search(" \n")
    with pytest.raises(Invalid, match="limit"):
        vault.search("x", limit=0)
    with pytest.raises(Invalid, match="offset"):
        vault.search("x", offset=-1)
    with pytest.raises(Invalid, match="no stream 'magic'"):
        vault.search("x", streams=["magic"])


def test_a_missing_model_is_named_and_the_others_answer(wordy_vault: SmallVault) -> None:
    outcome = small(wordy_vault).search("JWT verification")
    assert outcome.hits[0].path == "Use jose.md"
    assert outcome.answered["words"] == outcome.answered["graph"] == "ok"
    assert outcome.answered["vectors"] not in ("", "ok")
    with pytest.raises(Unavailable, match="vectors"):
        wordy_vault.search("JWT", streams=["vectors"])


def test_a_page_shows_its_best_passages_and_group_passage_shows_each(vault: SmallVault) -> None:
    filler = "Nothing of note happened in this part of the story, and it goes on for quite some words. " * 12
    text = f"# Start\nThe walrus sings.\n\n{filler}\n\n# End\nThe walrus sleeps near the harbour.\n\n{filler}"
    vault.add(Long=text, Short="A seal.")
    hits = vault.search("walrus").hits
    assert hits[0].path == "Long.md"
    assert sum("walrus" in t for t in (hits[0].passage, *(more.text for more in hits[0].more))) == 2
    passages = vault.search("walrus", group="passage").hits
    assert sorted(hit.heading for hit in passages if "walrus" in hit.passage) == ["End", "Start"]
    assert len({(hit.path, hit.start) for hit in passages}) == len(passages)


def test_one_session_and_what_came_of_it_fills_three_places_before_others_get_theirs(vault: SmallVault) -> None:
    session = "---\ntype: session\nsession: s1\n---\nCache cache cache: the cache was cold, the cache was slow."
    derived = "---\ntitle: Cache {n}\nsources:\n  - '[[Session one]]'\n---\nThe cache cache cache {n}."
    vault.add(
        Session_one=session,
        **{f"Derived_{n}": derived.format(n=n) for n in range(4)},
        Same_session="---\nsession: s1\n---\nCache cache cache warm.",
        Elsewhere="Somebody once mentioned a cache in a long text about gardens, rivers and other slow matters.",
    )
    first = vault.paths("cache", limit=4)
    assert "Elsewhere" in first
    everything = vault.paths("cache", limit=20)
    assert len(everything) == 7
    assert everything.index("Elsewhere") == 3


def test_pages_of_hits_follow_each_other_without_gap_or_repeat(vault: SmallVault) -> None:
    vault.add(**{f"Note_{n:02d}": f"Shipping note {n}, about parcels{' and parcels' * (n % 5)}." for n in range(23)})
    offset: int | None = 0
    seen: list[str] = []
    while offset is not None:
        outcome = vault.search("parcels shipping", limit=5, offset=offset)
        seen += [hit.path for hit in outcome.hits]
        offset = outcome.next_offset
    assert len(seen) == len(set(seen)) == 23
    assert vault.paths("parcels shipping", limit=5) == vault.paths("parcels shipping", limit=5)


def test_the_same_vault_indexed_anew_gives_the_same_answer(vault: SmallVault) -> None:
    first = small(vault).search("JWT verification jose")
    vault.index.update([], set(vault.index.manifest()), mask=vault.mask)
    assert vault.search("JWT verification jose").hits == ()
    vault.sync()
    assert vault.search("JWT verification jose").hits == first.hits


def test_the_only_page_with_an_exact_word_comes_first_whatever_is_near_in_meaning(vault: SmallVault) -> None:
    """An error code is looked up as it is written; forty pages about errors must not stand before it."""
    vault.add(
        Rare="After the upgrade of the printer the log said ERR_7731 and the lamp went out.",
        **{
            f"Error_{n}": f"An error occurred, code {n}: an unknown failure of the system, error again."
            for n in range(40)
        },
    )
    assert vault.paths("error code ERR_7731")[0] == "Rare"
    assert vault.paths("ERR_7731")[0] == "Rare"


def test_secrets_that_a_person_wrote_are_masked_in_every_field(vault: SmallVault) -> None:
    vault.mask = lambda text: text.replace("hunter2", "[secret]")
    vault.add(
        Login="---\ntitle: Login hunter2\nsources:\n  - note hunter2\n---\n# Use hunter2\nThe password is hunter2."
    )
    hit = vault.search("login password").hits[0]
    assert "hunter2" not in repr(hit)
    assert "[secret]" in hit.passage


def test_a_question_about_a_person_is_not_answered_with_another_person(vault: SmallVault) -> None:
    others = {f"Person_{name}": f"{name} has hobbies: chess, films and hiking. Hobbies matter." for name in "ABCDEF"}
    vault.add(
        Joanna="---\ntype: entity\n---\nDesigner in the web team.",
        Pottery="---\ntype: preference\n---\n[[Joanna]] spends her weekends on pottery and old cameras.",
        **others,
    )
    assert set(vault.paths("What are Joanna's hobbies?", limit=2)) == {"Joanna", "Pottery"}


def test_a_question_in_the_first_person_is_answered_by_what_the_person_said(vault: SmallVault) -> None:
    """An agent that talks about a thing at length does not outvote the person who said which one is theirs."""
    told = "A port is a number; choose one that is free, such as port 80 for web pages."
    mine = "**user**: we put the server on port 8123\n\n**assistant**: Done, it listens there."
    vault.add(
        Mine=f"---\ntype: session\n---\n{mine}",
        **{f"Told_{n}": f"---\ntype: session\n---\n**user**: hello\n\n**assistant**: {told} {n}" for n in range(6)},
    )
    assert vault.paths("Which port did I choose for the server?")[0] == "Mine"
    hit = vault.search("Which port did I choose for the server?").hits[0]
    assert hit.trace.parts["said"] > 0
    assert "said" not in vault.search("Which port has the server?").hits[0].trace.parts


def test_notes_without_speakers_count_as_said_by_their_person(vault: SmallVault) -> None:
    vault.add(Note="The server is on port 8123.", Talk="**user**: hello\n\n**assistant**: the server has a port")
    assert vault.paths("Which port did I choose for the server?")[0] == "Note"


@pytest.mark.parametrize("word", ["quuxword4x", "E_CONN_7731", "zrkPtlQv"])
def test_the_only_page_with_an_identifier_comes_clearly_first(vault: SmallVault, word: str) -> None:
    """What the model makes of the fragments of a word that it does not know must not outvote the word."""
    vault.add(**{f"Note_{n:02d}": f"Parcel {n} goes by road, and word {n} of connection is quick." for n in range(40)})
    vault.add(Note_07=f"Parcel 7 waits for {word}.")
    first, *others = vault.search(word, limit=5).hits
    assert word in first.passage
    assert all(first.score > 1.3 * other.score for other in others)
