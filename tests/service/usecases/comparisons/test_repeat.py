"""Comparisons of submissions, made again from files: `treescore repeat` prints the bytes that organisers get."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner
from sqlalchemy import select

import treescore
from service.caller import Caller
from service.store.packing import unpack
from service.store.tables import owned_texts, texts
from service.usecases.comparison_views import view_comparison
from service.usecases.submissions.submissions import delete_submission
from tests.fixtures.contexts import NOON, ORGANISER
from tests.fixtures.tasks import ANYONE, BENCHMARK, LONG, TWO_PARTS, Task, column, once, spoilt
from treescore.cli.main import main
from treescore.core.registry import FORMATS
from treescore.core.wording import DIFFERENT_SENTENCES
from treescore.evaluation.benchmark import COMMAND

OTHER = LONG.replace("She\tshe", "He\the")
BOTH = {"en": {"gold": LONG}, "de": {"gold": OTHER}}


def other(first: int) -> str:
    return spoilt(first).replace("She\tshe", "He\the")


class Files:
    """The texts of a benchmark as files: gold of its revision, and all outputs that were ever sent."""

    def __init__(self, task: Task, folder: Path) -> None:
        self.task = task
        self.gold, self.outputs = folder / "gold", folder / "outputs"
        self.answer = folder / "comparison.json"

    def keep(self) -> None:
        """Write every text that the store has now."""
        with self.task.context.store.read() as db:
            rows = db.execute(select(owned_texts.c.owner, owned_texts.c.name, texts.c.body).join(texts)).all()
        for owner, name, body in rows:
            kind, _, rest = name.partition("/")
            folder = self.outputs / owner if kind == "outputs" else self.gold
            folder.mkdir(parents=True, exist_ok=True)
            (folder / (f"{rest}.items.json" if kind == "items" else rest.replace("/", "."))).write_bytes(unpack(body))

    def download(self, name: str, caller: Caller = ORGANISER) -> dict[str, Any]:
        """Keep the answer of a comparison."""
        body = view_comparison(self.task.context, caller, name).body
        self.answer.write_bytes(body)
        return orjson.loads(body)

    def repeated(self, status: int = 0, *given: Path) -> Any:
        """The command, run on these files."""
        places = [str(place) for place in given or (self.answer, self.gold, self.outputs)]
        done = CliRunner().invoke(main, ["repeat", *places])
        assert done.exit_code == status, (done.exit_code, done.stderr, done.exception)
        return done

    def same(self, name: str) -> dict[str, Any]:
        """The answer of a comparison, which the command prints byte for byte."""
        self.keep()
        answer = self.download(name)
        assert answer["command"] == COMMAND
        assert self.repeated().stdout_bytes == self.answer.read_bytes()
        return answer

    def asked(self, submissions: Any = "leaderboard", **more: Any) -> dict[str, Any]:
        """The answer to an organiser's question, which the command prints too."""
        name = self.task.ask(submissions=submissions, **more)
        self.task.settle()
        return self.same(name)

    def board(self, **chosen: Any) -> dict[str, Any]:
        """The comparison behind a board, which the command prints too."""
        return self.same(self.task.leaderboard(ORGANISER, **chosen)["significance"]["comparison"])


@pytest.fixture
def files(task: Task, tmp_path: Path) -> Files:
    return Files(task, tmp_path)


@once
def scored(task: Task) -> None:
    """Two parts, three teams: one lacks a part, of one a part cannot be scored."""
    task.make({**TWO_PARTS, "feedback": "gold"}, parts=BOTH)
    task.submit(task.team("lyon"), {"en": spoilt(2), "de": other(3)})
    task.submit(task.team("oslo"), {"en": spoilt(9)})
    task.submit(task.team("bergen"), {"en": spoilt(5), "de": "no treebank\n"})
    task.submit(task.team("prague"), {"en": spoilt(12), "de": other(8)})
    task.settle()


@pytest.fixture
def two(scored: None, files: Files) -> Files:
    """The files of a benchmark with two parts."""
    return files


def test_the_command_prints_the_bytes_of_a_board_whose_rows_were_picked(task: Task, files: Files) -> None:
    task.make(parts={"en": {"gold": LONG}})
    lyon = task.team("lyon")
    sent = [task.submit(lyon, spoilt(wrong)) for wrong in (3, 1, 5, 7)]
    task.submit(task.team("oslo"), spoilt(9))
    task.submit(task.team("prague"), spoilt(2))
    task.settle()
    before = files.board()
    assert sorted(row["submissions"] for row in before["question"]["systems"]) == [1, 1, 4]
    task.change(lyon, sent[0], withdrawn=True)
    delete_submission(task.context, lyon, sent[2])
    task.settle()
    assert files.board()["pairs"] == before["pairs"]


def test_sentences_that_are_left_out_win_no_claim_and_are_charged_in_the_warning(task: Task, files: Files) -> None:
    long, short = "(TOP (S (NP (D a) (N b)) (VP (V c) (X d))))\n", "(TOP (S (NP (D a)) (VP (V b))))\n"
    half = (long + short.replace("NP", "X")) * 10
    old = (long.replace("(NP (D a) (N b)) (VP", "(D a) (VP (N b)") + short) * 10 + half
    new = ("(TOP (S (N rubbish)))\n" + short) * 10 + half
    gold = (long + short) * 20
    task.make({**BENCHMARK, "format": "bracketed", "metrics": ["parseval"], "main_score": "parseval",
               "errors": "exclude", "feedback": "scores", "leaderboard": {"margin": 0.01}},
              parts={"en": {"gold": gold}})  # fmt: skip
    sent = [task.submit(task.team(team), output) for team, output in (("old", old), ("new", new))]
    task.settle()
    answer = files.asked(sent)
    assert f"left out, 10 of {sent[1]}, 0 of {sent[0]}." in answer["warnings"][0]
    [pair] = answer["pairs"]
    assert pair["difference"] * (1 if pair["a"] == sent[1] else -1) > 0.05
    assert [pair["noninferiority"][each]["established"] for each in sent] == [True, False]
    charged = treescore.score(
        gold, {"old": old, "new": new}, {"name": "parseval", "params": {"errors": "zero"}}, format="bracketed"
    )
    figures = {name: f"{100 * charged[name]['parseval']:.2f}" for name in ("old", "new")}
    assert f"is {sent[1]} {figures['new']}, {sent[0]} {figures['old']} (p" in answer["warnings"][0]
    named = view_comparison(task.context, ORGANISER, answer["id"], "markdown").body.decode()
    assert f"is new Parsing Group: biaffine-7 {figures['new']}, old" in named
    first, last = task.leaderboard()["rows"]
    assert (first["reason"], last["rank"], last["score"] > first["score"]) == (None, 2, True)
    assert last["reason"].endswith(f"With `errors: zero`, which charges them, it has {figures['new']}.")
    task.patch(feedback="rounded")
    assert task.leaderboard()["rows"][1]["reason"] is None


def test_only_compared_sentences_that_one_output_lacks_under_the_metric_are_warned_of(task: Task, files: Files) -> None:
    gold = [f"1\tdog{n}\t_\tN\t_\t_\t2\tnsubj\t2:nsubj\t_\n2\tbarks\t_\tV\t_\t_\t0\troot\t0:root\t_\n\n"
            for n in range(96)]  # fmt: skip
    task.make(metrics=["dependency_relations", "enhanced"], main_score=None, errors="exclude", feedback="scores",
              parts={"en": {"gold": "".join(gold)}}, closes_at="2026-11-09T12:00:00Z",
              leaderboard={"split": {"private": 0.5}})  # fmt: skip

    def sent(team: str, lacking: list[int]) -> str:
        changed = [tree.replace("2:nsubj", "_").replace("0:root", "_") if at in lacking else tree
                   for at, tree in enumerate(gold)]  # fmt: skip
        return task.submit(task.team(team), "".join(changed).replace("nsubj", "obj", 2 + len(team)))

    def warned(*submissions: str, **score: str) -> list[str]:
        found = files.asked([*submissions], **score)["warnings"]
        return [each for each in found if each.startswith(DIFFERENT_SENTENCES)]

    first = [sent("lyon", []), sent("oslo", [90])]
    task.settle()
    [part] = files.asked(first)["question"]["parts"]
    public = [at - 1 for at in part["chosen"] if at > 5]
    private = [at for at in range(5, 96) if at + 1 not in part["chosen"]]
    ids = [sent("riga", private[:3]), sent("bergen", public[:2]), sent("prague", [*public[:2], *private[:5]])]
    task.settle()
    # another metric lacks them; only the other share does; both lack the same
    assert not warned(first[0], ids[1], score="dependency_relations")
    assert not warned(first[0], ids[0], score="enhanced")
    assert not warned(*ids[1:], score="enhanced")
    [warning] = warned(first[0], ids[2], score="enhanced")
    assert f"left out, 2 of {ids[2]}, 0 of {first[0]}." in warning


@pytest.mark.parametrize(
    "part", ["macro", "en", *(pytest.param(part, marks=pytest.mark.slow) for part in ("pooled", "de", "pud"))]
)
def test_the_command_prints_the_bytes_of_every_kind_of_board(two: Files, part: str) -> None:
    two.task.patch(tracks={"pud": ["en", "de"]})
    answer = two.asked(part=part)
    assert answer["part"] == part
    assert answer.get("part_names") == (["en", "de"] if part in ("macro", "pud") else None)
    assert len(answer["question"]["missing"]) == (2 if part in ("macro", "pooled", "pud") else 0)
    two.board(part=part)


def test_the_command_prints_the_bytes_of_an_organisers_settings(two: Files) -> None:
    for settings in (
        {"seed": 7},
        {"test": "mcnemar", "unit": "token", "part": "en"},
        {"test": "compare_pl", "seed": 3, "part": "de"},
        {"test": "bootstrap", "interval": "bca", "score": "attachment.uas"},
        {"alternative": "greater", "correction": "bh", "shuffles": 50},
    ):
        two.asked(**settings)


def test_listed_submissions_are_taken_as_they_are(two: Files) -> None:
    answer = two.asked(column(two.task.leaderboard(ORGANISER), "submission")[:2], seed=5)
    assert answer["selection"] == "none"
    assert {row["submissions"] for row in answer["question"]["systems"]} == {1}


def test_the_command_prints_the_bytes_of_training_runs(task: Task, files: Files) -> None:
    task.make(parts={"en": {"gold": LONG}})
    for team, wrong in (("lyon", (6, 2, 4)), ("oslo", (8, 9)), ("prague", (5,))):
        caller = task.team(team)
        task.submit(caller, spoilt(wrong[0]), name="first")
        for at, each in enumerate(wrong[1:]):
            task.submit(caller, spoilt(each), name=f"run {at}", run_of="first")
    task.settle()
    answer = files.board()
    assert sorted(len(row["runs"]) for row in answer["question"]["systems"]) == [0, 1, 2]


@pytest.mark.parametrize("items", [None, {"blocks": [f"d{at // 2}" for at in range(24)]}])
def test_the_command_prints_the_bytes_of_documents(task: Task, files: Files, items: Any) -> None:
    marked = "".join(
        (f"# newdoc id = d{at // 4}\n" if at % 4 == 0 and items is None else "") + sentence + "\n\n"
        for at, sentence in enumerate(LONG.strip().split("\n\n"))
    )
    part = {"gold": marked, "items": items} if items else {"gold": marked}
    task.make({**BENCHMARK, "parts": {"en": part}})
    for at, team in enumerate(("lyon", "oslo", "prague")):
        task.submit(task.team(team), spoilt(3 * at + 1))
    task.settle()
    answer = files.board()
    assert answer["units"] == "block"
    assert (answer["question"]["parts"][0]["items"] is None) == (items is None)


def test_what_is_left_out_costs_nothing_again(task: Task, files: Files) -> None:
    task.make({**TWO_PARTS, "errors": "exclude", "metrics": ["parseval"], "main_score": "parseval.labelled_f1",
               "format": "bracketed"},
              parts={name: {"gold": "(S (A a) (B b))\n" * 4} for name in ("en", "de")})  # fmt: skip
    right, wrong = "(S (A a) (B b))\n", "(X (A a) (B b))\n"
    sent = {
        "lyon": {"en": right * 4, "de": (right + wrong) * 2},
        "oslo": {"en": wrong * 4, "de": ("\n" + right) * 2},
        "bergen": {"en": right * 4},
    }
    ids = [task.submit(task.team(team), outputs) for team, outputs in sent.items()]
    task.settle()
    answer = files.asked(ids)
    assert answer["question"]["charged"] is False
    assert [each["name"] for each in answer["untested"]] == ids[2:]
    assert files.asked(ids, part="en")["untested"] == []


def test_the_command_reads_formats_of_several_texts(task: Task, files: Files) -> None:
    gold = {field: text.decode() * 3 for field, text in FORMATS["parallel"].example.items()}
    task.make({**BENCHMARK, "format": "parallel", "metrics": ["parallel_treebank"], "main_score": None,
               "parts": {"en": {"gold": gold}}})  # fmt: skip
    task.submit(task.team("lyon"), {"en": gold})
    task.submit(task.team("oslo"), {"en": {**gold, "source": gold["source"].replace("NP", "XP")}})
    task.settle()
    files.board()


def test_the_command_prints_the_bytes_of_each_share(task: Task, files: Files) -> None:
    closes = NOON + timedelta(days=7)
    halves = {"closes_at": closes.isoformat(), "leaderboard": {"split": {"private": 0.5}}}
    task.make({**TWO_PARTS, "feedback": "scores", "feedback_after_closing": "gold"}, parts=BOTH, **halves)
    for at, team in enumerate(("lyon", "oslo", "prague")):
        caller = task.team(team)
        task.submit(caller, {"en": spoilt(3 * at + 4), "de": other(4 * at + 2)})
        task.submit(caller, {"en": spoilt(3 * at + 1), "de": other(3 * at)} if at else {"en": spoilt(1)})
    task.settle()
    for share in ("public", "private"):
        assert sum(part["sentences"] for part in files.board(split=share)["question"]["parts"]) == 24
    name = task.leaderboard(ORGANISER, split="private")["significance"]["comparison"]
    task.context = replace(task.context, now=lambda: closes + timedelta(hours=1))
    assert files.download(name, ANYONE)["command"] == COMMAND
    assert files.repeated().stdout_bytes == files.answer.read_bytes()


def test_one_part_needs_no_folders(task: Task, files: Files) -> None:
    task.make(parts={"en": {"gold": LONG}})
    ids = [task.submit(task.team(team), spoilt(wrong)) for team, wrong in (("lyon", 1), ("oslo", 9))]
    task.settle()
    files.asked()
    for each in ids:
        text = (files.outputs / each / "en").read_bytes()
        (files.outputs / each / "en").unlink()
        (files.outputs / each).rmdir()
        (files.outputs / each).write_bytes(text)
    done = files.repeated(0, files.answer, files.gold / "en", files.outputs)
    assert done.stdout_bytes == files.answer.read_bytes()


def test_what_the_command_reads_is_shown_with_gold(task: Task, two: Files) -> None:
    name = task.leaderboard(ORGANISER)["significance"]["comparison"]
    with_gold = two.download(name, ANYONE)
    assert "question" in with_gold
    two.keep()
    assert two.repeated().stdout_bytes == two.answer.read_bytes()
    task.patch(feedback="scores")
    below = two.download(name, ANYONE)
    assert below["command"] is None
    assert "question" not in below
    assert two.download(name)["command"] == COMMAND
    # what is shown without gold cannot be repeated
    two.download(name, ANYONE)
    assert "as organisers get it" in two.repeated(2).stderr


def test_other_answers_are_told(two: Files) -> None:
    answer = two.asked(seed=3)
    (system,) = (each["name"] for each in answer["systems"][:1])
    (two.outputs / system / "en").write_text(spoilt(20))
    done = two.repeated(1)
    assert orjson.loads(done.stdout_bytes)["pairs"] != answer["pairs"]
    assert f"The answer differs from {two.answer} in: systems, pairs" in done.stderr
    assert "It was made by" not in done.stderr
    answer["signature"]["version"] = "0.0.1"
    two.answer.write_bytes(orjson.dumps(answer))
    assert "It was made by version 0.0.1" in two.repeated(1).stderr


def test_wrong_files_say_what_to_do(two: Files, tmp_path: Path) -> None:
    answer = two.asked(seed=3)
    system = answer["systems"][0]["name"]
    gold, output = two.gold / "en", two.outputs / system / "en"

    def refused(*given: Path) -> str:
        return two.repeated(2, *given).stderr

    nothing = tmp_path / "nothing"
    assert "nothing'. Give the JSON of GET" in refused(nothing, two.gold, two.outputs)
    nothing.write_text("[")
    assert "This is not valid JSON" in refused(nothing, two.gold, two.outputs)
    for wrong in (b"[]", b"{}", orjson.dumps({**answer, "question": {**answer["question"], "systems": [{}]}})):
        nothing.write_bytes(wrong)
        assert "This is not a comparison with its question" in refused(nothing, two.gold, two.outputs)
    nothing.write_bytes(orjson.dumps({**answer, "settings": {"tests": 5}}))
    assert "'tests' is not one of" in refused(nothing, two.gold, two.outputs)
    nothing.write_bytes(orjson.dumps({**answer, "question": {**answer["question"], "metric": 5}}))
    assert "metrics/0: This must be a name" in refused(nothing, two.gold, two.outputs)
    nothing.write_bytes(orjson.dumps({**answer, "score": "attachment.none"}))
    assert "[unknown-score]" in refused(nothing, two.gold, two.outputs)
    text = output.read_text()
    output.write_text(text.partition("\n\n")[0] + "\n\n")
    assert "[sentence-count-mismatch]" in refused()
    output.unlink()
    assert f"{system}/en'. Put the output of {system} for the part en there." in refused()
    output.write_text(text)
    gold.write_text(LONG + LONG)
    assert "This is not the gold of the part en. Give the text that was sent. [other-gold]" in refused()
    gold.unlink()
    assert "Put the gold of the part en there." in refused()


def test_items_that_were_not_sent_are_refused(task: Task, files: Files) -> None:
    part = {"gold": LONG, "items": {"blocks": [f"d{at // 2}" for at in range(24)]}}
    task.make({**BENCHMARK, "parts": {"en": part}})
    for team, wrong in (("lyon", 1), ("oslo", 9)):
        task.submit(task.team(team), spoilt(wrong))
    task.settle()
    files.board()
    items = files.gold / "en.items.json"
    items.write_bytes(orjson.dumps({"blocks": ["d"] * 24}))
    assert "These are not the items of the part en." in files.repeated(2).stderr
    items.unlink()
    assert "Put the items of the part en there." in files.repeated(2).stderr
