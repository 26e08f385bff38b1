"""Read the forms of pages that send files: their fields, their files unpacked, and the part that each belongs to."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from flask import request

from service.api import bodies, calls, forms
from service.api.forms import FormPart
from service.config import Config
from service.errors import LONGEST_SHOWN, BadRequest, Unprocessable
from service.pages.visitors import CSRF_FIELD, check_form
from service.requests import Request as Asked
from service.usecases.access import IdempotencyKey
from treescore.core.params import Json, escape
from treescore.core.text import actually
from treescore.core.wording import did_you_mean
from treescore.errors import Problem, ProblemList
from treescore.sources.files import unpacked_name

KEY_FIELD = "key"
PART_OF = "part:"
"""How the names of fields begin that say the part of a file; its name follows."""
LONGEST_KEY = 64
MOST_SUFFIXES = 10
MOST_MEANT = 20
"""Files for which the part that may be meant is looked up: it takes time."""
_JOINTS = ("/", ".", "_", "-")
"""What may stand between the name of a part and that of one of its texts, as in `en.source.conllu`."""


class File(NamedTuple):
    """A file of a form: its name without folders, as sent, and its text, unpacked."""

    name: str
    text: bytes


@dataclass(frozen=True, slots=True)
class Upload:
    """A form with files.

    Attributes:
        fields: the plain fields by name.
        files: by the name of their field, in the order sent.
        problems: of the files that could not be unpacked, which are left out.
    """

    fields: Mapping[str, str]
    files: Mapping[str, Sequence[File]]
    problems: ProblemList

    def key(self, asked: Asked, *about: str) -> IdempotencyKey | None:
        """Return what recognises this form when it is sent twice, as by a double click.

        Another text in the same form is another request: who comes back and sends a corrected file is not refused.

        Args:
            asked: the request that the form stands for.
            about: what else it depends on.
        """
        given = self.fields.get(KEY_FIELD, "")
        if not given or len(given) > LONGEST_KEY or not given.isascii() or not given.isprintable():
            return None
        digest = " ".join((*about, bodies.digest(request, asked)))
        return IdempotencyKey(f"page {given} {hashlib.sha256(digest.encode()).hexdigest()}", digest)


@dataclass(slots=True)
class Assigned:
    """The texts of files by part.

    Attributes:
        outputs: as the JSON of a request has them.
        asked: names of the files whose part the visitor says, with the part where it was said.
        problems: of texts, and of files whose part was not said.
    """

    outputs: dict[str, Json] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    problems: ProblemList = field(default_factory=ProblemList)


def new_key() -> str:
    """Return a key for a form that is shown."""
    return secrets.token_urlsafe(16)


def read_upload() -> Upload:
    """Return the form of this request, which carries the value of the visitor's session.

    Raises:
        ServiceError: 400, 401, 403, 413, 415 or 503.
    """
    bodies.media_type(request, forms.FORM)
    config = calls.context().config
    with bodies.alone(request, calls.load_of_process().large_bodies, config, config.max_upload_bytes):
        parts, left = forms.read_fields(request, config)
        fields: dict[str, str] = {}
        for part in parts:
            if part.filename is None:
                if part.name in fields:
                    detail = f"The field {part.name[:LONGEST_SHOWN]!r} is given twice. Give it once."
                    raise BadRequest(detail, slug="malformed-body")
                fields[part.name] = _decoded(part.data)
        check_form(fields.get(CSRF_FIELD, ""))
        return _unpacked(fields, parts, config, left)


def assign(files: Iterable[File], targets: Sequence[str], chosen: Mapping[str, str]) -> Assigned:
    """Return the texts of files by the parts that they are named after, or that were chosen for them.

    `en_ewt.conllu` and `en_ewt.pred.conllu.gz` belong to the part `en_ewt`. Where there is one part, a single file of
    any name belongs to it.

    Args:
        files: of a form.
        targets: names of the parts; for a format of several texts `en/source` for each.
        chosen: fields of the form, of which those with PART_OF say the part of a file.

    Raises:
        Unprocessable: a text is not UTF-8.
    """
    listed = list(files)
    names = {name: target for target in targets for name in _names_of(target)}
    assigned = Assigned()
    unnamed = 0
    for file in listed:
        found = (names[stem] for stem in _stems(file.name) if stem in names)
        target = next(found, targets[0] if len(targets) == len(listed) == 1 else "")
        said = chosen.get(PART_OF + file.name, "")
        if said in targets:
            target = said
        if said in targets or not target:
            assigned.asked.append((file.name, target))
        if target:
            _put(assigned, target, file)
        else:
            unnamed += 1
            assigned.problems.add(_unnamed(file.name, names if unnamed <= MOST_MEANT else {}))
    return assigned


def text_of(file: File, pointer: str) -> bytes:
    """Return the text of a file.

    Raises:
        Unprocessable: it is not UTF-8.
    """
    holder: dict[str, Json] = {}
    forms.put_text(holder, "text", None, (shown(file.name), file.text), pointer)
    text: bytes = holder["text"]
    return text


def shown(name: str) -> str:
    """Return the name of a file, short enough for a message."""
    return name if len(name) <= LONGEST_SHOWN else f"{name[:LONGEST_SHOWN]}…"


def _put(assigned: Assigned, target: str, file: File) -> None:
    """Put a text at its part; a second one there is a problem."""
    part, _, side = target.partition("/")
    try:
        pointer = f"/outputs/{escape(part)}"
        forms.put_text(assigned.outputs, part, side or None, (shown(file.name), file.text), pointer)
    except Unprocessable as error:
        for problem in error.problems:
            detail = f"{problem.detail} It is for the part {part!r}." if problem.line is None else problem.detail
            assigned.problems.add(
                Problem(
                    code=problem.code, detail=detail, pointer=problem.pointer, part=part, line=problem.line,
                    column=problem.column,
                )
            )  # fmt: skip


def _unnamed(name: str, names: Mapping[str, str]) -> Problem:
    meant = did_you_mean(next(_stems(name)), list(names)) if len(name) <= LONGEST_SHOWN else ""
    detail = f"The file {shown(name)!r} has the name of no part. Choose its part, or name it after one.{meant}"
    return Problem(code="unknown-part", pointer="/outputs", detail=detail)


def _names_of(target: str) -> Iterator[str]:
    """Yield the names of files without suffix that stand for a part, or for one of its texts."""
    for joint in _JOINTS if "/" in target else ("/",):
        yield target.replace("/", joint)


def _stems(name: str) -> Iterator[str]:
    """Yield a file's name without the suffix of a compression, then without more and more of its other suffixes."""
    stem = unpacked_name(name)
    for _ in range(MOST_SUFFIXES):
        yield stem
        stem = stem.rpartition(".")[0]


def _unpacked(fields: Mapping[str, str], parts: Iterable[FormPart], config: Config, left: int) -> Upload:
    """Unpack the files of a form, which may not be larger than `left` together."""
    files: dict[str, list[File]] = {}
    problems = ProblemList()
    for part in parts:
        if part.filename is None or not (part.filename or part.data):
            continue  # of a field without a file browsers send an empty one
        name = part.filename.replace("\\", "/").rpartition("/")[2]
        coding = forms.FILE_CODINGS.get(forms.suffix_of(name))
        try:
            text = part.data if coding is None else bodies.unpacked(part.data, coding, config, left)
        except BadRequest:
            detail = f"The file {shown(name)!r} is not a whole {coding} file."
            detail += f"{actually(part.data, str(coding))} Pack it again, or send it unpacked."
            problems.add(Problem(code="damaged-archive", detail=detail))
            continue
        left -= len(text)
        files.setdefault(part.name, []).append(File(name, text))
    return Upload(fields, files, problems)


def _decoded(data: bytes) -> str:
    try:
        return data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise BadRequest("A field of the form is not valid UTF-8.", slug="malformed-body") from error
