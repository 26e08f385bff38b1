"""What the scores of a submission mean for the caller: rank, differences, thresholds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from treescore.cli.exits import MISSED, OK, REFUSED, WRONG_INPUT, Stopped
from treescore.cli.options import Threshold
from treescore.client import Client, ClientError
from treescore.core.wording import DIFFERENT_SENTENCES, IN_FRACTIONS, p_words


@dataclass(slots=True)
class Outcome:
    """What the command prints at the end.

    Attributes:
        document: as `--json` prints it.
        status: exit status.
        complaints: why it is not 0.
        failed_parts: part -> failure, of parts that could not be scored.
    """

    document: dict[str, Any]
    status: int = OK
    complaints: list[str] = field(default_factory=list)
    failed_parts: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def fail(self, status: int, complaint: str) -> None:
        """Add a complaint. A score that is hidden outweighs a missed threshold."""
        self.status = max(self.status, status)
        self.complaints.append(complaint)


def require_margin(benchmark: Mapping[str, Any]) -> None:
    """Refuse --not-worse-than on a benchmark without a margin, before anything is sent.

    Raises:
        Stopped: it has none.
    """
    if benchmark["leaderboard"].get("margin") is None:
        raise Stopped(
            WRONG_INPUT,
            f"--not-worse-than: the benchmark {benchmark['id']} has no margin. Ask its organisers to set "
            "`leaderboard.margin`, or use --fail-if-worse-than.",
        )


def resolved(client: Client, benchmark: Mapping[str, Any], thresholds: Sequence[Threshold]) -> list[Threshold]:
    """Return thresholds with the direction of their scores, checked before anything is sent.

    Raises:
        Stopped: unknown score.
    """
    names = dict(_entry(entry) for entry in benchmark["metrics"])
    directed = []
    for threshold in thresholds:
        key, _, score = threshold.score.partition(".")
        if key not in names:
            raise Stopped(WRONG_INPUT, f"--fail-below {threshold.score}: unknown metric. Metrics: {', '.join(names)}.")
        catalogue = {each["name"]: each for each in client.scorer(names[key])["scores"]}
        if score not in catalogue:
            some = ", ".join(f"{key}.{name}" for name in list(catalogue)[:8])
            raise Stopped(WRONG_INPUT, f"--fail-below {threshold.score}: unknown score. Scores: {some}, ...")
        refused = threshold.refused(*catalogue[score]["range"])
        if refused:
            raise Stopped(WRONG_INPUT, refused)
        directed.append(threshold._replace(higher_is_better=catalogue[score]["higher_is_better"]))
    return directed


def outcome_of(
    client: Client,
    benchmark: Mapping[str, Any],
    submission: Mapping[str, Any],
    thresholds: Sequence[Threshold],
    opponents: Mapping[str, str | None],
) -> Outcome:
    """Collect rank, comparisons and thresholds of a scored submission.

    Args:
        client: to ask for what the submission does not say.
        benchmark: its document.
        submission: its document.
        thresholds: with their directions.
        opponents: option -> submission to compare with, or None where there is none.

    Raises:
        ClientError: an opponent is unknown, or the service does not answer.
    """
    scores = submission["scores"]
    document: dict[str, Any] = {
        "benchmark": benchmark["id"],
        **{name: submission[name] for name in ("id", "name", "team", "state")},
        "feedback": benchmark["feedback"],
        "parts": len(benchmark["parts"]),
        "quota": submission.get("quota"),
        "main": None,
        "scores": scores,
        "rank": None,
        "comparisons": [],
        "thresholds": [],
    }
    outcome = Outcome(document)
    several = len(benchmark["parts"]) > 1
    if scores is not None:
        address = benchmark["main_score"]
        value, interval = shown(scores, address, several=several)
        document["main"] = {"score": address, "value": value, "ci95": interval}
        document["rank"] = _rank(client, benchmark["id"], submission)
        outcome.failed_parts = {
            part: scored["failure"] for part, scored in (scores.get("parts") or {}).items() if scored.get("failure")
        }
    _check_thresholds(outcome, benchmark, thresholds, several=several)
    _compare(client, outcome, opponents)
    if any(compared["verdict"] is not None for compared in document["comparisons"]):
        document["quota"] = client.submission(submission["id"]).get().get("quota")  # a question counts
    return outcome


def shown(scores: Mapping[str, Any], address: str, *, several: bool) -> tuple[float | None, Any]:
    """Return a score and its 95 % interval: the mean of the parts where there are several, as on the board."""
    key, *path = address.split(".")
    metric = scores["metrics"][key]
    names = ("macro", "macro_ci95") if several else ("scores", "ci95")
    value, interval = (_inside(metric.get(name), path) for name in names)
    return value, interval


def _inside(value: Any, path: Sequence[str]) -> Any:
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _entry(entry: Any) -> tuple[str, str]:
    """Return key and name of a metric entry."""
    return (entry, entry) if isinstance(entry, str) else (entry.get("key") or entry["name"], entry["name"])


def _rank(client: Client, slug: str, submission: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the row of the submission, else of its team; None where neither is ranked or the board is hidden."""
    try:
        of_benchmark = client.benchmark(slug)
        board = of_benchmark.board()
        rows: Sequence[Mapping[str, Any]] = board["rows"] if board["next"] is None else list(of_benchmark.rows())
    except ClientError as error:
        if error.status in (401, 403, 404):
            return None
        raise
    row = next((row for row in rows if row["submission"] == submission["id"]), None)
    if row is None and submission["team"] is not None:
        row = next((row for row in rows if row["team"] == submission["team"]), None)
    if row is None:
        return None
    names = ("rank", "rank_interval", "cluster", "p_next", "submission")
    ranked = sum(row["rank"] is not None for row in rows)
    return {**{name: row[name] for name in names}, "of": ranked, "pending": board["significance"]["pending"]}


def _left_out(benchmark: Mapping[str, Any], scores: Mapping[str, Any], address: str) -> str:
    """Say that the score leaves out sentences of the submission; empty where it covers or charges all."""
    scored, _, total = str(scores.get("covered") or "").partition("/")
    params = {
        _entry(entry)[0]: {} if isinstance(entry, str) else entry.get("params", {}) for entry in benchmark["metrics"]
    }[address.partition(".")[0]]
    if scored == total or params.get("errors", benchmark.get("errors")) != "exclude":
        return ""
    return (
        f"The score leaves out sentences without a usable output: {scored} of {total} are covered. Send an output for "
        "each, or ask the organisers for `errors: zero`."
    )


def _check_thresholds(
    outcome: Outcome, benchmark: Mapping[str, Any], thresholds: Sequence[Threshold], *, several: bool
) -> None:
    scores = outcome.document["scores"]
    for threshold in thresholds:
        value = None if scores is None else shown(scores, threshold.score, several=several)[0]
        kept = threshold.kept_by(value) if scores is not None else None
        outcome.document["thresholds"].append(
            {"score": threshold.score, "bound": threshold.bound, "value": value, "kept": kept}
        )
        left_out = "" if kept is None else _left_out(benchmark, scores, threshold.score)
        if kept is None:
            outcome.fail(REFUSED, f"{threshold.text}: the feedback level of this benchmark hides the score.")
        elif left_out:
            outcome.fail(MISSED, f"{threshold.text}: not decided. {left_out}")
        elif not kept:
            outcome.fail(MISSED, f"{threshold.text}: missed, it is {_number(value)}.")


def _compare(client: Client, outcome: Outcome, opponents: Mapping[str, str | None]) -> None:
    known: dict[str | None, dict[str, Any]] = {}
    for option, opponent in opponents.items():
        if opponent not in known:
            known[opponent] = _compared(client, outcome.document, opponent)
            outcome.document["comparisons"].append(known[opponent])
        compared = known[opponent]
        if option == "compare_with" or opponent is None:
            continue
        if compared["warning"] is not None:
            outcome.fail(MISSED, compared["warning"])
        elif compared["reason"] is not None:
            outcome.fail(REFUSED, f"The comparison with {opponent} is not available: {compared['reason']}")
        elif option == "not_worse_than":
            _require_not_worse(outcome, compared)
        elif compared["verdict"] == "worse":
            outcome.fail(MISSED, f"It is significantly worse than {opponent}.")


def _require_not_worse(outcome: Outcome, compared: Mapping[str, Any]) -> None:
    """Fail unless it is established that the submission is not worse by more than the margin."""
    found = compared["noninferiority"]
    if compared["verdict"] == "same":
        return
    if found is None:
        outcome.fail(REFUSED, f"The comparison with {compared['with']} has no test of the benchmark's margin.")
    elif not found["established"]:
        outcome.fail(MISSED, f"It is not shown that it is {_not_worse(compared)}.")


def _not_worse(compared: Mapping[str, Any]) -> str:
    """Return the claim and its p."""
    found = compared["noninferiority"]
    claim = f"not worse than {compared['with']} by more than {found['margin']:g}"
    return claim if found["p"] is None else f"{claim}: p {p_words(found['p'])}"


def _compared(client: Client, document: Mapping[str, Any], opponent: str | None) -> dict[str, Any]:
    """Compare the submission with another one on the main score; `reason` says why a verdict is missing."""
    own, main = document["id"], document["main"]
    unknown: dict[str, Any] = {
        "with": opponent, "verdict": None, "difference": None, "p": None, "noninferiority": None, "reason": None,
        "warning": None,
    }  # fmt: skip
    if opponent is None:
        return {**unknown, "reason": "the board shows no other submission."}
    if opponent == own:
        return {**unknown, "verdict": "same", "difference": 0.0}
    if main is None:
        return {**unknown, "reason": "the feedback level of this benchmark hides scores."}
    question = {"score": main["score"], "submissions": [own, opponent]}
    try:
        answer = client.benchmark(document["benchmark"]).compare(**question, check=False)
    except ClientError as error:
        if error.status == 403:
            return {**unknown, "reason": error.lines[0]}
        raise
    if answer["state"] != "succeeded":
        return {**unknown, "reason": str((answer.get("failure") or {}).get("detail", "the comparison failed."))}
    pairs = answer["pairs"]
    if not pairs:
        untested = answer.get("untested") or [{"reason": "they cannot be compared."}]
        return {**unknown, "reason": f"not tested: {untested[0]['reason']}"}
    pair = pairs[0]
    first = pair["a"] == own
    verdict = "equal"
    if pair["significant"] and pair["better"] is not None:
        verdict = "better" if (pair["better"] == "a") == first else "worse"
    difference = None if pair["difference"] is None else pair["difference"] * (1 if first else -1)
    return {
        **unknown,
        "verdict": verdict,
        "difference": difference,
        "p": pair["p_adjusted"],
        "noninferiority": _noninferiority(pair, own),
        "comparison": answer["id"],
        "warning": next((each for each in answer.get("warnings", ()) if each.startswith(DIFFERENT_SENTENCES)), None),
    }


def _noninferiority(pair: Mapping[str, Any], own: str) -> dict[str, Any] | None:
    """Return margin, p and verdict of "this submission is not worse"; None where its margin is not tested."""
    tested = pair.get("noninferiority")
    if tested is None or own not in tested:
        return None
    return {"margin": tested["margin"], "p": tested[own]["p_adjusted"], "established": tested[own]["established"]}


def report_lines(document: Mapping[str, Any]) -> list[str]:
    """Return the document as lines of text."""
    name = f' "{document["name"]}"' if document["name"] not in (None, document["id"]) else ""
    state = "scored" if document["state"] == "succeeded" else document["state"]
    lines = [f"{document['id']}{name} on {document['benchmark']}: {state}"]
    main = document["main"]
    if main is None and document["state"] == "succeeded" and document["feedback"] not in ("none", "status"):
        lines.append(
            "Its scores are held back: the benchmark shows a score only where it is clearly better than your team's "
            "earlier ones."
        )
    elif main is None:
        lines.append(f"The feedback level of this benchmark ({document['feedback']}) shows no scores.")
    else:
        mean = f" (mean of {document['parts']} parts)" if document["parts"] > 1 else ""
        interval = main["ci95"]
        bounds = "" if interval is None else f", 95 % interval {_number(interval['low'])}-{_number(interval['high'])}"
        lines.append(f"{main['score']} {_number(main['value'])}{bounds}{mean}")
        lines += _rank_lines(document)
    lines += [_comparison_line(compared) for compared in document["comparisons"]]
    for threshold in document["thresholds"]:
        if threshold["kept"]:
            lines.append(f"{threshold['score']} keeps the threshold {threshold['bound']:g}")
    left = [
        f"{name} {each['left']} of {each['limit']}"
        for name, each in (document["quota"] or {}).items()
        if isinstance(each, Mapping) and each["limit"] is not None
    ]
    return [*lines, *([f"quota left: {', '.join(left)}"] if left else [])]


def _rank_lines(document: Mapping[str, Any]) -> list[str]:
    ranked = document["rank"]
    if ranked is None or ranked["rank"] is None:
        return ["not ranked on the board"]
    more = []
    if ranked["rank_interval"] is not None:
        low, high = ranked["rank_interval"]
        more.append(f"could be {low}" + (f" to {high}" if high != low else ""))
    if ranked["cluster"] is not None:
        more.append(f"cluster {ranked['cluster']}")
    if ranked["pending"]:
        more.append("significance on the board still pending")
    of_team = "" if ranked["submission"] == document["id"] else f" by the team's {ranked['submission']}"
    return [f"rank {ranked['rank']} of {ranked['of']}{of_team}" + (f" ({'; '.join(more)})" if more else "")]


def _comparison_line(compared: Mapping[str, Any]) -> str:
    if compared["reason"] is not None:
        return f"compared with {compared['with'] or 'the best'}: {compared['reason']}"
    if compared["verdict"] == "same":
        return f"compared with {compared['with']}: it is this submission"
    words = {"better": "significantly better", "worse": "significantly worse", "equal": "no significant difference"}
    difference = "" if compared["difference"] is None else f"{IN_FRACTIONS.signed(compared['difference'])}, "
    p = "" if compared["p"] is None else f"p {p_words(compared['p'])}: "
    line = f"compared with {compared['with']}: {difference}{p}{words[compared['verdict']]}"
    if compared["noninferiority"] is None:
        return line
    shown = "shown" if compared["noninferiority"]["established"] else "not shown"
    return f"{line}; {_not_worse(compared)}: {shown}"


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}"
