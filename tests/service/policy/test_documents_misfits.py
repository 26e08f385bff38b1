"""Where gold's text is not published, an output that does not fit it is told only that, wherever it differs."""

from __future__ import annotations

import orjson
import pytest

from service.contract.submissions import SubmissionItemsQuery, SubmissionRequest
from service.usecases.jobs import view_job
from service.usecases.submissions.results import submission_items
from service.usecases.submissions.validation import validate
from service.usecases.submissions.views import rate_limits
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.requests import GOLD_CONLLU, GOLD_TREE, loaded
from tests.fixtures.tasks import OTHER_WORDS, RIGHT
from treescore.core.registry import FORMATS

PARALLEL = {field: text.decode() for field, text in FORMATS["parallel"].example.items()}
MINIPAR = "(the D < café det)\n(café N < opens subj)\n(opens V)\n\n(Yes U)\n"
WARNED = {"name": "attachment", "params": {"words": "warn"}}
PARSEVAL = {"name": "parseval", "params": {"preset": "plain"}}
FIRST = GOLD_CONLLU.partition("\n\n")[0] + "\n\n"
AWAY = GOLD_CONLLU.replace("home", "away")
ONE_LONGER = GOLD_CONLLU + FIRST
CONLLX = FORMATS["conllx"].example.decode()


def changed(text, *pairs):
    """The text with some words replaced."""
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


WORLDS = {
    "conllu, other words": (
        "conllu", "attachment", GOLD_CONLLU, AWAY, OTHER_WORDS,
    ),
    "conllu, other sentences": ("conllu", "attachment", GOLD_CONLLU, ONE_LONGER, FIRST),
    "conllu, words or sentences": ("conllu", "attachment", GOLD_CONLLU, ONE_LONGER, OTHER_WORDS),
    "conllu, text that metrics split": ("conllu", "ud", GOLD_CONLLU, AWAY, OTHER_WORDS),
    "conllu, enhanced": ("conllu", "enhanced", GOLD_CONLLU, AWAY, OTHER_WORDS),
    "conllx": ("conllx", "attachment", CONLLX, changed(CONLLX, ("Ici", "Là")), changed(CONLLX, ("Le\t", "La\t"))),
    "bracketed, other sentences": (
        "bracketed", PARSEVAL, GOLD_TREE * 2, GOLD_TREE * 3, GOLD_TREE,
    ),
    "minipar, other sentences": (
        "minipar", "dependency_relations", MINIPAR, MINIPAR + "\n(No U)\n", MINIPAR.partition("\n\n")[0] + "\n",
    ),
    "pharaoh": ("pharaoh", "alignment", "0-0\n1-1\n", "0-0\n1-1\n2-2\n", "0-0\n"),
    "talp": ("talp", "alignment", "1-1\n2-2\n", "1-1\n2-2\n3-3\n", "1-1\n"),
    "parallel": (
        "parallel", "parallel_treebank", PARALLEL, {**PARALLEL, "target": changed(PARALLEL["target"], ("yes", "si"))},
        {**PARALLEL, "target": changed(PARALLEL["target"], ("bar", "pub"))},
    ),
}  # fmt: skip
FITS_IN_PART = {
    "bracketed, other words": (
        "bracketed", PARSEVAL, changed(GOLD_TREE, ("dog", "cat")) + GOLD_TREE,
        GOLD_TREE + changed(GOLD_TREE, ("dog", "cat")), GOLD_TREE * 2,
    ),
    "minipar, other words": (
        "minipar", "dependency_relations", MINIPAR, changed(MINIPAR, ("Yes", "No")),
        changed(MINIPAR, ("opens", "shuts")),
    ),
    "naacl, other sentences": (
        "naacl", "alignment", "0001 1 1\n0002 1 2\n", "0001 1 1\n", "0001 1 1\n0002 1 2\n0003 1 1\n",
    ),
}  # fmt: skip
VARYING = {"id", "benchmark", "created_at", "started_at", "finished_at"}


def by_part(output):
    """The outputs of a submission; all but one test have the part `en` alone."""
    return output if isinstance(output, dict) and "en" in output else {"en": output}


class World:
    """A benchmark with secret words in a store of two, and its team."""

    def __init__(self, task, number, form, metric, gold, **settings):
        self.task, self.slug = task, f"world-{number}"
        request = {
            "id": self.slug,
            "title": "World",
            "format": form,
            "metrics": [metric],
            "parts": {"en": {"gold": gold}},
        }
        task.make({**request, "feedback": "scores", **settings})
        self.team = task.team("lyon", self.slug)

    def submission(self, output):
        """What the team sees of a submission."""
        submission = self.task.submit(self.team, by_part(output), self.slug)
        self.task.work()
        return self.shown(submission)

    def shown(self, submission, caller=None):
        document = self.task.shown(caller or self.team, submission)
        return {name: value for name, value in document.items() if name not in VARYING}

    def validation(self, output):
        """What the team sees of a validation."""
        request = loaded(SubmissionRequest, {"outputs": by_part(output)})
        job, _ = validate(self.task.context, self.team, self.slug, request)
        self.task.work()
        document = orjson.loads(view_job(self.task.context, self.team, job).body)
        del document["results"]["benchmark"]
        return {name: value for name, value in document.items() if name not in VARYING}

    def headers(self):
        """The headers that show the quota."""
        return rate_limits(self.task.context, self.team, self.slug)


def two(task, form, metric, first, second, **settings):
    return [World(task, number, form, metric, gold, **settings) for number, gold in enumerate((first, second))]


@pytest.mark.parametrize(
    ("case", "feedback"),
    [*((case, "scores") for case in WORLDS), ("conllu, other words", "status"), ("conllu, other words", "items")],
)
def test_guessing_words_of_an_unpublished_text_tells_no_place(task, case, feedback):
    form, metric, *golds, output = WORLDS[case]
    worlds = two(task, form, metric, *golds, feedback=feedback)
    seen = [(world.submission(output), world.validation(output), world.headers()) for world in worlds]
    assert orjson.dumps(seen[0]) == orjson.dumps(seen[1])
    submission, validation, _ = seen[0]
    assert submission["state"] == "failed"
    (error,) = submission["failure"]["errors"]
    assert set(error) == {"code", "pointer", "part", "detail"}
    assert (error["code"], submission["failure"]["errors_total"]) == ("does-not-fit", 1)
    assert validation["results"]["parts"]["en"]["failure"]["errors"] == [error]
    assert submission["outputs"]["en"].keys() == {"digest", "bytes", "sentences", "words"}


@pytest.mark.parametrize("case", list(FITS_IN_PART))
def test_what_fits_in_part_tells_no_place_either(task, case):
    form, metric, *golds, output = FITS_IN_PART[case]
    worlds = two(task, form, metric, *golds, feedback="scores")
    seen = []
    for world in worlds:
        shown = world.submission(output)
        if shown["scores"] is not None:
            assert "sentences" not in orjson.loads(orjson.dumps(shown["scores"]["metrics"]))
            (metric_document,) = shown["scores"]["metrics"].values()
            assert "sentences" not in metric_document
            assert "sentences" not in metric_document["parts"]["en"]
        seen.append((shown["warnings"], shown["failure"], shown["state"], world.validation(output), world.headers()))
    for shown in seen:
        assert b'sentence"' not in orjson.dumps(shown)
    if case != "naacl, other sentences":
        assert seen[0] == seen[1]


def test_a_published_text_names_the_place(task):
    for publish in (True, "words", "text"):
        world = World(task, f"open-{publish}".lower(), "conllu", "attachment", RIGHT, publish_input=publish)
        (error,) = world.submission(OTHER_WORDS)["failure"]["errors"]
        assert (error["code"], error["line"], error["sentence"]) == ("word-mismatch", 4, 1)


def test_organisers_see_the_place_and_gold(task):
    world = World(task, 0, "conllu", "attachment", RIGHT)
    submission = task.submit(world.team, OTHER_WORDS, world.slug)
    task.work()
    (error,) = world.shown(submission, ORGANISER)["failure"]["errors"]
    assert error["line"] == 4
    assert "stars" in error["detail"]
    assert "closed" not in world.shown(submission, ORGANISER)["failure"]


BAD = {
    "conllu": ("attachment", GOLD_CONLLU, changed(GOLD_CONLLU, ("\t2\tobj", "\tx\tobj"))),
    "conllx": ("attachment", CONLLX, changed(CONLLX, ("\t2\tdet", "\tx\tdet"))),
    "bracketed": ("conformance", GOLD_TREE, "(TOP (S (NP (DT the)))) )\n"),
    "minipar": ("dependency_relations", MINIPAR, "the D < café det\n"),
    "naacl": ("alignment", "0001 1 1\n", "0001 1 x\n"),
    "pharaoh": ("alignment", "0-0\n", "0-0 x\n"),
    "talp": ("alignment", "1-1\n", "1-1 x\n"),
}


@pytest.mark.parametrize("form", list(BAD))
def test_errors_of_the_output_alone_keep_line_and_column(task, form):
    metric, gold, output = BAD[form]
    shown = World(task, 0, form, metric, gold).submission(output)
    errors = shown["failure"]["errors"] if shown["failure"] else shown["warnings"]
    assert errors[0]["line"] == (4 if form == "conllu" else 1), shown
    assert "does-not-fit" not in {error["code"] for error in errors}


@pytest.mark.parametrize(
    ("form", "metric", "gold", "output", "code"),
    [
        ("bracketed", "leaf_ancestor", GOLD_TREE, GOLD_TREE.replace("(TOP", "(ROOT"), "root-label"),
        ("pharaoh", "alignment", "0-0 1-1\n", "0-0 1p1\n", "alignment-swapped"),
        ("conllu", WARNED, GOLD_CONLLU, changed(GOLD_CONLLU, ("VERB", "NOUN")), "does-not-fit"),
    ],
)
def test_labels_and_links_that_differ_do_not_make_a_text_that_does_not_fit(task, form, metric, gold, output, code):
    world = World(task, 0, form, metric, gold, feedback="scores")
    shown = world.submission(output)
    assert {warning["code"] for warning in shown["warnings"]} == {code}
    assert world.validation(output)["results"]["parts"]["en"]["warnings"] == [], "it would tell of gold's annotation"
    assert "TOP" not in str(shown["warnings"])


def test_problems_of_several_parts_are_one_a_part(task):
    gold = {"en": {"gold": RIGHT}, "de": {"gold": RIGHT}}
    world = World(task, 0, "conllu", "attachment", RIGHT, parts=gold)
    shown = world.submission({"en": OTHER_WORDS, "de": RIGHT.replace("home", "away").replace("saw", "sees")})
    assert [error["part"] for error in shown["failure"]["errors"]] == ["en", "de"]
    assert (shown["failure"]["errors_total"], shown["failure"]["detail"]) == (2, "2 problems in 2 parts.")


def test_a_part_that_does_not_fit_beside_one_that_does(task):
    gold = {"en": {"gold": RIGHT}, "de": {"gold": RIGHT}}
    world = World(task, 0, "conllu", "attachment", RIGHT, parts=gold)
    shown = world.submission({"en": OTHER_WORDS, "de": RIGHT})
    (error,) = shown["scores"]["parts"]["en"]["failure"]["errors"]
    assert set(error) == {"code", "pointer", "part", "detail"}


def test_items_name_no_kind_of_misfit(task, context):
    kinds = []
    for number, gold in enumerate((changed(GOLD_TREE, ("dog", "cat")), changed(GOLD_TREE, ("(DT the) ", "")))):
        world = World(task, number, "bracketed", PARSEVAL, gold, feedback="items")
        submission = task.submit(world.team, GOLD_TREE, world.slug)
        task.work()
        page = submission_items(context, world.team, submission, SubmissionItemsQuery(limit=10))
        kinds.append(page.items[0]["problem"])
    assert kinds == [{"code": "does-not-fit"}] * 2
