"""The benchmark of a whole shared task, in small: two teams' outputs for English EWT, in three parts."""

from __future__ import annotations

import conll2018
import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.real, pytest.mark.slow]


@pytest.fixture(scope="module")
def task(real_data, tmp_path_factory) -> conll2018.SharedTask:
    """Two of the outputs in three parts."""
    source = real_data / "ud_en_ewt" / "conll2018"
    return conll2018.cut(source, tmp_path_factory.mktemp("conll2018"), teams=2, parts=3)


def test_the_parts_hold_all_words_of_gold_and_of_outputs(task, real_data):
    source = real_data / "ud_en_ewt" / "conll2018"
    for name, files in {"gold": task.gold, **task.teams}.items():
        whole = (source / f"{name}.conllu").read_bytes()
        assert len(files) == 3
        assert sum(conll2018.words_of(path.read_bytes()) for path in files.values()) == conll2018.words_of(whole)


def test_the_service_gives_the_librarys_scores_and_a_final_board(task, tmp_path):
    run = conll2018.through_the_api(task, tmp_path, workers=1, together=2)
    _, _, expected = conll2018.alone(task)
    shown = {
        team: {part: found["scores"]["las_f1"] for part, found in document["scores"]["metrics"]["ud"]["parts"].items()}
        for team, document in run.documents.items()
    }
    assert shown == expected
    assert run.rows == 2
    assert run.service_cpu > run.client_cpu > 0
