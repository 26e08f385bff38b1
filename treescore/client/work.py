"""What the methods of resources do; and those that send texts or documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict, TypeVar, Unpack

from treescore.client import documents
from treescore.client.answers import Answer, Cancelled, Document, RequestError, Target, WrongAnswer, failure_error
from treescore.client.requests import KEY, OPERATIONS, Texts, Watch
from treescore.client.session import WAIT_SECONDS, Call, Session, method
from treescore.core.params import Choice, Json, choices_of
from treescore.core.wording import did_you_mean

D = TypeVar("D", bound=Document)


class Sending(TypedDict, total=False):
    """How work is sent.

    Attributes:
        wait: whether to return it once it has finished.
        check: whether work that failed is an error, where it is waited for.
        progress: called with the bytes sent, the place in the queue and the state.
        seconds: time for all of it.
        key: that makes the same request find the same work; one of its own unless given.
    """

    wait: bool
    check: bool
    progress: Watch | None
    seconds: float | None
    key: str | None


class Resource:
    """A part of the service, on behalf of a client."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def _call(self, operation: str, *values: str, **options: Any) -> Call:
        """Return a call; `values` are those of the path, in its order; query and further attributes are named."""
        return self._session.call(operation, dict(zip(OPERATIONS[operation].places, values, strict=True)), **options)

    async def _answer(self, operation: str, *values: str, **options: Any) -> Answer:
        """Carry out an operation."""
        return await self._call(operation, *values, **options).exchange()

    async def _read(self, kind: type[D], operation: str, *values: str, **options: Any) -> D:
        """Return the document that an operation answers with."""
        return kind.of(await self._answer(operation, *values, **options))

    async def _text(self, to: Target | None, operation: str, *values: str, **options: Any) -> str:
        """Return an answer as text; empty where it goes into the file `to`, which is written whole or not at all."""
        return (await self._answer(operation, *values, target=to, headers={"Accept": "*/*"}, **options)).text

    async def _finished(self, kind: type[D], call: Call, answer: Answer | None = None, *, check: bool) -> D:
        """Return work once it has finished.

        Args:
            kind: of its document.
            call: that reads it.
            answer: that shows it already.
            check: whether work that failed or was cancelled is an error.

        Raises:
            ClientError: of the failure's class, with its problems; also where the time is over before.
        """
        document = kind.of(await call.wait(answer))
        if check and document.get("state") == "failed":
            failure = document.get("failure")
            raise failure_error(failure if isinstance(failure, dict) else {"detail": "Scoring failed.", "status": 500})
        if check and document.get("state") == "cancelled":
            raise Cancelled(f"{document.get('id')} was cancelled.")
        return document

    async def _work(
        self, kind: type[D], operation: str, reads: str, how: Sending, *values: str, name: str = "id", **options: Any
    ) -> D:
        """Send work, and wait for it if asked.

        Args:
            kind: of its document.
            operation: that sends it.
            reads: the operation that reads it.
            how: it is sent, and whether it is waited for.
            values: of the path of the operation that sends it.
            name: of the member that has its own in the path of the other.
            options: what is sent.

        Raises:
            ClientError: the service refuses the work, it fails, or the time is over.
            TypeError: a keyword is unknown.
        """
        for given in how:
            if given not in Sending.__optional_keys__:
                raise TypeError(f"Unknown keyword {given!r}.{did_you_mean(given, Sending.__optional_keys__)}")
        progress, waiting = how.get("progress"), how.get("wait", False)
        # a first answer that shows the end spares a poll where the caller does not ask how far the work is
        prefer = f"wait={WAIT_SECONDS}" if waiting and progress is None else None
        headers = given_members(**{KEY: how.get("key"), "Prefer": prefer})
        options |= {"headers": headers, "watch": progress, "seconds": how.get("seconds")}
        call = self._call(operation, *values, **options)
        answer = await call.exchange()
        document = kind.of(answer)
        if not waiting:
            return document
        path = [*values, id_of(document, name)][-len(OPERATIONS[reads].places) :]
        poll = replace(self._call(reads, *path), end=call.end, watch=progress)
        return await self._finished(kind, poll, answer, check=how.get("check", True))


class Thing(Resource):
    """One thing of the service, by its id or document."""

    def __init__(self, session: Session, thing: str | Document) -> None:
        super().__init__(session)
        self.id = id_of(thing)


def id_of(thing: str | Document, name: str = "id") -> str:
    """Return the id of a thing.

    Args:
        thing: the id itself, or its document.
        name: of the member that is the id.

    Raises:
        WrongAnswer: the document lacks it.
    """
    found = getattr(thing, name) if isinstance(thing, Document) else thing
    if not isinstance(found, (str, int)):
        raise WrongAnswer(f"The service answers with {found!r} as {name!r}: it has another version than this client.")
    return str(found)


def given_members(**members: Any) -> dict[str, Any]:
    """Return the members that are given."""
    return {name: value for name, value in members.items() if value is not None}


class JobsWork(Resource):
    """Scoring jobs."""

    @method
    async def submit(
        self,
        gold: Texts,
        outputs: Mapping[str, Texts],
        metrics: Choice | Sequence[Choice],
        *,
        format: Choice,  # noqa: A002 - as a request names it
        formats: Mapping[str, Choice] | None = None,
        run_of: Mapping[str, str] | None = None,
        transforms: Sequence[Choice] | None = None,
        significance: bool | Mapping[str, Json] | None = None,
        agreement: Sequence[Sequence[str]] | None = None,
        items: Mapping[str, Json] | None = None,
        **how: Unpack[Sending],
    ) -> documents.Job:
        """Score outputs against gold.

        Args:
            gold: path, text, bytes or open file; a mapping of them for formats of several texts.
            outputs: the same by the names of their systems.
            metrics: one or several.
            format: of gold and outputs.
            formats: of outputs in another format, by system.
            run_of: system -> the system of which it is a further training run.
            transforms: applied before all metrics.
            significance: settings of the comparisons; False for none.
            agreement: pairs of scores whose agreement is wanted.
            items: what is known of gold's sentences, as for `treescore.score`.
            how: it is sent.

        Raises:
            ClientError: the service refuses the job, it fails, or the time is over.
        """
        systems = [
            given_members(name=name, format=(formats or {}).get(name), run_of=(run_of or {}).get(name))
            for name in outputs
        ]
        unknown = [name for name in (*(formats or {}), *(run_of or {})) if name not in outputs]
        if unknown:
            meant = did_you_mean(unknown[0], outputs)
            raise RequestError(f"Unknown system {unknown[0]!r}.{meant} Systems: {', '.join(outputs)}.")
        meta = given_members(
            format=format, metrics=choices_of(metrics), systems=systems, transforms=transforms,
            significance=significance, agreement=agreement, items=items,
        )  # fmt: skip
        numbered = {f"systems/{number}": text for number, text in enumerate(outputs.values())}
        texts = {"gold": gold, **numbered}
        return await self._work(documents.Job, "submit_job", "get_job", how, json=meta, texts=texts)


class BenchmarksWork(Resource):
    """Benchmarks of the service."""

    @method
    async def create(
        self, settings: Mapping[str, Json], gold: Mapping[str, Texts], **how: Unpack[Sending]
    ) -> documents.Benchmark:
        """Create a benchmark.

        Args:
            settings: `id`, `title`, `format`, `metrics` and what else the request of the contract has, without gold.
            gold: the text of each part, by the part's name.
            how: it is sent.

        Raises:
            ClientError: the service refuses it, the gold cannot be used, or the time is over.
        """
        sent: dict[str, Any] = {"json": dict(settings), "texts": gold}
        return await self._work(documents.Benchmark, "create_benchmark", "get_benchmark", how, **sent)


class BenchmarkWork(Thing):
    """One benchmark."""

    @method
    async def change(self, changes: Mapping[str, Json], *, etag: str | None = None) -> documents.Benchmark:
        """Change settings, if it has not changed since it was read.

        Args:
            changes: settings with their new values.
            etag: of the benchmark that the changes are meant for (`benchmark.etag`); the present one unless given.

        Raises:
            PreconditionFailed: it has changed since.
        """
        if etag is None:
            etag = (await self._answer("get_benchmark", self.id)).etag
        call = {"json": dict(changes), "headers": {"If-Match": etag}}
        return await self._read(documents.Benchmark, "patch_benchmark", self.id, **call)

    @method
    async def submit(
        self,
        outputs: Mapping[str, Texts],
        *,
        name: str | None = None,
        notes: str | None = None,
        links: Mapping[str, str] | None = None,
        run_of: str | None = None,
        team: str | None = None,
        role: str | None = None,
        **how: Unpack[Sending],
    ) -> documents.Submission:
        """Submit outputs.

        Args:
            outputs: path, text, bytes or open file of each part, by the part's name; a mapping of them for formats of
                several texts.
            name: of the submission.
            notes: anything to keep beside it.
            links: addresses of its `paper`, `code` and `model`, which begin with https://.
            run_of: name of the system of which this is a further training run.
            team: for which an organiser submits.
            role: `baseline` for an organiser's baseline.
            how: it is sent.

        Raises:
            ClientError: the service refuses it, it fails, or the time is over.
        """
        meta = given_members(name=name, notes=notes, links=links, run_of=run_of, team=team, role=role)
        sent: dict[str, Any] = {"json": meta, "texts": outputs}
        return await self._work(documents.Submission, "submit", "get_submission", how, self.id, **sent)

    @method
    async def validate(
        self, outputs: Mapping[str, Texts], *, team: str | None = None, role: str | None = None, **how: Unpack[Sending]
    ) -> documents.Job:
        """Have outputs checked without scoring them: an attempt; `results` of the job, once it ended, has each part."""
        sent: dict[str, Any] = {"json": given_members(team=team, role=role), "texts": outputs}
        query = {"validate_only": "true"}
        return await self._work(documents.Job, "submit", "get_job", {"wait": True, **how}, self.id, query=query, **sent)

    @method
    async def compare(
        self,
        /,
        submissions: Sequence[str | Document] | str = "leaderboard",
        *,
        wait: bool = True,
        check: bool = True,
        progress: Watch | None = None,
        seconds: float | None = None,
        **settings: Json,
    ) -> documents.StoredComparison:
        """Compare submissions, or all on the board.

        Args:
            submissions: ids or documents; `leaderboard` for all on the board.
            wait: whether to return the answered comparison.
            check: whether a comparison that failed is an error, where it is waited for.
            progress: called with its progress.
            seconds: time for all of it.
            settings: `score`, `part`, `test`, `unit` and what else the request of the contract has.

        Raises:
            ClientError: the service refuses it, it fails, or the time is over.
        """
        asked = submissions if isinstance(submissions, str) else [id_of(each) for each in submissions]
        how: Sending = {"wait": wait, "check": check, "progress": progress, "seconds": seconds}
        request = {**settings, "submissions": asked}
        kind = documents.StoredComparison
        return await self._work(kind, "ask_comparison", "get_comparison", how, self.id, json=request)

    @method
    async def add_teams(self, teams: Sequence[Mapping[str, str]]) -> documents.NewTeams:
        """Add all of several teams, or none; each has `id`, `name` and perhaps `contact`. Tokens are shown once."""
        request = {"teams": [dict(team) for team in teams]}
        return await self._read(documents.NewTeams, "create_team", self.id, json=request)

    @method
    async def revise(
        self, settings: Mapping[str, Json], gold: Mapping[str, Texts] | None = None, **how: Unpack[Sending]
    ) -> documents.Revision:
        """Revise gold or rules; all submissions are scored again.

        Args:
            settings: `reason`, `dry_run` and what else the request of the contract has, without gold.
            gold: the new text of each part that changes.
            how: it is sent.

        Raises:
            ClientError: the service refuses it, the gold cannot be used, or the time is over.
        """
        sent: dict[str, Any] = {"json": dict(settings), "texts": gold or None, "name": "number"}
        return await self._work(documents.Revision, "create_revision", "get_revision", how, self.id, **sent)


class SubmissionWork(Thing):
    """One submission."""

    @method
    async def withdraw(self, *, withdrawn: bool = True, reason: str | None = None) -> documents.Submission:
        """Take the submission off the board, or put it back."""
        changes = {"withdrawn": withdrawn, **({} if reason is None else {"reason": reason})}
        return await self._read(documents.Submission, "patch_submission", self.id, json=changes)

    @method
    async def retry(self, **how: Unpack[Sending]) -> documents.Submission:
        """Score a submission again that the service failed to score."""
        return await self._work(documents.Submission, "retry_submission", "get_submission", how, self.id)
