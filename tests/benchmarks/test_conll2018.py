"""The benchmark of a whole shared task, in small: a likeness of two teams and three parts, one of them missing once."""

from __future__ import annotations

import conll2018
import likeness
import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.fixture(scope="module")
def task(tmp_path_factory) -> conll2018.SharedTask:
    """Two teams and three parts, of which the second lacks one."""
    folder = tmp_path_factory.mktemp("conll2018")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(likeness, "SIZES", (3_500, 4_000, 5_000, 6_000, 7_000))
        patch.setattr(likeness, "LACKING", {1: 26})
        likeness.teams_of.cache_clear()
        likeness.write(folder, 2, 3)
    likeness.teams_of.cache_clear()
    return conll2018.of_folders(folder / "gold", folder / "outputs")


def test_the_service_gives_the_librarys_scores_and_a_final_board(task, tmp_path):
    run = conll2018.through_the_api(task, tmp_path, workers=1, together=2)
    _, _, expected = conll2018.alone(task)
    least, most = conll2018.check(task, run, expected)
    assert sorted(map(len, task.teams.values())) == [2, 3]
    assert 0.3 < least == most < 0.9
    assert run.rows == 2
    assert run.total_cpu > run.service_cpu > run.client_cpu > 0
    assert run.largest[0] > 50e6
    assert run.stored > 1e5
