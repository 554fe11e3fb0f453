"""The local reranker, with small real models: a cross-encoder and embedding models in ONNX, and the one that ships."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from wikimem.index.index import SHIPPED_MODEL
from wikimem.model.reranker import RerankerFolder
from wikimem.search.localreranker import LONGEST_TOKENS, LocalReranker
from wikimem.search.reranker import RerankError
from wikimem.text.reranker import read_reranker

WORDS = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "gateway", "quota", "has", "a", "tea", "green"]


def write_tokenizer(folder: Path) -> None:
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))


def write_model(file: Path, nodes: list[Any], shape: list[Any], *, constants: dict[str, Any], types: bool) -> None:
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if types else [])]
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "pieces"]) for name in names],
        [helper.make_tensor_value_info("answer", TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(file))


@pytest.fixture
def cross_encoder(tmp_path: Path) -> Path:
    """How often the passage, not the question, has the word `quota`."""
    nodes = [
        helper.make_node("Equal", ["input_ids", "quota"], ["is_quota"]),
        helper.make_node("Cast", ["is_quota"], ["counted"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["token_type_ids"], ["of_passage"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["counted", "of_passage"], ["counted_there"]),
        helper.make_node("ReduceSum", ["counted_there", "axis"], ["answer"], keepdims=1),
    ]
    folder = tmp_path / "cross"
    constants = {"quota": np.array(WORDS.index("quota")), "axis": np.array([1])}
    write_model(folder / "onnx/model.onnx", nodes, ["texts", 1], constants=constants, types=True)
    write_tokenizer(folder)
    return folder


@pytest.fixture
def piece_vectors(tmp_path: Path) -> Path:
    """A vector for each piece, of which none says anything for what is no word; what is padded away has a large one."""
    rows = np.eye(len(WORDS), dtype=np.float32)
    rows[1:4] = 0
    rows[0] = 100
    nodes = [helper.make_node("Gather", ["rows", "input_ids"], ["answer"], axis=0)]
    folder = tmp_path / "pieces"
    shape = ["texts", "pieces", len(WORDS)]
    write_model(folder / "model.onnx", nodes, shape, constants={"rows": rows}, types=False)
    write_tokenizer(folder)
    return folder


@pytest.fixture
def text_vectors(tmp_path: Path) -> Path:
    """As `piece_vectors`, averaged by the model itself."""
    rows = np.eye(len(WORDS), dtype=np.float32)
    rows[:4] = 0
    nodes = [
        helper.make_node("Gather", ["rows", "input_ids"], ["pieces_of"], axis=0),
        helper.make_node("ReduceMean", ["pieces_of"], ["answer"], axes=[1], keepdims=0),
    ]
    folder = tmp_path / "texts"
    write_model(folder / "model.onnx", nodes, ["texts", len(WORDS)], constants={"rows": rows}, types=False)
    write_tokenizer(folder)
    return folder


PASSAGES = ["tea", "gateway has a quota", "quota quota", "nothing here", "green tea"]


def order(folder: Path, query: str, documents: list[str]) -> list[int]:
    return LocalReranker(RerankerFolder(folder)).order(query, documents)


def test_a_cross_encoder_reads_the_question_beside_each_passage(cross_encoder: Path) -> None:
    assert order(cross_encoder, "quota quota quota", PASSAGES) == [2, 1, 0, 3, 4]


@pytest.mark.parametrize("kind", ["piece_vectors", "text_vectors"])
def test_an_embedding_model_ranks_by_cosine(kind: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(kind)
    assert order(folder, "green tea", PASSAGES)[:2] == [4, 0]
    assert order(folder, "gateway quota", PASSAGES)[:2] == [1, 2]
    # Nothing that it knows: everything stays in its place.
    assert order(folder, "xyzzy", PASSAGES) == [0, 1, 2, 3, 4]


def test_a_static_model_in_a_folder_ranks_by_cosine() -> None:
    ranked = order(SHIPPED_MODEL, "how do I sign in?", ["Tea is brewed hot.", "Users log in with a password.", ""])
    assert ranked == [1, 0, 2]


def test_a_long_passage_is_cut_and_odd_text_is_read(cross_encoder: Path) -> None:
    assert LONGEST_TOKENS == 512
    documents = ["tea " * 2000 + "quota", "quota", "half \udce9 quota quota", ""]
    assert order(cross_encoder, "quota \ud800", documents) == [2, 1, 0, 3]


def test_another_model_in_the_same_folder_is_read(cross_encoder: Path, piece_vectors: Path) -> None:
    assert order(cross_encoder, "green tea", PASSAGES) == [2, 1, 0, 3, 4]
    shutil.rmtree(cross_encoder)
    shutil.copytree(piece_vectors, cross_encoder)
    assert order(cross_encoder, "green tea", PASSAGES)[:2] == [4, 0]


def test_what_is_no_model_is_told(tmp_path: Path, cross_encoder: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "empty", tmp_path / "nowhere"):
        with pytest.raises(RerankError, match=r"lacks model\.safetensors.*no model\.onnx"):
            order(folder, "tea", PASSAGES)
    with pytest.raises(RerankError, match="cannot be read: File name too long"):
        order(tmp_path / ("a" * 300), "tea", PASSAGES)
    (cross_encoder / "onnx/model.onnx").write_bytes(b"not a model")
    with pytest.raises(RerankError, match="cannot be read"):
        order(cross_encoder, "tea", PASSAGES)


def test_without_a_tokenizer_or_with_a_model_that_does_not_run_it_is_told(cross_encoder: Path) -> None:
    nodes = [
        helper.make_node("Gather", ["rows", "input_ids"], ["found"], axis=0),
        helper.make_node("ReduceSum", ["found", "axis"], ["answer"], keepdims=1),
    ]
    constants = {"rows": np.ones(2, dtype=np.float32), "axis": np.array([1])}
    write_model(cross_encoder / "onnx/model.onnx", nodes, ["texts", 1], constants=constants, types=False)
    with pytest.raises(RerankError, match="does not run"):
        order(cross_encoder, "tea", PASSAGES)
    (cross_encoder / "tokenizer.json").unlink()
    with pytest.raises(RerankError, match=r"cannot be read.*tokenizer\.json"):
        order(cross_encoder, "tea", PASSAGES)


def test_scores_that_are_no_numbers_are_told(cross_encoder: Path) -> None:
    nodes = [
        helper.make_node("Cast", ["input_ids"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["numbers", "axis"], ["sums"], keepdims=1),
        helper.make_node("Div", ["sums", "zero"], ["answer"]),
    ]
    constants = {"zero": np.zeros(1, dtype=np.float32), "axis": np.array([1])}
    write_model(cross_encoder / "onnx/model.onnx", nodes, ["texts", 1], constants=constants, types=False)
    with pytest.raises(RerankError, match="no numbers"):
        order(cross_encoder, "tea", PASSAGES)


def test_without_onnxruntime_it_says_what_to_install(cross_encoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(RerankError, match=r"install `wikimem\[reranker\]`"):
        order(cross_encoder, "tea", PASSAGES)


def test_the_hits_of_a_search_come_in_its_order(vault: Any, cross_encoder: Path) -> None:
    vault.add(One="The gateway has a quota .", Two="The gateway quota is the quota of a quota .", Three="A gateway .")
    outcome = vault.search("gateway", reranker=LocalReranker(RerankerFolder(cross_encoder)))
    assert [hit.path for hit in outcome.hits] == ["Two.md", "One.md", "Three.md"]
    assert outcome.answered["reranker"] == "ok"
    shutil.rmtree(cross_encoder)
    outcome = vault.search("gateway", reranker=LocalReranker(RerankerFolder(cross_encoder)))
    assert len(outcome.hits) == 3
    assert "there is no model.onnx" in outcome.answered["reranker"]


def test_the_configuration_names_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert read_reranker({"path": "~/models/m"}) == RerankerFolder(Path("/home/ada/models/m"))


@pytest.mark.parametrize(
    "table", [{"path": "models/m"}, {"path": 3}, {"path": "/m", "url": "http://x"}, {"path": "/m", "timeout": 2}]
)
def test_a_folder_that_makes_no_sense_is_refused(table: Any) -> None:
    with pytest.raises(ValueError, match="path: "):
        read_reranker(table)
