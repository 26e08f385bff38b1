"""Which names look alike, and which are reserved; characters that are not shown or look like others are escaped."""

from __future__ import annotations

import pytest

from service.errors import Conflict, Unprocessable
from service.usecases.benchmarks.teams import check_names

OTHERS = ["Oslo", "MIT", "MIT Lab", "Darmstadt", "Lille", "Malm\u00f6", "\u041b\u044c\u0432\u0456\u0432", "\u2605"]
ALIKE = [
    *("oslo", "OSLO", " Oslo.", "O s l o", "0slo", "Osl\u00f6", "Oslo\u3164", "Oslo\ufe0f", "Osl\u0335o", "\u041eslo"),
    *(
        "\uff2f\uff53\uff4c\uff4f",
        "\U0001d40e\U0001d42c\U0001d425\U0001d428",
        "O\u0455lo",
        "\u039fSL\u039f",
        "Os\uff4co",
    ),
    *(
        "MlT",
        "M1T",
        "M|T",
        "\u041cI\u0422",
        "MlT Lab",
        "MIT L\u0430b",
        "Darrnstadt",
        "LiIIe",
        "Li11e",
        "Malmo",
        "\u2605",
    ),
    *("MlT Lab", "\u041b\u042c\u0412I\u0412", "\U0001d40e\U0001d42c\U0001d425\U0001d428"),
]
RESERVED = [
    *("Organiser", "ORGANIZERS", "org-anisers", "0rgan1zer", "The Organisers", "\u041erganiser"),
    *("ORGAN\u0399SER", "Org\u0430niser", "Orga\u00f1iser", "baseline", "Base line", "baseIine", "Official baseline 2"),
    *(
        "\uff22aseline",
        "\U0001d505aseline",
        "baseline2",
        "admin",
        "\u0430dmin1",
        "gold",
        "GO1D",
        "Reference",
        "Treesc0re",
    ),
    "anonymous",
    *("ba5eline", "b@$el1ne", "BA$ELINE", "0rgan!s3r", "baseline\u00b2", "baseline\u2460", "organiser\u2122"),
    *("\u0262old", "orga\u0274iser", "\u03bfrg\u03b1n\u03b9s\u03b5r", "org\u2200niser"),
]
FREE = [
    *("Osaka", "Oslo 2", "MLT", "MLT Lab", "Lilie", "Lyon", "Gold Coast", "Golden", "Reference Grammar Lab", "Organic"),
    *("Base Camp", "\u2606", "\u0915\u0940", "\u6771\u4eac", "metz-1"),
]


@pytest.mark.parametrize(("names", "code"), [(ALIKE, "name-taken"), (RESERVED, "reserved-name"), (FREE, None)])
def test_names_that_are_refused(names, code):
    found = {}
    for name in names:
        try:
            check_names([("/name", name)], OTHERS)
        except (Conflict, Unprocessable) as error:
            found[name] = error.type_slug if isinstance(error, Conflict) else error.problems[0].code
    assert found == {name: code for name in names if code}


@pytest.mark.parametrize("name", ["\u3164", " \u2800 ", "\ufe0f"])
def test_a_name_that_shows_nothing_is_refused(name):
    with pytest.raises(Unprocessable) as error:
        check_names([("/name", name)], [])
    assert error.value.problems[0].code == "bad-name"


def test_marks_that_make_other_words_are_kept():
    check_names([("/name", "\u0915\u093e")], ["\u0915\u0940"])
