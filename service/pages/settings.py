"""The settings of a benchmark as a form: its fields in groups, what stands in them, and what a sent form changes.

A field is named by the path of its member in the contract. What stands in its controls are texts by name; the member is
read from them, of the form that was shown and of the one that was sent alike, and is changed where the two differ.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import reduce
from operator import getitem
from typing import Any, NamedTuple

from service.pages.figures import EARTH, deadline, ends_day_on_earth, time
from service.policy.gate import LEVELS
from service.requests import PICKS
from service.usecases.runs import etag_of
from treescore.core.params import Json

Texts = Mapping[str, str]
"""What stands in the controls of a form, by their names; a box that is not ticked is missing."""
FEEDBACK = {
    "none": "nothing but that it was received",
    "status": "whether it could be scored",
    "rounded": "rounded scores and ranks",
    "scores": "scores, intervals and tests",
    "items": "scores, tests and its own wrong words or brackets",
    "gold": "everything, the gold standard too",
}
"""What a team learns of a submission, by feedback level."""
UTC_ZONE, EARTH_ZONE = "utc", "earth"
ZONES = {UTC_ZONE: "UTC", EARTH_ZONE: "anywhere on earth"}
"""Zones in which times can be given: in the second a day ends last."""
ZONE_OF = ".zone"
"""How the name of a control ends that says the zone of a time."""
NEW_DATES = 3
"""Empty lines for further dates."""


def read_moment(texts: Texts, name: str) -> str | None:
    """Return a time of a form, in the zone of its own control, as the API takes it; None where there is none."""
    text = texts.get(name, "").strip()
    if not text or text.endswith("Z"):
        return text or None
    zone = "-12:00" if texts.get(name + ZONE_OF) == EARTH_ZONE else "Z"
    return f"{text}{':00' if text.count(':') == 1 else ''}{zone}"


def _show_text(name: str, value: Json) -> dict[str, str]:
    return {name: "" if value is None else str(value)}


def _read_text(texts: Texts, name: str) -> Json:
    return texts.get(name, "").replace("\r\n", "\n").strip() or None


def _read_number(texts: Texts, name: str) -> Json:
    """Return a number; what is none is refused as the text that it is."""
    text = texts.get(name, "").strip()
    with suppress(ValueError):  # of an int also one with thousands of digits
        return int(text) if text.isdecimal() else float(text)
    return text or None


def _show_moment(name: str, value: Json) -> dict[str, str]:
    if value is None:
        return {name: "", name + ZONE_OF: UTC_ZONE}
    at = datetime.fromisoformat(value)
    local, zone = (at + EARTH, EARTH_ZONE) if ends_day_on_earth(at) else (at, UTC_ZONE)
    return {name: f"{local:%Y-%m-%dT%H:%M:%S}", name + ZONE_OF: zone}


_INPUTS: Mapping[str, Json] = {"no": False, "yes": True}


def _show_input(name: str, value: Json) -> dict[str, str]:
    return {name: next((text for text, known in _INPUTS.items() if known is value), str(value))}


def _show_scores(name: str, value: Json) -> dict[str, str]:
    return {f"{name}:{address}": "on" for address in value or ()}


def _read_scores(texts: Texts, name: str) -> Json:
    return [each.removeprefix(f"{name}:") for each in texts if each.startswith(f"{name}:")] or None


def _lines(texts: Texts, name: str) -> Iterator[str]:
    return (line.strip() for line in texts.get(name, "").splitlines() if line.strip())


def _show_tracks(name: str, value: Json) -> dict[str, str]:
    return {name: "\n".join(f"{track}: {', '.join(parts)}" for track, parts in value.items())}


def _read_tracks(texts: Texts, name: str) -> Json:
    pairs = (line.partition(":") for line in _lines(texts, name))
    return {track.strip(): [part.strip() for part in parts.split(",")] for track, _, parts in pairs}


def _show_links(name: str, value: Json) -> dict[str, str]:
    return {name: "\n".join(f"{link['label']} {link['url']}" for link in value or ())}


def _read_links(texts: Texts, name: str) -> Json:
    pairs = (line.rpartition(" ") for line in _lines(texts, name))
    return [{"label": label.strip() or url, "url": url} for label, _, url in pairs]


def _show_dates(name: str, value: Json) -> dict[str, str]:
    shown: dict[str, str] = {}
    for number, date in enumerate([*(value or ()), *[{"at": None, "what": ""}] * NEW_DATES]):
        shown |= {**_show_moment(f"{name}.{number}.at", date["at"]), f"{name}.{number}.what": date["what"]}
    return shown


def _read_dates(texts: Texts, name: str) -> Json:
    rows = [each.removesuffix(".what") for each in texts if each.startswith(f"{name}.") and each.endswith(".what")]
    dates = [{"at": read_moment(texts, f"{row}.at") or "", "what": texts[f"{row}.what"].strip()} for row in rows]
    return [date for date in dates if date["at"] or date["what"]]


class Kind(NamedTuple):
    """How a member stands in a form.

    Attributes:
        control: what draws it, in the template.
        show: the texts of its controls.
        read: the member that texts of controls stand for.
    """

    control: str
    show: Callable[[str, Json], dict[str, str]] = _show_text
    read: Callable[[Texts, str], Json] = _read_text


NAME = Kind("text", read=lambda texts, name: texts.get(name, "").strip())
TEXT, AREA, CHOICE = Kind("text"), Kind("area"), Kind("choice")
NUMBER = Kind("number", read=_read_number)
FLAG = Kind("flag", lambda name, value: {name: "on"} if value else {}, lambda texts, name: name in texts)
MOMENT, DATES = Kind("moment", _show_moment, read_moment), Kind("dates", _show_dates, _read_dates)
SCORES = Kind("scores", _show_scores, _read_scores)
INPUT = Kind("choice", _show_input, lambda texts, name: _INPUTS.get(texts.get(name, ""), texts.get(name, "")))
TRACKS, LINKS = Kind("area", _show_tracks, _read_tracks), Kind("area", _show_links, _read_links)
NOTICE = Kind("area", lambda name, value: {name: "" if value is None else value["text"]})
SPLIT = Kind(
    "number",
    lambda name, value: {name: "" if value is None else str(value["private"])},
    lambda texts, name: None if (share := _read_number(texts, name)) is None else {"private": share},
)


class Field(NamedTuple):
    """A field.

    Attributes:
        name: path of the member, with dots.
        label: what it is called.
        kind: how it stands in the form.
        words: what it means, and what an empty one does.
        choices: words of each choice.
    """

    name: str
    label: str
    kind: Kind = TEXT
    words: str = ""
    choices: Mapping[str, str] = {}


_LEVELS = {level: f"{level}: {FEEDBACK[level]}" for level in LEVELS}
_INPUT_WORDS = {
    "no": "is secret", "words": "as tokens", "text": "as running text",
    "yes": "as tokens or text, whichever tells no annotation",
}  # fmt: skip
_UNITS = {"auto": "documents, else sentences", "sentence": "sentences"}
_PICKS = dict(zip(PICKS, ("its best", "its last", "the one that it chooses", "all"), strict=True))
NAMES = (
    Field("title", "Title", NAME),
    Field("series", "Series", words="Joins benchmarks that belong together, such as the phases of one task."),
)
TIMES = (
    Field("opens_at", "Opens", MOMENT, "Empty: open at once."),
    Field("closes_at", "Closes", MOMENT, "Empty: no closing time. The closing second is included."),
    Field("leaderboard.frozen_at", "Board frozen from", MOMENT, "Teams then see what was scored until then."),
)
_LEARN = (
    Field("feedback", "A team learns", CHOICE, choices=_LEVELS),
    Field("feedback_after_closing", "After closing", CHOICE, choices={"": "the same", **_LEVELS}),
    Field("rounding", "Rounded to", NUMBER, "The step at the level rounded: 0.01, which is one percent, if empty."),
    Field("publish_input", "Test data", INPUT, "What of gold all may download from the opening on.", _INPUT_WORDS),
    Field("leaderboard.scores", "Scores shown", SCORES, "Below the level gold. None chosen: the one that ranks at the "
          "level rounded, all from scores on."),
)  # fmt: skip
_FIXED = "It cannot change after the first submission."
_BOARD = (
    Field("leaderboard.public", "All may see the board", FLAG, "Else its teams and organisers alone know of it."),
    Field("leaderboard.anonymous", "Without the names of teams", FLAG),
    Field("leaderboard.pick", "Of each team stands", CHOICE, choices=_PICKS),
    Field("leaderboard.unit", "Tests count", CHOICE, "Documents are those that gold marks.", _UNITS),
    Field("leaderboard.margin", "Margin", NUMBER, "Tests also say who is not worse by it: 0.01 is one percent."),
    Field("leaderboard.split", "Private share", SPLIT, f"Such as 0.5: counts once closed, the rest before. {_FIXED}"),
    Field("leaderboard.ladder", "Ladder", FLAG, f"Scores are shown if they clearly beat the team's best. {_FIXED}"),
    Field("leaderboard.accept_one_sided", "May rank by a one-sided score", FLAG, "Such as precision or recall."),
    Field("tracks", "Tracks", TRACKS, "Means of some parts. A line each: its name, a colon, its parts with commas."),
)  # fmt: skip
_NO_LIMIT = "Empty: no limit."
_QUOTAS = (
    Field("quota.scored_per_day", "Scored submissions a day", NUMBER, f"Days are UTC days. {_NO_LIMIT}"),
    Field("quota.scored_total", "Scored submissions in all", NUMBER, _NO_LIMIT),
    Field("quota.attempts_per_day", "Attempts a day", NUMBER, f"Checks and faulty files count too. {_NO_LIMIT}"),
    Field("quota.comparisons_per_day", "New comparisons a day", NUMBER, _NO_LIMIT),
)
_ABOUT = (
    Field("about.description", "Description", AREA, "Markdown: headings, lists, tables, emphasis, code, links."),
    *(Field(f"about.{name}", name.capitalize(), AREA) for name in ("rules", "licence", "citation", "contact")),
    Field("about.links", "Links", LINKS, "A line for each: a label, then an address that begins with https://."),
    Field("about.dates", "Dates", DATES),
)
_NOTICE = Field("notice", "Notice", NOTICE, "Markdown, above the board and above Submit, with the time of its change.")
REST = {"What teams learn": _LEARN, "Board": _BOARD, "Quotas of each team": _QUOTAS, "About": _ABOUT}
"""Groups that a new benchmark can leave as they are."""
GROUPS: Mapping[str, Sequence[Field]] = {"Notice": (_NOTICE,), "Name": NAMES, "Times": TIMES, **REST}


def texts_of(document: Mapping[str, Any], fields: Sequence[Field]) -> dict[str, str]:
    """Return what stands in the controls of fields: the members of a benchmark."""
    texts: dict[str, str] = {}
    for field in fields:
        texts |= field.kind.show(field.name, reduce(getitem, field.name.split("."), document))
    return texts


def differing(sent: Texts, shown: Texts, fields: Sequence[Field]) -> dict[str, Json]:
    """Return the members, by the names of fields, for which a sent form does not stand for what the shown one does."""
    read = ((field.name, field.kind.read(sent, field.name), field.kind.read(shown, field.name)) for field in fields)
    return {name: value for name, value, before in read if value != before}


def echoes_of(texts: Texts) -> dict[str, str | None]:
    """Return the times that stand in a form, by the names of their controls."""
    return {name: read_moment(texts, name) for name in texts if name + ZONE_OF in texts}


def stored_texts(changes: Mapping[str, Json], shown: Texts, fields: Sequence[Field]) -> dict[str, str]:
    """Return what is stored, in words, of the fields that a form would change.

    Args:
        changes: as `differing` returned them.
        shown: what stands in the controls now.
        fields: of the form.
    """
    return {field.name: _stored_words(field, shown) for field in fields if field.name in changes}


def _stored_words(field: Field, shown: Texts) -> str:
    value = field.kind.read(shown, field.name)
    if field.kind is FLAG:
        return "yes" if value else "no"
    if value and field.kind is SCORES:
        return ", ".join(value)
    if value and field.kind in (MOMENT, DATES):
        dates = value if field.kind is DATES else [{"at": value, "what": ""}]
        return "; ".join(f"{deadline(date['at']).striptags()} {date['what']}".strip() for date in dates)
    text = shown.get(field.name, "")
    return field.choices.get(text, text) or "nothing"


def version_of(texts: Texts) -> str:
    """Return what names the settings that stand in a form."""
    return etag_of(repr(sorted(texts.items())).encode())


def nested(members: Mapping[str, Json]) -> dict[str, Any]:
    """Return members by paths as the request has them."""
    found: dict[str, Any] = {}
    for path, value in members.items():
        outer, _, inner = path.rpartition(".")
        (found.setdefault(outer, {}) if outer else found)[inner] = value
    return found


_MEMBER = re.compile(r"`(\w+)`")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[0-9:.]+Z")
_OF_DATES = {"at": "Choose when it is.", "what": "Say what happens then, in 1 to 200 characters."}


def faults_by_field(
    problem: Mapping[str, Any], fields: Sequence[Field], aliases: Mapping[str, str]
) -> dict[str, list[dict[str, Any]]]:
    """Return the errors of a problem by the fields that they stand beside, in the words of the form.

    Args:
        problem: document.
        fields: of the form.
        aliases: first steps of pointers -> the names of fields for files and choices; the rest is under "".
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for error in problem.get("errors", ()):
        path = str(error.get("pointer", "")).removeprefix("/").replace("/", ".")
        field = next((field for field in fields if f"{path}.".startswith(f"{field.name}.")), None)
        # others quote what was typed, or say how a time is written
        detail = in_words(error["detail"], fields, times=error["code"] == "closes-before-opening")
        name = aliases.get(path.partition(".")[0], "") if field is None else field.name
        if field is not None and field.kind is DATES and path != name:  # each control of it has its own
            name, detail = path, _OF_DATES.get(path.rpartition(".")[2], detail)
        found.setdefault(name, []).append({**error, "detail": detail})
    return found


def in_words(detail: str, fields: Sequence[Field], *, times: bool = True) -> str:
    """Return what is said of members in the words of a form."""
    labels = {field.name.rpartition(".")[2]: field.label for field in fields}
    said = _MEMBER.sub(lambda member: f"“{labels[member[1]]}”" if member[1] in labels else member[0], detail)
    return _MOMENT.sub(lambda moment: time(moment[0]).striptags(), said) if times else said
