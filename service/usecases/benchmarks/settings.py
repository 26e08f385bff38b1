"""What organisers set and PATCH may change: times, quotas, feedback, leaderboard. Nothing here changes a score."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from service.errors import refuse
from service.policy.gate import LEVELS
from service.requests import MACRO, PICKS, POOLED
from service.usecases.runs.views import moment
from treescore.errors import Problem, ProblemList

SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,59}", re.ASCII)
PART = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)
QUOTAS = ("scored_per_day", "scored_total", "attempts_per_day")
INPUTS = (False, True, "words", "text")
MAX_QUOTA = 1_000_000
MAX_NAME = 200
MAX_NOTES = 10_000
_LINES = re.compile(r"[\t\r\n]")

DEFAULTS: Mapping[str, Any] = {
    "opens_at": None,
    "closes_at": None,
    "quota": {},
    "feedback": "scores",
    "feedback_after_closing": None,
    "rounding": None,
    "publish_input": False,
    "leaderboard": {},
}
LEADERBOARD_DEFAULTS: Mapping[str, Any] = {"public": True, "anonymous": False, "pick": "best", "frozen_at": None}


def checked_settings(given: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Complete settings: what a request gives over what was there before, defaults elsewhere.

    `quota` and `leaderboard` are changed member by member.

    Raises:
        Unprocessable: with a pointer for each fault.
    """
    problems = ProblemList()
    base = {**DEFAULTS, **(before or {})}
    settings = {name: given[name] if name in given else base[name] for name in DEFAULTS}
    for name in ("opens_at", "closes_at"):
        settings[name] = _time(problems, settings[name], f"/{name}")
    settings["quota"] = _quota(problems, {**base["quota"], **(given.get("quota") or {})})
    settings["leaderboard"] = _leaderboard(
        problems, {**LEADERBOARD_DEFAULTS, **base["leaderboard"], **(given.get("leaderboard") or {})}
    )
    for name in ("feedback", "feedback_after_closing"):
        if settings[name] not in LEVELS and (name == "feedback" or settings[name] is not None):
            _wrong(problems, f"/{name}", f"There is no feedback level {settings[name]!r}. There are: "
                   f"{', '.join(LEVELS)}.")  # fmt: skip
    rounding = settings["rounding"]
    if rounding is not None and not (_number(rounding) and 0 < rounding <= 1):
        _wrong(problems, "/rounding", "The step of rounding is a number above 0 and at most 1, as 0.01.")
    if settings["publish_input"] not in INPUTS:
        _wrong(problems, "/publish_input", 'This is true, false, "words" or "text".')
    opens, closes = settings["opens_at"], settings["closes_at"]
    if opens is not None and closes is not None and closes <= opens:
        problems.add(
            Problem(
                code="closes-before-opening",
                pointer="/closes_at",
                detail=f"It closes at {closes}, and opens only at {opens} (both in UTC). Let it close later.",
            )
        )
    refuse(problems)
    return settings


def check_name(problems: ProblemList, value: object, pointer: str) -> None:
    """A name or title that people read: one printable line."""
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_NAME or not value.isprintable():
        _wrong(problems, pointer, f"This is a line of 1 to {MAX_NAME} printable characters.")


def check_notes(problems: ProblemList, value: object, pointer: str) -> None:
    """Notes: printable lines."""
    if not isinstance(value, str) or len(value) > MAX_NOTES or not all(map(str.isprintable, _LINES.split(value))):
        _wrong(problems, pointer, f"This is a text of at most {MAX_NOTES} printable characters.")


def check_slug(problems: ProblemList, value: object, pointer: str) -> None:
    """An id that stands in addresses."""
    if not isinstance(value, str) or not SLUG.fullmatch(value):
        detail = "An id has 1 to 60 letters, digits, `_`, `-` and `.`, and begins with a letter or digit."
        problems.add(Problem(code="bad-id", pointer=pointer, detail=detail))


def check_part_name(problems: ProblemList, value: str, pointer: str) -> None:
    """A part's name, which stands in addresses."""
    if not PART.fullmatch(value) or not value.strip(".") or value in (MACRO, POOLED):
        detail = (
            "A part's name has 1 to 64 letters, digits, `_`, `-` and `.`, not only dots. "
            f"{MACRO} and {POOLED} stand for all parts together."
        )
        problems.add(Problem(code="bad-part-name", pointer=pointer, detail=detail))


def _quota(problems: ProblemList, given: Mapping[str, Any]) -> dict[str, int | None]:
    for name in given:
        if name not in QUOTAS:
            _wrong(problems, f"/quota/{name}", f"There is no such quota. There are: {', '.join(QUOTAS)}.")
    quota: dict[str, int | None] = {}
    for name in QUOTAS:
        value = given.get(name)
        if value is not None and (type(value) is not int or not 0 <= value <= MAX_QUOTA):
            problems.add(
                Problem(
                    code="bad-quota",
                    pointer=f"/quota/{name}",
                    detail=f"A quota is a whole number from 0 to {MAX_QUOTA}, or null for none.",
                )
            )
        quota[name] = value
    return quota


def _leaderboard(problems: ProblemList, given: Mapping[str, Any]) -> dict[str, Any]:
    for name in given:
        if name not in LEADERBOARD_DEFAULTS:
            known = ", ".join(LEADERBOARD_DEFAULTS)
            _wrong(problems, f"/leaderboard/{name}", f"There is no such setting. There are: {known}.")
    chosen = {name: given[name] for name in LEADERBOARD_DEFAULTS}
    for name in ("public", "anonymous"):
        if type(chosen[name]) is not bool:
            _wrong(problems, f"/leaderboard/{name}", "This is true or false.")
    if chosen["pick"] not in PICKS:
        _wrong(problems, "/leaderboard/pick", f"This is one of {', '.join(PICKS)}.")
    chosen["frozen_at"] = _time(problems, chosen["frozen_at"], "/leaderboard/frozen_at")
    return chosen


def _time(problems: ProblemList, value: object, pointer: str) -> str | None:
    """A time with its offset, as text in UTC."""
    if value is None:
        return None
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else value
        if isinstance(time, datetime) and time.tzinfo is not None:
            return moment(time.astimezone(UTC))
    except (ValueError, OverflowError):
        pass
    detail = "This is a time with its offset, as 2027-11-01T23:59:59-12:00 (RFC 3339)."
    problems.add(Problem(code="bad-time", pointer=pointer, detail=detail))
    return None


def _wrong(problems: ProblemList, pointer: str, detail: str) -> None:
    problems.add(Problem(code="bad-value", pointer=pointer, detail=detail))


def _number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
