"""Complete the settings that PATCH may change: times, quotas, feedback, leaderboard. They change no score.

Organisers are warned of scoring that does not charge what an output lacks, and of figures over few sentences.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from operator import itemgetter

from sqlalchemy import Connection

from service.contract.benchmarks import BenchmarkChanges
from service.errors import error_document, invalid, refuse
from service.policy import figures
from service.requests import MACRO, MAX_ABOUT, MISSING, POOLED, Missing, Request
from service.store import revisions
from service.store.benchmarks import Benchmark
from service.usecases.runs import moment
from service.usecases.scoring.config import scoring_config, scoring_warnings
from service.usecases.scoring.shares import gold_of, golds_of, sizes_of
from treescore.core import params, wording
from treescore.errors import Problem, ProblemList, ScoringError
from treescore.evaluation.report import full_address, margin_warnings

PART = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)
DEFAULTS: Mapping[str, params.Json] = {
    "opens_at": None,
    "closes_at": None,
    "quota": {"scored_per_day": 5, "scored_total": 100, "attempts_per_day": 20, "comparisons_per_day": 20},
    "feedback": "scores",
    "feedback_after_closing": None,
    "rounding": None,
    "publish_input": False,
    "tracks": {},
    "leaderboard": {
        "public": True,
        "anonymous": False,
        "pick": "best",
        "frozen_at": None,
        "ladder": False,
        "scores": None,
        "margin": None,
        "unit": "auto",
        "split": None,
        "accept_one_sided": False,
    },
    "about": {**dict.fromkeys(("description", "rules", "citation", "licence", "contact")), "links": [], "dates": []},
    "notice": None,
}


def complete_settings(
    changes: BenchmarkChanges,
    scoring: Mapping[str, params.Json],
    parts: Collection[str],
    now: datetime,
    before: Mapping[str, params.Json] = DEFAULTS,
) -> dict[str, params.Json]:
    """Return complete settings: what a request gives over what was there before.

    `quota`, `leaderboard` and `about` are changed member by member.

    Args:
        changes: the request.
        scoring: the scoring configuration of the revision that is shown; it says which scores can be listed.
        parts: of that revision; tracks that the request gives are made of them.
        now: when a notice that the request changes is dated.
        before: complete settings.

    Raises:
        Unprocessable: the benchmark would close before it opens, its ladder or its split does not fit the other
            settings, it ranks by a one-sided score, it lists a score or a part that it does not have, or says too much
            of itself.
    """
    settings = _merged({**DEFAULTS, **before}, changes)
    if isinstance(changes.leaderboard, Request) and changes.leaderboard.given().get("scores") is not None:
        settings["leaderboard"]["scores"] = _addresses(scoring, settings["leaderboard"]["scores"])
    if changes.tracks is not MISSING:
        refuse(_wrong_tracks(changes.tracks, parts))
    opens, closes = settings["opens_at"], settings["closes_at"]
    if opens is not None and closes is not None and closes <= opens:
        detail = f"`closes_at` ({closes}) must be later than `opens_at` ({opens})."
        raise invalid("closes-before-opening", "/closes_at", detail)
    require_two_sides(scoring, settings["leaderboard"])
    _check_ladder(settings)
    _check_split_levels(settings)
    about = settings["about"]
    settings["about"] = {**about, "links": about["links"] or [], "dates": _in_order(about["dates"] or ())}
    _check_about(settings["about"])
    settings["notice"] = _notice(changes.notice, before["notice"], now)
    return settings


def _in_order(dates: Iterable[Mapping[str, params.Json]]) -> list[dict[str, params.Json]]:
    """Return dates by time, in UTC."""
    return sorted(({**each, "at": _in_utc(each["at"])} for each in dates), key=itemgetter("at"))


def _in_utc(at: params.Json) -> params.Json:
    """Return a time as answers have it; what is none is one already."""
    return moment(at.astimezone(UTC)) if isinstance(at, datetime) else at


def _notice(text: str | Missing | None, before: params.Json, now: datetime) -> params.Json:
    """Return a notice with its date, which is that of the change; without words there is none."""
    if text is MISSING or (before is not None and before["text"] == text):
        return before
    return {"text": text, "at": moment(now)} if text is not None and text.strip() else None


def _addresses(scoring: Mapping[str, params.Json], listed: Sequence[str]) -> list[str]:
    """Return the full addresses of scores.

    Raises:
        Unprocessable: one is unknown, with its pointer.
    """
    config = scoring_config(scoring)
    problems = ProblemList()
    addresses = []
    for number, score in enumerate(listed):
        try:
            addresses.append(full_address(*config.score(score)))
        except ScoringError as error:
            problems.extend(error.at(f"/leaderboard/scores/{number}").problems)
    refuse(problems)
    return list(dict.fromkeys(addresses))


def require_two_sides(scoring: Mapping[str, params.Json], leaderboard: Mapping[str, params.Json]) -> None:
    """Refuse a main score that an output without an analysis wins, unless the organiser accepts it.

    Raises:
        Unprocessable: the main score is one-sided.
    """
    entry, score = scoring_config(scoring).main
    if not score.one_sided or leaderboard["accept_one_sided"]:
        return
    others = [each.name for each in entry.metric.table.scores if not each.one_sided]
    detail = (
        f"{full_address(entry, score)} is one-sided: an output that says next to nothing, or everything that can be "
        f"said, gets its best value, so that parsing does not win the board. Rank by {' or '.join(others[:2])}, or "
        'write "accept_one_sided": true in `leaderboard`.'
    )
    raise invalid("one-sided-score", "/main_score", detail)


def check_part_name(problems: ProblemList, value: str, pointer: str, what: str = "part") -> None:
    """Check the name of a part or a track, which is used in addresses."""
    if not PART.fullmatch(value) or not value.strip(".") or value in (MACRO, POOLED):
        detail = (
            f"The name of a {what} has 1 to 64 letters, digits, `_`, `-` and `.`, not only dots. "
            f"{MACRO} and {POOLED} are reserved for all parts together."
        )
        problems.add(Problem(code="bad-part-name", pointer=pointer, detail=detail))


def _wrong_tracks(tracks: Mapping[str, Sequence[str]], parts: Collection[str]) -> ProblemList:
    """Return the problems of tracks: their names are those of no part, and what they name are parts."""
    problems = ProblemList()
    for name, members in tracks.items():
        pointer = f"/tracks/{params.escape(name)}"
        if name in parts:
            detail = f"{name!r} is the name of a part. Parts and tracks have different names."
            problems.add(Problem(code="part-and-track", pointer=pointer, part=name, detail=detail))
        else:
            check_part_name(problems, name, pointer, "track")
        for at, member in enumerate(members):
            if member not in parts:
                known = ", ".join(list(parts)[:20])
                detail = f"Unknown part {member!r}. The benchmark has: {known}.{wording.did_you_mean(member, parts)}"
                problems.add(Problem(code="unknown-part", pointer=f"{pointer}/{at}", part=member, detail=detail))
    return problems


def _check_ladder(settings: Mapping[str, params.Json]) -> None:
    leaderboard = settings["leaderboard"]
    if not leaderboard["ladder"]:
        return
    if leaderboard["pick"] != "best":
        detail = f"A ladder shows each team's last released submission. Set `pick` to best, not {leaderboard['pick']}."
        raise invalid("ladder-pick", "/leaderboard/pick", detail)
    if settings["feedback"] in ("items", "gold"):
        detail = f"Level {settings['feedback']} shows what a ladder holds. Use a lower one, or no ladder."
        raise invalid("ladder-level", "/feedback", detail)


def _check_split_levels(settings: Mapping[str, params.Json]) -> None:
    if settings["leaderboard"]["split"] is None:
        return
    if settings["closes_at"] is None:
        detail = (
            "The private share of a split is shown when the benchmark closes. Set `closes_at`; it can be extended as "
            "long as it has not passed."
        )
        raise invalid("split-without-closing", "/closes_at", detail)
    if settings["feedback"] in ("items", "gold"):
        detail = (
            f"Level {settings['feedback']} shows sentences of both shares. Use a lower one; "
            "`feedback_after_closing` may be higher."
        )
        raise invalid("split-level", "/feedback", detail)


def _check_about(about: Mapping[str, params.Json]) -> None:
    texts = [text for text in about.values() if isinstance(text, str)]
    texts += [text for each in (*about["links"], *about["dates"]) for text in each.values()]
    size = sum(len(text.encode()) for text in texts)
    if size > MAX_ABOUT:
        detail = (
            f"The texts, links and dates have {size:,} bytes in all; {MAX_ABOUT:,} are allowed. Link to a page of your "
            "own."
        )
        raise invalid("about-too-long", "/about", detail)


def _merged(before: Mapping[str, params.Json], changes: Request) -> dict[str, params.Json]:
    merged = dict(before)
    for name in before:
        value = getattr(changes, name)
        if isinstance(value, Request):
            merged[name] = _merged(before[name], value)
        elif value is not MISSING:
            merged[name] = _in_utc(value)
    return merged


def revision_warnings(db: Connection, benchmark: Benchmark, revision: revisions.Revision) -> list[dict[str, object]]:
    """Return the warnings of a revision: of its scoring, and of its gold once that is checked."""
    shares = figures.shares_of(benchmark)
    problems = [
        *scoring_warnings(revision.scoring),
        *(problem for share in shares for problem in _small(db, benchmark, revision, share)),
        *_without_parts(db, benchmark, revision),
        *_wide_margin(benchmark, revision),
        *_near({number: None for share in shares for number in near_revisions(db, benchmark, revision, share)}),
    ]
    return [error_document(problem, gold_visible=False) for problem in problems]


def time_warnings(benchmark: Benchmark) -> list[dict[str, object]]:
    """Return which ends were over when they were set, as in a wrong year."""
    made = benchmark.created_at.replace(microsecond=0)
    before = f"is before the benchmark was made ({moment(made)}). Check the year and the offset from UTC."
    problems = []
    if benchmark.closes_at is not None and benchmark.closes_at < made:
        detail = f"No team can submit: `closes_at` ({moment(benchmark.closes_at)}) {before}"
        problems.append(Problem(code="closed-from-the-start", pointer="/closes_at", detail=detail))
    elif benchmark.closed_from is not None and benchmark.closed_from != benchmark.after_closing:
        at = moment(benchmark.closed_from.replace(microsecond=0))
        fix = "If that is not meant, check the year and the offset from UTC, and set a later time."
        if benchmark.private_share is not None:
            fix = "It shows the private share, so that no later time can be set: if that is not meant, make a new one."
        detail = (
            f"`closes_at` ({moment(benchmark.closes_at)}) was over when it was set: the benchmark closed at {at}. "
            f"What teams sent or withdrew before that moment counts as before closing. {fix}"
        )
        problems.append(Problem(code="closed-in-the-past", pointer="/closes_at", detail=detail))
    if benchmark.frozen_at is not None and benchmark.frozen_at < made:
        detail = f"Teams see no row: `frozen_at` ({moment(benchmark.frozen_at)}) {before}"
        problems.append(Problem(code="frozen-from-the-start", pointer="/leaderboard/frozen_at", detail=detail))
    return [error_document(problem, gold_visible=False) for problem in problems]


def near_revisions(db: Connection, benchmark: Benchmark, revision: revisions.Revision, share: str | None) -> list[int]:
    """Return the earlier revisions with boards that are too near to this one in a share (`cells.small_difference`).

    Revisions with equal gold are not among them.
    """
    golds = golds_of(db, benchmark, share)
    own = gold_of(db, benchmark, revision, share)
    return [
        number for number in sorted(golds) if number < revision.number and figures.small_difference(golds[number], own)
    ]


def moves_shown(db: Connection, benchmark: Benchmark, revision: revisions.Revision, share: str | None) -> bool:
    """Return whether the changes of ranks in a share tell of no difference between revisions that are too near.

    They name main scores under this revision and under an earlier one.
    """
    hidden = figures.hidden_revisions(benchmark.active_revision or 0, golds_of(db, benchmark, share))
    return not near_revisions(db, benchmark, revision, share) and all(number > revision.number for number in hidden)


def _wide_margin(benchmark: Benchmark, revision: revisions.Revision) -> list[Problem]:
    scoring = scoring_config(revision.scoring)
    details = margin_warnings(scoring.main_score, scoring.main[1], benchmark.leaderboard["margin"])
    return [Problem(code="wide-margin", pointer="/leaderboard/margin", detail=detail) for detail in details]


def _small(db: Connection, benchmark: Benchmark, revision: revisions.Revision, share: str | None) -> list[Problem]:
    sizes = sizes_of(db, benchmark, revision.id, revisions.parts_of(db, revision.id), share)
    small = figures.small_parts(sizes)
    if len(sizes) == 1:
        return [_problem(name, share, "Each score tells much about single sentences.") for name in small]
    hidden = sorted(figures.hidden_parts(sizes) - {*small})
    with_them = f", nor {', '.join(hidden)}, from which they could be computed" if hidden else ""
    detail = f"At the levels rounded and scores its figures are not shown{with_them}. Join it with another part."
    return [_problem(name, share, detail) for name in small]


def _problem(part: str, share: str | None, consequence: str) -> Problem:
    which = f"The part {part!r}" if share is None else f"The {share} share of the part {part!r}"
    detail = f"{which} has fewer than {figures.LEAST_SENTENCES} sentences. {consequence}"
    return Problem(code="small-part", pointer=f"/parts/{params.escape(part)}", part=part, detail=detail)


def _without_parts(db: Connection, benchmark: Benchmark, revision: revisions.Revision) -> list[Problem]:
    """Return which tracks name parts that a revision does not have; it shows their means over the others."""
    known = {part.name for part in revisions.parts_of(db, revision.id)}
    problems = []
    for name, members in benchmark.tracks.items():
        gone = [part for part in members if part not in known]
        if gone:
            rest = "The track is the mean of its other parts." if len(gone) < len(members) else "It has no other part."
            detail = f"The track {name!r} names parts that revision {revision.number} lacks: {', '.join(gone)}. {rest}"
            problems.append(Problem(code="track-lacks-part", pointer=f"/tracks/{params.escape(name)}", detail=detail))
    return problems


def _near(numbers: Iterable[int]) -> list[Problem]:
    return [
        Problem(
            code="small-difference",
            pointer="/parts",
            detail=(
                f"Gold is too near to that of revision {number}: it differs in fewer than {figures.LEAST_SENTENCES} "
                "sentences or in an unknown number of them, or in its parts, some of which are small. Both scores of a "
                "submission together tell about these sentences. At the levels rounded and scores the figures of "
                f"revision {number} and the changes of ranks are no longer shown once this revision is active. Who has "
                "read them before can still compare; correct more at once."
            ),
        )
        for number in numbers
    ]
