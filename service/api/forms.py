"""Read multipart/form-data, for texts too large for a JSON body: a field `meta` and a file for each text.

`meta` is the JSON document without its texts. The name of a file tells which text it is: `gold`, the name of a system,
or its index in `meta` (`systems/0`); systems that `meta` does not list are added in the order of their files. A format
of several texts takes a file for each of them: `gold/source`, `systems/0/alignment`. For benchmarks, revisions and
submissions a file has the name of its part (`en`, or `parts/en`).

Files named `.gz` and `.zst` are unpacked, and archives named `.zip` with one file. A zip under the name `parts` holds a
file for each part, named after it.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import PurePosixPath
from typing import NamedTuple, TypeAlias

from flask import Request
from multipart import MultipartError, MultipartSegment, ParserLimitReached, PushMultipartParser

from service.api import bodies
from service.config import Config
from service.errors import BadRequest, PayloadTooLarge, Unprocessable, invalid, problems_counted, unprocessable
from service.store.packing import PackedText, packed_text, unpack
from treescore.core.params import Json, escape
from treescore.core.text import actually, encoding_problem, packed_as
from treescore.errors import InputError, Problem
from treescore.sources.files import ARCHIVE, PACKED, TOO_LARGE, File, files_of_zip

FORM = "multipart/form-data"
FIELDS = ("source", "target", "alignment")
MAX_PARTS = 5_000
META = "meta"
ALL_PARTS = "parts"
"""The name of an archive with a file for each part."""
FILE_CODINGS: Mapping[str, str] = {".gz": "gzip", ".zst": "zstd"}
"""How a file with such a suffix is packed."""
_INDEX = re.compile(r"systems/(0|[1-9][0-9]{0,5})", re.ASCII)


class FaultyText(NamedTuple):
    """What is wrong with the text of a file, to be reported at its place in the request, and how many bytes it has."""

    problem: Problem
    size: int


Received: TypeAlias = PackedText | FaultyText
Label: TypeAlias = Callable[[str, str], str]


class FormPart(NamedTuple):
    """One part of a form.

    Attributes:
        name: of its field.
        filename: None for a plain field.
        data: as sent, of a plain field and of a packed file; empty of another.
        text: of a file that is not packed, and of `meta`.
    """

    name: str
    filename: str | None
    data: bytes
    text: Received | None


def read_job(request: Request, config: Config) -> dict[str, Json]:
    """Return the job request of a form, as JSON.

    Raises:
        ServiceError: 400, 413, 415 or 422.
    """
    document, texts = read_form(request, config)
    systems = document.setdefault("systems", [])
    if not isinstance(systems, list) or not all(isinstance(system, dict) for system in systems):
        raise invalid("bad-value", "/systems", "In `meta`, `systems` must be a list of objects.")
    numbers = {system["name"]: number for number, system in enumerate(systems) if isinstance(system.get("name"), str)}
    for name, text in texts:
        owner, field = _split(name)
        if owner == "gold":
            put_text(document, "gold", field, (name, text), "/gold")
            continue
        match = _INDEX.fullmatch(owner)
        if match is None and owner not in numbers:
            numbers[owner] = len(systems)
            systems.append({"name": owner})
        number = int(match[1]) if match is not None else numbers[owner]
        if number >= len(systems):
            raise invalid("unknown-part", f"/systems/{number}", f"The file {name!r} belongs to no system of `meta`.")
        put_text(systems[number], "output", field, (name, text), f"/systems/{number}/output")
    return document


def read_parts(request: Request, config: Config, folder: str, key: str | None) -> dict[str, Json]:
    """Return the request of a form with one text (or several) for each part, as JSON.

    A file has the name of its part, or `parts/<part>`, or `<folder>/<part>`; for a format of several texts each is a
    file, `en/source`.

    Args:
        request: as received.
        config: its limits.
        folder: the member of the document that holds the parts.
        key: the member of each part that is its text; None if the part itself is the text.

    Raises:
        ServiceError: 400, 413, 415 or 422.
    """
    document, texts = read_form(request, config)
    parts = document.setdefault(folder, {})
    if not isinstance(parts, dict):
        raise invalid("wrong-type", f"/{folder}", f"In `meta`, `{folder}` must be an object.")
    for name, text in texts:
        owner, field = _split(name)
        owner = owner.removeprefix("parts/").removeprefix(f"{folder}/")
        pointer = f"/{folder}/{escape(owner)}"
        if key is None:
            put_text(parts, owner, field, (name, text), pointer)
            continue
        part = parts.setdefault(owner, {})
        if not isinstance(part, dict):
            raise invalid("wrong-type", pointer, "In `meta`, a part must be an object.")
        put_text(part, key, field, (name, text), f"{pointer}/{key}")
    return document


read_outputs = partial(read_parts, folder="outputs", key=None)
read_gold = partial(read_parts, folder="parts", key="gold")


def read_form(request: Request, config: Config) -> tuple[dict[str, Json], list[tuple[str, Received]]]:
    """Return the document `meta`, and the texts under their names, in the order received.

    Raises:
        ServiceError: 400, 413, 415 or 422.
    """
    parts, left = read_fields(request, config, lambda name, _filename: name)
    if any(not part.name for part in parts):
        raise BadRequest("A part of the form has no name. Name each part.", slug="malformed-body")
    metas = [part.data for part in parts if part.name == META]
    if len(metas) != 1:
        detail = f"The form has {len(metas)} fields `meta`. Send one, with the JSON document without its texts."
        raise BadRequest(detail, slug="malformed-body")
    document = bodies.parse_json(metas[0], config)
    if not isinstance(document, dict):
        raise invalid("wrong-type", "", "The field `meta` must be a JSON object.")
    texts: list[tuple[str, Received]] = []
    for part in parts:
        if part.name != META:
            found = _texts_of(part, config, left)
            left -= sum(text.size for _, text in found)
            texts += found
    return document, texts


def suffix_of(filename: str | None) -> str:
    """Return the last suffix of the name of a file, in small letters."""
    return PurePosixPath((filename or "").replace("\\", "/")).suffix.lower()


def _texts_of(part: FormPart, config: Config, left: int) -> list[tuple[str, Received]]:
    """Return the texts of one file of a form with their names, unpacked; they have at most `left` bytes together.

    Raises:
        PayloadTooLarge: they have more.
        Unprocessable: the file is damaged, or an archive that holds several files and is not all parts.
    """
    if part.text is not None:
        return [(part.name, part.text)]
    suffix, pointer = suffix_of(part.filename), f"/{escape(part.name)}"
    if coding := FILE_CODINGS.get(suffix):
        try:
            return [(part.name, received(part.name, bodies.unpacked(part.data, coding, config, left)))]
        except BadRequest as error:
            detail = f"{part.filename!r} is not whole {coding} data.{actually(part.data, coding)}"
            detail += " Pack it again, or rename it."
            raise invalid("damaged-archive", pointer, detail) from error
    if suffix != ARCHIVE:
        return [(part.name, received(part.name, part.data))]
    files = unzipped(part.data, part.filename or "", pointer, left)
    if part.name == ALL_PARTS:
        # each is named after its part
        return [(name := file.name.partition(".")[0], received(name, file.text)) for file in files]
    if len(files) > 1:
        detail = f"The archive holds {len(files)} files, a text is one. Send it under the name `{ALL_PARTS}`, with a "
        detail += "file for each part, or send one archive for each text."
        raise invalid("several-texts", pointer, detail)
    return [(part.name, received(part.name, files[0].text))]


def unzipped(data: bytes, name: str, pointer: str, most: int) -> list[File]:
    """Return the files of an archive of a form, which may have at most `most` bytes together.

    Raises:
        PayloadTooLarge: they have more.
        Unprocessable: it is damaged, empty, or holds what no archive of texts has.
    """
    try:
        return files_of_zip(data, name, pointer, most)
    except InputError as error:
        if error.problems[0].code == TOO_LARGE:
            raise PayloadTooLarge(error.problems[0].detail) from error
        raise unprocessable(error) from error


def read_fields(request: Request, config: Config, label: Label) -> tuple[list[FormPart], int]:
    """Return the parts of a form, in the order received, and the bytes that all may be, unpacked.

    Of files that are not packed one at a time is held. What is wrong with its text is returned, to be reported later.

    Args:
        request: as received.
        config: its limits.
        label: what messages call a file, by the names of its field and of itself.

    Raises:
        ServiceError: 400, 413 or 415.
    """
    boundary = request.mimetype_params.get("boundary", "")
    if not boundary:
        raise BadRequest("The Content-Type has no boundary.", slug="malformed-body")
    body = bodies.Body(request, config, config.max_upload_bytes)
    try:
        parts = _parsed(body, boundary, config.max_body_bytes, label)
    except ParserLimitReached as error:
        detail = (
            f"A field of the form exceeds {config.max_body_bytes} bytes, the form exceeds {MAX_PARTS} parts, or a part "
            "has too many or too long headers. Send long texts as files (`curl -F gold=@gold.conllu`)."
        )
        raise PayloadTooLarge(detail) from error
    except MultipartError as error:
        detail = (
            "The body is invalid or incomplete multipart/form-data (RFC 7578). Use CR LF line ends and the boundary of "
            "the Content-Type, or let a client write the form (`curl -F`)."
        )
        raise BadRequest(detail, slug="malformed-body") from error
    return parts, min(config.max_upload_bytes, config.room_of(body.sent))


def _parsed(pieces: Iterable[bytes], boundary: str, most: int, label: Label) -> list[FormPart]:
    """Split a form, to the end of its body.

    Raises:
        MultipartError: it is not a form, or not all of one.
        ParserLimitReached: a part that is not a file has more than `most` bytes, or there are too many.
    """
    found: list[FormPart] = []
    name, filename, data, room = "", None, list[bytes](), 0.0
    with PushMultipartParser(boundary, max_segment_count=MAX_PARTS) as parser:
        for piece in pieces:
            for event in parser.parse(piece):
                if isinstance(event, MultipartSegment):
                    name, filename, data = event.name or "", event.filename, []
                    room = most if filename is None else math.inf
                elif event is None:
                    found.append(_part(name, filename, data, label))
                else:
                    data.append(event)
                    room -= len(event)
                    if room < 0:
                        raise ParserLimitReached
    return found


def _part(name: str, filename: str | None, pieces: list[bytes], label: Label) -> FormPart:
    """Return a part of these pieces, of which the list is emptied: the text is not to be held twice."""
    data = b"".join(pieces)
    pieces.clear()
    if name == META:  # JSON, not a text to score
        return FormPart(name, filename, data, packed_text(data))
    if filename is None or suffix_of(filename) in PACKED:
        return FormPart(name, filename, data, None)
    return FormPart(name, filename, b"", received(label(name, filename), data))


def received(name: str, data: bytes) -> Received:
    """Return the text of a file as it is stored, or that it is packed or not UTF-8."""
    packed = packed_as(data)
    if packed is not None:
        problem = Problem(code="packed-text", detail=f"The file {name!r} is {packed.name}. {packed.advice}")
        return FaultyText(problem, len(data))
    wrong = encoding_problem(data, f"file {name!r}")
    return packed_text(data) if wrong is None else FaultyText(wrong, len(data))


def checked(text: Received, pointer: str) -> PackedText:
    """Return a text, for the place of the request at `pointer`.

    Raises:
        Unprocessable: something is wrong with it.
    """
    if isinstance(text, FaultyText):
        raise Unprocessable(problems_counted(1), problems=[text.problem.at(pointer)])
    return text


def checked_bytes(text: Received, pointer: str) -> bytes:
    """Return the bytes of a text, of which `checked` says what is wrong."""
    return unpack(checked(text, pointer).body)


def _split(name: str) -> tuple[str, str | None]:
    owner, _, field = name.rpartition("/")
    return (owner, field) if owner and field in FIELDS else (name, None)


def put_text(holder: dict[str, Json], key: str, field: str | None, file: tuple[str, Received], pointer: str) -> None:
    """Put a file's text into the document at `pointer`, or below it for one of several texts."""
    name, text = file
    pointer = pointer if field is None else f"{pointer}/{field}"
    target = holder if field is None else holder.setdefault(key, {})
    last = key if field is None else field
    if not isinstance(target, dict) or last in target:
        raise invalid("duplicate-text", pointer, f"The text {name!r} is given twice.")
    target[last] = checked(text, pointer)
