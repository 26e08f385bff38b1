"""What operations have in common: the words of their records, parameters, headers and answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

TEXT: Mapping[str, object] = {"type": "string"}
WHOLE: Mapping[str, object] = {"type": "integer"}


@dataclass(frozen=True, slots=True)
class Word:
    """What a word of an operation stands for.

    Attributes:
        parameters: names of common parameters, separated by spaces, as the others are.
        headers: status -> names of common headers.
        answers: names of common answers.
    """

    parameters: str = ""
    headers: Mapping[int, str] = field(default_factory=dict)
    answers: str = ""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a path or a header."""

    name: str
    words: str
    place: str = "path"
    schema: Mapping[str, object] = field(default_factory=lambda: {**TEXT, "minLength": 1})
    example: str | None = None


def _sent(name: str, words: str, schema: Mapping[str, object] = TEXT, example: str | None = None) -> Parameter:
    """Return a parameter that is a header."""
    return Parameter(name, words, "header", schema, example)


@dataclass(frozen=True, slots=True)
class Header:
    """A header of answers."""

    words: str
    schema: Mapping[str, object] = field(default_factory=lambda: TEXT)
    required: bool = False

    def document(self) -> dict[str, object]:
        """Return what openapi.yaml says of it."""
        required = {"required": True} if self.required else {}
        return {"description": self.words, **required, "schema": dict(self.schema)}


@dataclass(frozen=True, slots=True)
class Common:
    """An answer of many operations, with a problem document unless `problem` is false.

    Attributes:
        headers: names of common headers.
        own: headers that no other answer has.
        examples: of its problem: what they show -> name.
    """

    status: int
    words: str
    headers: Sequence[str] = ()
    own: Mapping[str, Header] = field(default_factory=dict)
    problem: bool = True
    examples: Mapping[str, str] = field(default_factory=dict)


_QUOTA = ("RateLimitLimit", "RateLimitRemaining", "RateLimitReset", "RateLimitPolicy", "RateLimit")
_FINE = (200, 201, 202)
IMPLIED = ("v1", "token", "scope", "read", "body")
"""Words that an operation has by its address, its token and the scopes of it, its method and its body."""
WORDS: Mapping[str, Word] = {
    "v1": Word("RequestId", dict.fromkeys(_FINE, "RequestId"), "BadRequest"),  # every operation below /v1
    "token": Word(answers="Unauthorized"),  # an operation that reads a token
    "read": Word("IfNoneMatch", {200: "ETag Vary CacheControl ContentEncoding"}, "NotModified"),  # every GET
    "body": Word(answers="PayloadTooLarge UnsupportedMediaType Unprocessable"),  # an operation with a body
    "scope": Word(answers="Forbidden"),  # the token may lack the scope
    "shown": Word(answers="Forbidden"),  # what is asked may not be shown
    "found": Word(answers="NotFound"),  # the resource in the path or query may be unknown
    "kept": Word(answers="NotFound Gone"),  # the same, and it may be deleted
    "over": Word(answers="Gone"),  # what a secret stands for may be over
    "conflict": Word(answers="Conflict"),  # the state may forbid the request
    "invalid": Word(answers="Unprocessable"),  # a query may be well-formed but invalid
    "limited": Word(answers="TooManyRequests"),  # a quota may be used up, or too many runs queued
    "page": Word(headers={200: "Link"}),  # the answer is a page
    "wrong": Word(answers="BadRequest"),  # a query outside /v1 may be malformed
    "forms": Word(answers="NotAcceptable"),  # Accept selects the media type
    "poll": Word("Prefer", {200: "RetryAfterUnfinished PreferenceApplied"}),  # GET that waits
    "wait": Word(
        "Prefer", {**dict.fromkeys(_FINE, "PreferenceApplied"), 202: "RetryAfter PreferenceApplied"}
    ),  # POST that waits
    "keyed": Word("IdempotencyKey", dict.fromkeys((201, 202), "IdempotentReplayed"), "Conflict"),  # takes such a key
    "makes": Word(headers=dict.fromkeys((201, 202), "Location")),  # makes a resource
    "tagged": Word(headers=dict.fromkeys(_FINE, "ETag")),  # the answer has an ETag
    "quota": Word(headers=dict.fromkeys(_FINE, " ".join(_QUOTA))),  # the answer shows the quota
    "matched": Word("IfMatch", answers="PreconditionFailed PreconditionRequired"),  # needs If-Match
    "unready": Word(answers="Unavailable"),  # may answer 503 with the state of the service
    "erases": Word(answers="Done"),  # answers 204
    "owned": Word("JobKey"),  # a job made without a token takes its key
}
PARAMETERS: Mapping[str, Parameter] = {
    "JobId": Parameter("job_id", "Id of the job."),
    "Benchmark": Parameter("benchmark", "Id of the benchmark."),
    "Part": Parameter("part", "Name of the part."),
    "RevisionNumber": Parameter("number", "Number of the revision."),
    "Team": Parameter("team", "Id of the team."),
    "Invite": Parameter("invite", "Id of the invite (not its secret)."),
    "Submission": Parameter("submission", "Id of the submission."),
    "Comparison": Parameter("comparison", "Id of the comparison."),
    "Webhook": Parameter("webhook", "Id of the webhook."),
    "JobKey": _sent("Job-Key", "The `key` of a job that was made without a token. Jobs of a token need none."),
    "IfMatch": _sent(
        "If-Match",
        "The `ETag` that you have seen. Without it the answer is 428; if the resource has changed since, 412.",
    ),
    "Prefer": _sent(
        "Prefer",
        "`wait=N`: hold the answer back until the work is finished, at most N seconds (maximum 60).",
        example="wait=20",
    ),
    "IdempotencyKey": _sent(
        "Idempotency-Key",
        "A key that you choose for this request. The same key with the same body returns the result of the first "
        "request. With another body the answer is 422; while the first request is being stored, 409.",
        {"type": "string", "pattern": "^[!-~]{1,255}$"},
    ),
    "IfNoneMatch": _sent("If-None-Match", "The `ETag` values that you have."),
    "RequestId": _sent(
        "Request-Id",
        "An id that you choose for this request: 1 to 128 letters, digits and `._:-`. An invalid one is replaced; "
        "without one, `X-Request-Id` counts.",
    ),
    "ScorerName": Parameter("name", "Name of a metric, format or transform.", example="attachment"),
    "ProblemName": Parameter("problem", "A code, or the last part of a `type`.", example="word-mismatch"),
    "TokenId": Parameter("token_id", "Id of the token (not its secret)."),
}
HEADERS: Mapping[str, Header] = {
    "ETag": Header("Strong validator of the answer.", {"type": "string", "pattern": '^"[^"]+"$'}, required=True),
    "Link": Header('Address of the next page (`rel="next"`), absent on the last page.'),
    "Location": Header("Address of the new resource.", required=True),
    "PreferenceApplied": Header("The wait that the service granted."),
    "IdempotentReplayed": Header("`true` if an earlier request with this Idempotency-Key made the resource."),
    "RetryAfter": Header("Seconds to wait before the next request.", WHOLE, required=True),
    "RetryAfterUnfinished": Header("Seconds to wait before the next request; absent if waiting does not help.", WHOLE),
    "Vary": Header("Request headers that the answer depends on.", required=True),
    "CacheControl": Header(
        "`private, no-cache`: ask each time with `If-None-Match`. `public` with a few seconds where no token was sent"
        " and all callers may see the answer. `no-store` beside secrets.",
        required=True,
    ),
    "ContentEncoding": Header(
        "The coding of the body, one that `Accept-Encoding` accepts; absent where the body is plain.",
        {"enum": ["gzip", "zstd"]},
    ),
    "RateLimitLimit": Header("Limit of the quota with the least left; absent if the team has no quota.", WHOLE),
    "RateLimitRemaining": Header("Submissions left in that quota.", WHOLE),
    "RateLimitReset": Header(
        "Seconds until that quota is refilled (midnight UTC); absent if it is never refilled.", WHOLE
    ),
    "RateLimitPolicy": Header("All quotas as structured fields (draft-ietf-httpapi-ratelimit-headers)."),
    "RateLimit": Header("What is left of each quota, as structured fields."),
    "RequestId": Header("The id of this request.", required=True),
}
ANSWERS: Mapping[str, Common] = {
    "Done": Common(204, "Deleted.", problem=False),
    "NotModified": Common(
        304, "Nothing has changed since the given `ETag`.", headers=("ETag", "Vary", "CacheControl"), problem=False
    ),
    "BadRequest": Common(400, "The query, a header or the body is malformed."),
    "Unauthorized": Common(
        401,
        "The token is missing, invalid, expired or revoked.",
        own={"WWW-Authenticate": Header("The authentication scheme.", required=True)},
    ),
    "Forbidden": Common(403, "The token does not have a required scope."),
    "NotFound": Common(404, "The resource does not exist, or you may not see it."),
    "NotAcceptable": Common(406, "`Accept` allows no media type that this operation has."),
    "Conflict": Common(
        409, "The state of the resource does not allow this request.", headers=("RetryAfterUnfinished",)
    ),
    "Gone": Common(410, "The resource was deleted."),
    "PreconditionFailed": Common(412, "The resource has changed since `If-Match`. Get it again."),
    "PayloadTooLarge": Common(413, "The decompressed body exceeds the size limit."),
    "UnsupportedMediaType": Common(
        415,
        "The media type or content coding of the body is not supported.",
        own={"Accept": Header("Supported media types."), "Accept-Encoding": Header("Supported content codings.")},
    ),
    "Unprocessable": Common(
        422,
        "The request is well-formed but invalid; `errors` lists the faults.",
        examples={"missingMetrics": "MissingMetrics"},
    ),
    "PreconditionRequired": Common(428, "The request needs `If-Match`."),
    "TooManyRequests": Common(
        429,
        "A quota is used up, or too many of your runs are queued. `Retry-After` is present if waiting helps.",
        headers=("RetryAfterUnfinished", *_QUOTA),
    ),
    "Unavailable": Common(503, "The store or the queue is not available.", headers=("RetryAfter",)),
}


@dataclass(frozen=True, slots=True)
class Form:
    """A body as a form: `meta` is JSON, all else are files.

    Attributes:
        others: what a file is.
        meta: what `meta` is.
        schema: name of its schema, if it has one.
        named: files that have a name of their own, with what they are.
    """

    others: str
    meta: str = ""
    schema: str | None = None
    named: Mapping[str, str] = field(default_factory=dict)


FORMS: Mapping[str, Form] = {
    "JobForm": Form("Output of the system of this name.", schema="JobMeta", named={"gold": "The gold text."}),
    "BenchmarkForm": Form("Gold of the part of this name.", "A BenchmarkRequest without the texts, as JSON."),
    "RevisionForm": Form("Gold of the part of this name.", "A RevisionRequest without the texts, as JSON."),
    "SubmissionForm": Form("Output for the part of this name.", "A SubmissionRequest without outputs, as JSON."),
}
