"""eval: own questions of an own vault, its figures, comparisons, and what it tells a CI."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wikimem.errors import Invalid, NotFound
from wikimem.operations.eval import METRIC_NAMES, evaluate
from wikimem.operations.processes import init

if TYPE_CHECKING:
    from tests.conftest import Home, Run
    from tests.operations.conftest import Desk

ROOT = Path(__file__).parents[2]
QUESTIONS = ROOT / "tests" / "data" / "eval" / "example-vault.jsonl"

PORT = "The gateway listens on port 8080.\n"
QUOTA = "# Limits\n\nThe quota is nine hundred calls per tenant.\n\n# Owners\n\nAda looks after the gateway. ^o-owner\n"


def write(folder: Path, *rows: dict[str, Any], name: str = "q.jsonl") -> Path:
    file = folder / name
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return file


@pytest.fixture
def desk(make_desk: Callable[..., Desk]) -> Desk:
    made = make_desk()
    made.put("Port.md", PORT)
    made.put("Quota.md", QUOTA)
    made.put("Tea.md", "Green tea is brewed at eighty degrees.\n")
    return made


def overall(result: Any, side: int = 0) -> dict[str, float]:
    return {metric: each.mean for metric, each in result.sides[side].groups[0].metrics.items()}


# What is asked and what is counted


def test_pages_that_come_first_count_in_full_and_others_by_their_place(desk: Desk, tmp_path: Path) -> None:
    file = write(
        tmp_path,
        {"question": "which port does the gateway listen on?", "pages": ["Port"], "type": "fact"},
        {"question": "how is green tea brewed?", "pages": ["Quota"], "type": "wrong"},
    )
    result = evaluate(desk.wiki, file)
    assert result.n == 2
    assert [(group.type, group.n) for group in result.sides[0].groups] == [("all", 2), ("fact", 1), ("wrong", 1)]
    assert overall(result)["R@1"] == 0.5
    assert result.sides[0].groups[1].metrics["NDCG@10"].mean == 1.0
    assert 0 < result.sides[0].p50_ms <= result.sides[0].p95_ms
    assert not result.failed


def test_a_ranking_is_the_one_that_search_gives(desk: Desk, tmp_path: Path) -> None:
    """Whatever the search operation puts into the n-th place, eval finds at n."""
    question = "the gateway and its quota"
    hits = desk.run("search", query=question).hits
    assert len(hits) >= 2
    for place, hit in enumerate(hits, start=1):
        file = write(tmp_path, {"question": question, "pages": [hit.path]})
        assert overall(evaluate(desk.wiki, file))["MRR@10"] == pytest.approx(1 / place)


def test_a_miss_says_what_came_instead_and_on_request_why(desk: Desk, tmp_path: Path) -> None:
    file = write(tmp_path, {"question": "how is green tea brewed?", "pages": ["Home"]})
    (miss,) = evaluate(desk.wiki, file).misses
    assert (miss.line, miss.expected[0].page, miss.expected[0].rank) == (1, "Home", None)
    assert miss.came[0].path == "Tea.md"
    assert miss.came[0].trace is None
    (miss,) = evaluate(desk.wiki, file, explain=True).misses
    assert miss.came[0].trace is not None
    assert miss.came[0].trace.words == 1


def test_at_passage_level_the_right_section_or_block_counts(desk: Desk, tmp_path: Path) -> None:
    long = "".join(f"# Part {number}\n\n{'Something about gardens and hedges. ' * 30}\n\n" for number in range(6))
    desk.put("Long.md", f"{long}# Limits\n\n{'The quota of the printer is forty pages. ' * 20}\n")
    question = "the quota of the printer"
    for fragment, place in (("#Limits", 1.0), ("#Part 2", 0.0)):
        file = write(tmp_path, {"question": question, "pages": [f"Long{fragment}"]})
        assert overall(evaluate(desk.wiki, file, level="passage"))["R@1"] == place
        assert overall(evaluate(desk.wiki, file))["R@1"] == 1.0
    file = write(tmp_path, {"question": "who looks after the gateway", "pages": ["Quota#^o-owner"]})
    assert overall(evaluate(desk.wiki, file, level="passage"))["R@5 any"] == 1.0


def test_a_question_is_asked_in_its_project_and_at_its_dates(desk: Desk, tmp_path: Path) -> None:
    for project, port in (("api", 1), ("web", 2)):
        desk.put(
            f"projects/{project}/facts/Socket.md",
            f"---\ntype: fact\nproject: {project}\nvalid_to: 2025-02-01\n---\nThe socket is number {port}.\n",
        )
    asked = {"question": "which number is the socket?", "pages": ["projects/web/facts/Socket.md"]}
    assert overall(evaluate(desk.wiki, write(tmp_path, asked)))["R@10 any"] == 0.0
    then = asked | {"project": "web", "as_of": "2025-01-15"}
    assert overall(evaluate(desk.wiki, write(tmp_path, then)))["R@1"] == 1.0
    assert overall(evaluate(desk.wiki, write(tmp_path, asked | {"project": "web", "now": "2025-01-15"})))["R@1"] == 1.0
    elsewhere = evaluate(desk.wiki, write(tmp_path, then | {"project": "api"}))
    assert overall(elsewhere)["R@10 any"] == 0.0


# Pages that are not there


def test_a_page_that_is_not_there_is_an_error_by_line(desk: Desk, tmp_path: Path) -> None:
    file = write(
        tmp_path,
        {"question": "port?", "pages": ["Port"]},
        {"question": "tea?", "pages": ["Tee", "Tea"]},
        {"question": "who?", "pages": ["Nobody knows this page"]},
    )
    with pytest.raises(NotFound) as refused:
        evaluate(desk.wiki, file)
    assert refused.value.message == "q.jsonl:2: no page 'Tee' (and 1 more)"
    assert "Tea" in refused.value.hint
    assert len(refused.value.data["missing"]) == 2
    result = evaluate(desk.wiki, file, skip_missing=True)
    assert (result.n, result.skipped_questions, len(result.skipped)) == (2, 1, 2)


def test_where_no_question_is_left_skipping_is_an_error_too(desk: Desk, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        evaluate(desk.wiki, write(tmp_path, {"question": "who?", "pages": ["Nobody"]}), skip_missing=True)


def test_a_section_that_is_not_there_and_a_title_of_two_pages_are_errors_by_line(desk: Desk, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"q\.jsonl:1: no heading 'Limit of'"):
        evaluate(desk.wiki, write(tmp_path, {"question": "x", "pages": ["Quota#Limit of"]}))
    desk.put("a/Twin.md", "One.\n")
    desk.put("b/Twin.md", "Two.\n")
    with pytest.raises(Invalid, match=r"q\.jsonl:1: 'Twin' names 2 pages"):
        evaluate(desk.wiki, write(tmp_path, {"question": "x", "pages": ["Twin"]}))


@pytest.mark.parametrize("given", [{"limit": 5}, {"limit": 101}, {"require": ["r@7=1"]}, {"require": ["r@1=90"]}])
def test_arguments_that_make_no_sense_are_refused_before_the_vault_is_opened(tmp_path: Path, given: Any) -> None:
    def never() -> Any:
        raise AssertionError("opened")

    with pytest.raises(Invalid):
        evaluate(never, write(tmp_path, {"question": "x", "pages": ["y"]}), **given)


# Comparisons


def test_two_configurations_are_compared_question_by_question(desk: Desk, tmp_path: Path) -> None:
    file = write(
        tmp_path,
        {"question": "which port does the gateway listen on?", "pages": ["Port"]},
        {"question": "beverage temperature", "pages": ["Tea"]},
    )
    result = evaluate(desk.wiki, file, against=["streams=words"])
    assert [side.name for side in result.sides] == ["as searches are", "streams=words"]
    assert overall(result, 1)["R@10 any"] == 0.5  # no word of the second question is on its page
    assert result.change is not None
    assert (result.change.better, result.change.worse, result.change.same) == (0, 1, 1)
    change = result.change.metrics["R@10 any"]
    assert change.mean == -0.5
    assert change.low <= change.mean <= change.high


def test_a_configuration_against_itself_changes_nothing(desk: Desk, tmp_path: Path) -> None:
    file = write(tmp_path, {"question": "gateway", "pages": ["Port", "Quota"]})
    change = evaluate(desk.wiki, file, against=["fusion=convex"]).change
    assert change is not None
    assert {(each.mean, each.low, each.high) for each in change.metrics.values()} == {(0.0, 0.0, 0.0)}


def everything_of_git(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def test_two_commits_are_compared_and_the_vault_stays_as_it_was(desk: Desk, tmp_path: Path) -> None:
    desk.git("add", "-A")
    desk.git("commit", "-qm", "before")
    desk.git("mv", "Port.md", "Listening.md")
    desk.put("Vault of wine.md", "The cellar holds nine bottles of port.\n")
    desk.git("add", "-A")
    desk.git("commit", "-qm", "after")
    desk.put("Not committed.md", "The pantry is empty.\n")
    file = write(
        tmp_path,
        {"question": "which port does the gateway listen on?", "pages": ["Listening"]},
        {"question": "what is in the cellar?", "pages": ["Vault of wine"]},
    )
    desk.run("search", query="anything")  # what a first search keeps is there before
    before = everything_of_git(desk.root)
    result = evaluate(desk.wiki, file, against=["at=HEAD~1"])
    assert everything_of_git(desk.root) == before
    # The renamed page is the same page under its old name; the other was not there yet.
    assert overall(result)["R@1"] == 1.0
    assert overall(result, 1)["R@1"] == 0.5
    assert [side.name for side in result.sides] == ["as searches are", "at=HEAD~1"]
    left = [path.name for path in desk.wiki().folders.cache.iterdir()]
    assert not [name for name in left if name.startswith("past-")]


def test_a_past_vault_can_be_asked_alone(desk: Desk, tmp_path: Path) -> None:
    desk.git("add", "-A")
    desk.git("commit", "-qm", "before")
    (desk.root / "Tea.md").unlink()
    file = write(tmp_path, {"question": "how is green tea brewed?", "pages": ["Tea"]})
    with pytest.raises(NotFound):
        evaluate(desk.wiki, file)
    assert overall(evaluate(desk.wiki, file, at="HEAD"))["R@1"] == 1.0
    with pytest.raises(NotFound, match="no revision 'nowhere'"):
        evaluate(desk.wiki, file, at="nowhere")


def test_a_past_vault_in_a_folder_of_a_repository_has_the_line_ends_that_git_gives(home: Home, tmp_path: Path) -> None:
    top = home.path / "project"
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    (top / ".gitattributes").write_text("*.md text eol=crlf\n")
    (top / "notes").mkdir()
    init(top / "notes", cwd=top)
    (top / "notes" / "Tea.md").write_bytes(b"# Tea\r\n\r\nGreen tea is brewed at eighty degrees.\r\n")
    subprocess.run(["git", "-C", str(top), "add", "-A"], check=True)
    subprocess.run(["git", "-C", str(top), "commit", "-qm", "one"], check=True)
    from wikimem.search.pastvault import vault_at
    from wikimem.wiki import Caller, open_wiki

    wiki = open_wiki(str(top / "notes"), cwd=top, caller=Caller(cwd=top))
    with vault_at(wiki, wiki.repository.resolve("HEAD")) as past:
        assert (past.root / "Tea.md").read_bytes() == (top / "notes" / "Tea.md").read_bytes()
        assert past.root.name == "notes"
        past.refresh()
        assert past.find("Tea").id == (wiki.refresh(), wiki.find("Tea").id)[1]
    wiki.close()


def test_a_reranker_that_is_not_there_is_told_and_can_be_left_out(desk: Desk, tmp_path: Path) -> None:
    configuration = tmp_path / "home" / ".config" / "wikimem" / "config.toml"
    configuration.write_text('[reranker]\nurl = "http://127.0.0.1:1/rerank"\n')
    answered = desk.run("search", query="the gateway")
    assert "cannot be reached" in answered.streams["reranker"]
    assert answered.hits
    file = write(tmp_path, {"question": "which port does the gateway listen on?", "pages": ["Port"]})
    result = evaluate(desk.wiki, file, against=["reranker=off"])
    assert len(result.notes) == 1
    assert "the reranker did not answer every question: it cannot be reached" in result.notes[0]
    assert [overall(result, side)["R@1"] for side in (0, 1)] == [1.0, 1.0]


# The command line


@pytest.fixture
def example(home: Home) -> Path:
    root = home.path / "example"
    shutil.copytree(ROOT / "example-vault", root)
    init(root, cwd=home.path)
    return root


def test_the_example_vault_answers_what_it_is_asked(example: Path, run: Run) -> None:
    """The floor for questions over a small vault with everything in it, somewhat below what is reached."""
    asked = ["--require", "r@5-any=0.85", "--require", "mrr@10=0.6"]
    done = run("--vault", str(example), "eval", str(QUESTIONS), *asked, "--json")
    assert done.code == 0, done.stdout + done.stderr
    assert done.json["schema"] == "wikimem/eval/1"
    assert done.json["n"] == 32
    assert {each["met"] for each in done.json["requirements"]} == {True}
    kinds = {group["type"]: group["metrics"] for group in done.json["sides"][0]["groups"]}
    for language in ("korean", "japanese"):
        assert kinds[language]["R@5 any"]["mean"] == 1.0


def test_a_requirement_that_is_not_met_is_told_to_ci(vault: Path, run: Run, home: Home) -> None:
    (vault / "Port.md").write_text(PORT)
    file = write(home.path / "work", {"question": "which port does the gateway listen on?", "pages": ["Home"]})
    done = run("eval", file.name, "--require", "R@1=1")
    assert done.code == 1
    assert "required R@1 >= 1: 0.000, NOT MET" in done.stdout
    assert "1. Port  (Port.md)" not in done.stdout  # among the first five, it is no miss
    met = write(home.path / "work", {"question": "which port does the gateway listen on?", "pages": ["Port"]})
    done = run("eval", met.name, "--require", "R@1=1")
    assert done.code == 0
    assert "Every expected page is among the first five." in done.stdout


def test_errors_have_the_exit_codes_of_their_kind(vault: Path, run: Run, home: Home) -> None:
    work = home.path / "work"
    assert run("eval", "none.jsonl").code == 3
    assert run("eval").code == 2
    (work / "bad.jsonl").write_text('{"question": "x", "pages": ["Home"]}\n{"question"}\n')
    done = run("eval", "bad.jsonl", "--json")
    assert done.code == 2
    assert "bad.jsonl:2: not JSON" in done.error["message"]
    assert run("eval", write(work, {"question": "x", "pages": ["Nothing like it"]}).name).code == 3
    unknown = run("eval", write(work, {"question": "x", "pages": ["Home"]}).name, "--against", "speed=fast")
    assert unknown.code == 2
    assert "fusion=rrf" in unknown.stderr


def test_a_comparison_is_shown_in_words(vault: Path, run: Run, home: Home) -> None:
    (vault / "Port.md").write_text(PORT)
    (home.path / "work" / "q.md").write_text("# ports\n- which port does the gateway listen on? -> [[Port]]\n")
    done = run("eval", "q.md", "--against", "streams=words", "--against", "fusion=rrf", "--explain")
    assert done.code == 0, done.stderr
    assert "streams=words fusion=rrf" in done.stdout
    assert "no difference" in done.stdout
    assert "0 better, 0 worse, 1 the same" in done.stdout


def test_secrets_in_a_page_or_a_question_are_not_shown(vault: Path, run: Run, home: Home) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (vault / "Token.md").write_text(f"# Token\n\nThe deploy token is {secret}.\n")
    file = write(home.path / "work", {"question": f"is {secret} the deploy token?", "pages": ["Home"]})
    for form in ([], ["--json"]):
        done = run("eval", file.name, "--explain", *form)
        assert done.code == 0, done.stderr
        assert secret not in done.stdout + done.stderr
        assert "deploy token" in done.stdout


def test_every_metric_can_be_required_by_a_name_without_spaces() -> None:
    assert set(METRIC_NAMES) == {"r@1", "r@5-any", "r@5-all", "r@10-any", "mrr@10", "ndcg@10"}
    assert os.path.exists(QUESTIONS)
