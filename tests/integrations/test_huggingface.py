"""The metric with the interface of the library `evaluate`, with that library and without."""

from __future__ import annotations

import importlib.util
import sys

import pytest

import treescore
from tests.conftest import ROOT
from treescore import InputError

RIGHT = "1\ta\t_\tX\t_\t_\t2\tdet\t_\t_\n2\tb\t_\tX\t_\t_\t0\troot\t_\t_\n"
WRONG = RIGHT.replace("det", "obj")
BAD = WRONG.replace("\t2\tobj", "\t9\tobj")
TREE, FLAT = "(S (NP (DT the) (NN dog)) (VP (VBD ran)))", "(S (DT the) (NN dog) (VP (VBD ran)))"
LAS = {"las_f1": 0.75, "uas_f1": 1.0}


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch):
    """The module as it is where `evaluate` is not installed."""
    monkeypatch.setitem(sys.modules, "evaluate", None)
    spec = importlib.util.spec_from_file_location("huggingface_alone", ROOT / "treescore" / "huggingface.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Treescore


@pytest.fixture
def with_library(tmp_path, monkeypatch: pytest.MonkeyPatch):
    """The library `evaluate`, with an empty cache, and the module beside it."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    evaluate = pytest.importorskip("evaluate", reason="evaluate is not installed (make libraries)")
    monkeypatch.setattr(evaluate.config, "HF_METRICS_CACHE", tmp_path / "metrics")
    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", tmp_path / "modules")
    from treescore import huggingface  # noqa: PLC0415 - after the library is there

    return evaluate, huggingface


def check_interface(make) -> None:
    """What both do alike."""
    metric = make("ud", scores=["las_f1", "uas_f1"])
    assert metric.compute(predictions=[RIGHT, WRONG], references=[RIGHT, RIGHT]) == LAS
    metric.add(prediction=RIGHT, reference=RIGHT)
    metric.add_batch(predictions=[WRONG + "\n\n"], references=[RIGHT + "\n"])
    assert metric.compute() == LAS
    assert metric.compute(predictions=[RIGHT], references=[RIGHT], scores=["blex_f1"]) == {"blex_f1": 1.0}
    assert make("parseval").compute(predictions=[FLAT], references=[TREE])["labelled_recall"] == pytest.approx(2 / 3)
    plain = make("parseval", params={"preset": "plain"}, scores=["labelled_f1"])
    assert set(plain.compute(predictions=[TREE, TREE], references=[TREE, TREE]).values()) == {1.0}
    with pytest.raises(InputError, match="Did you mean 'las_f1'"):
        metric.compute(predictions=[RIGHT], references=[RIGHT], scores=["las_f"])
    with pytest.raises(InputError) as caught:
        metric.compute(predictions=[RIGHT, BAD], references=[RIGHT, RIGHT])
    [problem] = caught.value.problems
    assert (problem.pointer, problem.line, problem.column) == ("/predictions/1", 1, 7)
    with pytest.raises(InputError) as caught:
        metric.compute(predictions=[RIGHT, RIGHT], references=[RIGHT, BAD])
    assert caught.value.problems[0].pointer == "/references/1"
    with pytest.raises(InputError, match=r"Unknown metric 'udd'\. Did you mean 'ud'\?"):
        make("udd")


def test_without_the_library_it_has_the_same_interface(alone) -> None:
    check_interface(alone)
    assert alone().compute() is None
    with pytest.raises(ValueError, match="2 predictions and 1 references"):
        alone().compute(predictions=[RIGHT, RIGHT], references=[RIGHT])


def test_all_scores_are_those_of_the_library(alone) -> None:
    found = alone("attachment").compute(predictions=[RIGHT, WRONG], references=[RIGHT, RIGHT])
    text = f"{RIGHT}\n{RIGHT}\n"
    result = treescore.score(text, {"A": f"{RIGHT}\n{WRONG}\n"}, "attachment", format="conllu")
    assert {f"attachment.{name}": value for name, value in found.items()} == dict(result["A"])


@pytest.mark.libraries
@pytest.mark.filterwarnings("default")
def test_with_the_library_it_is_a_metric_of_it(with_library) -> None:
    evaluate, huggingface = with_library
    check_interface(huggingface.Treescore)
    metric = huggingface.Treescore("ud", scores=["las_f1", "uas_f1"])
    assert isinstance(metric, evaluate.Metric)
    assert metric.name == "treescore"
    assert "references" in metric.features
    loaded = evaluate.load(huggingface.__file__, "attachment", scores=["las"])
    assert loaded.compute(predictions=[WRONG], references=[RIGHT]) == {"las": 0.5}
    both = evaluate.combine([metric, loaded])
    assert both.compute(predictions=[RIGHT, WRONG], references=[RIGHT, RIGHT]) == {**LAS, "las": 0.75}
