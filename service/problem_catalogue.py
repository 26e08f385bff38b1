"""The catalogue of problems: types, which answers and failures have, and codes, which `errors[]` and warnings have.

The type is the last part of a problem's `type`, with its title and status. Codes are the service's own
(`service.problem_codes`) and those of the library.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from service.problem_codes import OWN_CODES
from treescore.problem_catalogue import CATALOGUE, Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemType(Entry):
    """One type of problems.

    Attributes:
        status: HTTP status of its answers.
    """

    status: int


def _type(status: int, title: str, cause: str, fix: str, example: str = "") -> ProblemType:
    return ProblemType(title=title, cause=cause, fix=fix, example=example, status=status)


TYPES: Mapping[str, ProblemType] = {
    "bad-request": _type(
        400,
        "The request is malformed",
        "A header or the request itself does not have the form that HTTP or this operation requires.",
        "Correct what the detail names. /docs describes the headers of each operation.",
    ),
    "invalid-host": _type(
        400,
        "The host of the request is invalid",
        "The Host header is missing, repeated or malformed, or the address of the request names another host.",
        "Send one Host header with the name of the service, and a path as the address.",
    ),
    "invalid-query": _type(
        400,
        "The query string is invalid",
        "A query parameter is unknown, repeated, missing, or has an invalid value.",
        "Correct the parameters that the detail names, each once.",
        "/v1/jobs?state=running&limit=20",
    ),
    "malformed-body": _type(
        400,
        "The body is malformed",
        "The body is not valid JSON or not a valid form, its coding is broken, or it ends too early.",
        "Correct the body at the place that `errors` names, and send it whole.",
    ),
    "unauthorized": _type(
        401,
        "A valid token is required",
        "The request has no token, or one that is malformed, unknown, expired or revoked.",
        "Send a valid token. Organisers make tokens with POST /v1/tokens, and those of a team with the team.",
        "Authorization: Bearer <token>",
    ),
    "forbidden": _type(
        403,
        "The token does not allow this",
        "The token lacks a scope that the operation needs, belongs to no team or to another one, or only organisers "
        "may do this.",
        "Use a token with the scope that the detail names.",
    ),
    "cross-site": _type(
        403,
        "The request comes from another site",
        "A page of another site sent a request that may change something.",
        "Send it from a program, or from a page of this service.",
    ),
    "fixed-question": _type(
        403,
        "The benchmark fixes its questions",
        "Only organisers may ask with other settings than those of the benchmark: each further answer would tell more "
        "about gold.",
        "Leave the setting out that the detail names.",
    ),
    "job-key": _type(
        403,
        "The key of the job is required",
        "The job was made without a token, and only who has its key may change it.",
        "Send the `key` of the answer that made the job.",
        "Job-Key: <key>",
    ),
    "not-comparable": _type(
        403,
        "These submissions cannot be compared",
        "Teams may compare rows of the leaderboard, or their own submissions with their row.",
        "Take the ids of the submissions from the rows of the leaderboard.",
    ),
    "not-shown": _type(
        403,
        "The benchmark does not show this",
        "The feedback level of the benchmark, or the time of its release, does not show this to teams.",
        "Ask the organisers, or wait until the benchmark shows it.",
    ),
    "unknown-invite": _type(
        403,
        "The invite is unknown",
        "The secret is not that of an invite; perhaps a part of the address is missing.",
        "Use the whole address that the organisers sent.",
    ),
    "joining-closed": _type(
        403,
        "The benchmark takes no more teams",
        "The closing time of the benchmark has passed.",
        "Ask the organisers for more time.",
    ),
    "not-found": _type(
        404,
        "Unknown resource",
        "The address or the id is wrong, or you may not know of the resource.",
        "Check the address and the id, and send the token that the resource belongs to. /docs lists the addresses.",
    ),
    "method-not-allowed": _type(
        405,
        "The address does not accept the method",
        "The address is known, and has no operation for this method.",
        "Use one of the methods in the Allow header.",
    ),
    "not-acceptable": _type(
        406,
        "No acceptable media type",
        "The Accept header allows none of the media types of this operation.",
        "Set Accept to one of the types that the detail names.",
        "Accept: application/json",
    ),
    "request-timeout": _type(
        408,
        "The request arrives too slowly",
        "The head or the body of the request did not arrive in time.",
        "Send it again over a faster connection, or compress the body.",
        "Content-Encoding: gzip",
    ),
    "conflict": _type(
        409,
        "The state of the resource does not allow this",
        "The resource is being changed, or its state does not permit the request now.",
        "Send the request again after Retry-After. Without that header, do first what the detail names.",
    ),
    "closed": _type(
        409,
        "The benchmark is closed",
        "The closing time of the benchmark has passed.",
        "Ask the organisers for more time. Nothing was charged to the quota.",
    ),
    "has-submissions": _type(
        409,
        "The benchmark has submissions",
        "A benchmark with submissions cannot be deleted.",
        "Delete its submissions first, or close it with `closes_at`.",
    ),
    "id-taken": _type(
        409,
        "The id is taken",
        "Another benchmark or team has or had this id.",
        "Choose another id.",
    ),
    "ladder-begun": _type(
        409,
        "The ladder cannot change any more",
        "Scores have been released by the ladder since the first submission.",
        "Create a new benchmark for another rule.",
    ),
    "no-active-revision": _type(
        409,
        "No revision is active yet",
        "The gold of the benchmark is still being checked, or has failed its check.",
        "Send the request again after Retry-After. Organisers find the failure in GET /v1/benchmarks/{benchmark}.",
    ),
    "no-results": _type(
        409,
        "The work has no results",
        "The job or submission failed or was cancelled, or it is not scored yet.",
        "Look at its `state` and `failure`; correct what they name and send it again.",
    ),
    "not-finished": _type(
        409,
        "The job has not finished",
        "Results are shown when the job has succeeded.",
        "Ask again after Retry-After, or wait for the job with `Prefer: wait=20`.",
    ),
    "not-open": _type(
        409,
        "The benchmark is not open yet",
        "The opening time of the benchmark lies in the future.",
        "Submit after `opens_at`.",
    ),
    "not-retryable": _type(
        409,
        "The submission cannot be retried",
        "Only submissions that failed through an internal error can be scored again as they are.",
        "Correct the outputs and submit them as a new submission.",
    ),
    "revision-under-way": _type(
        409,
        "Another revision is in progress",
        "A benchmark has one unfinished revision at a time.",
        "Send the request again when the other revision is active or has failed.",
    ),
    "delivery-waiting": _type(
        409,
        "The delivery has not ended",
        "The delivery is still waiting for its next attempt.",
        "Wait until it is delivered or given up.",
    ),
    "webhook-disabled": _type(
        409,
        "The webhook is disabled",
        "The receiver answered 410, or nothing was delivered to it for days.",
        "Create another webhook.",
    ),
    "too-many-deliveries": _type(
        409,
        "Too many deliveries wait",
        "As many deliveries of the webhook wait as tests and replays may add to.",
        "Send the request again once some of them have ended.",
    ),
    "too-many-webhooks": _type(
        409,
        "Too many webhooks",
        "The team or the token has as many webhooks as are allowed.",
        "Delete one first.",
    ),
    "invite-expired": _type(
        410,
        "The invite has expired",
        "The time of the invite has passed.",
        "Ask the organisers for another one.",
    ),
    "invite-used-up": _type(
        410,
        "The invite is used up",
        "As many teams were made with the invite as its organisers allowed.",
        "Ask the organisers for another one.",
    ),
    "invite-withdrawn": _type(
        410,
        "The invite was withdrawn",
        "The organisers deleted the invite.",
        "Ask the organisers for another one.",
    ),
    "gone": _type(
        410,
        "The resource was deleted",
        "The resource existed and was deleted, or its details are not kept any more.",
        "Send the texts again if you need the results.",
    ),
    "precondition-failed": _type(
        412,
        "The resource has changed",
        "The ETag in If-Match is not that of the present state: another caller has changed the resource.",
        "Get the resource again, and repeat the change with its new ETag.",
    ),
    "payload-too-large": _type(
        413,
        "The request is too large",
        "The body exceeds the limit of the service, after decompression.",
        "Send fewer or shorter texts, or several requests.",
    ),
    "limit-exceeded": _type(
        413,
        "A limit was exceeded",
        "A text, or the time of the work, exceeds a limit of the service. It is the type of a `failure`.",
        "Split the texts as `errors` says, or ask the operator for a higher limit.",
    ),
    "uri-too-long": _type(
        414,
        "The address is too long",
        "The first line of the request exceeds the limit.",
        "Use a shorter query, and cursors as they were given.",
    ),
    "unsupported-media-type": _type(
        415,
        "The body's media type or coding is not supported",
        "Content-Type or Content-Encoding names a type or a coding that this operation does not take.",
        "Send JSON or a form, plain or coded by gzip or zstd; the headers Accept and Accept-Encoding list them.",
        "Content-Type: application/json",
    ),
    "expectation-failed": _type(
        417,
        "The expectation is not supported",
        "The Expect header has another value than 100-continue.",
        "Leave the header out.",
    ),
    "unknown-host": _type(
        421,
        "The service does not answer for this host",
        "The Host header names a host that the operator has not listed.",
        "Use the address of the service. Operators list hosts in TREESCORE_PUBLIC_URL and TREESCORE_ALLOWED_HOSTS.",
    ),
    "invalid-request": _type(
        422,
        "The request is invalid",
        "The body is well-formed, but members are missing, unknown or have invalid values.",
        "Correct each member that `errors` points to; every error has a code of this catalogue.",
    ),
    "idempotency-key-reused": _type(
        422,
        "The Idempotency-Key belongs to another request",
        "The key was sent before with another body.",
        "Use a new key for each new request, and the same key only to repeat one.",
    ),
    "invalid-input": _type(
        422,
        "The texts cannot be scored",
        "Gold or an output has faults, or they do not fit each other. It is the type of a `failure`.",
        "Correct the texts at the places that `errors` names, and send them again.",
    ),
    "invalid-output": _type(
        422,
        "The output does not fit the gold standard's text",
        "An output of a submission has faults, or other sentences or words than gold. It is the type of a `failure`.",
        "Correct the output at the places that `errors` names, and submit it again.",
    ),
    "precondition-required": _type(
        428,
        "If-Match is required",
        "The request changes a resource, and could undo the change of another caller.",
        "Get the resource, and send its ETag.",
        'If-Match: "<etag>"',
    ),
    "quota-exceeded": _type(
        429,
        "The quota is used up",
        "The team has submitted or compared as often as the benchmark allows in this time.",
        "Wait as long as Retry-After says. Without that header the quota is not refilled.",
    ),
    "too-many-comparisons": _type(
        429,
        "Too many comparisons are waiting",
        "The benchmark has as many unanswered comparisons as are allowed.",
        "Send the request again after Retry-After.",
    ),
    "too-many-failures": _type(
        429,
        "Too many failed authentications",
        "Too many invalid tokens came from this address within a minute.",
        "Send a valid token, which is never refused, or wait as long as Retry-After says.",
    ),
    "too-many-queued": _type(
        429,
        "Too many runs are queued",
        "As many runs of this team, token or address are waiting as are allowed.",
        "Send the request again once one of them has begun, or cancel one.",
    ),
    "too-many-unfinished": _type(
        429,
        "Too many requests are unfinished",
        "As many requests of this address are arriving or being answered as are allowed.",
        "Send fewer at once, and repeat this one after Retry-After.",
    ),
    "too-many-validations": _type(
        429,
        "Too many validations are unfinished",
        "As many validations of this token are under way as are allowed.",
        "Wait for one to finish, then send the request again.",
    ),
    "request-header-fields-too-large": _type(
        431,
        "The headers are too large",
        "The head of the request exceeds the limit.",
        "Send fewer or shorter headers.",
    ),
    "service-fault": _type(
        500,
        "Internal error",
        "The service failed; the request is not the cause. The fault is logged under the id in `instance`.",
        "Send the request again; if it fails again, report `instance` to the operator.",
    ),
    "not-implemented": _type(
        501,
        "The transfer coding is not supported",
        "The Transfer-Encoding header names another coding than chunked.",
        "Send the body with Content-Length, or chunked.",
    ),
    "unavailable": _type(
        503,
        "The service is temporarily unavailable",
        "The store or the queue does not answer, or too many requests are under way.",
        "Send the request again after Retry-After, with the same Idempotency-Key.",
    ),
    "store-damaged": _type(
        503,
        "The store is damaged",
        "The database of the service reports that its file is damaged.",
        "The operators must act. /readyz shows when the service works again.",
    ),
    "store-full": _type(
        503,
        "The store is full",
        "The disk of the database has no space left.",
        "The operators must act. /readyz shows when the service works again.",
    ),
    "store-read-only": _type(
        503,
        "The store is read-only",
        "The database of the service does not accept changes.",
        "The operators must act. /readyz shows when the service works again.",
    ),
    "insufficient-storage": _type(
        507,
        "The storage is full",
        "Bodies that are being received fill the storage for them.",
        "Send the request again later, or a smaller body.",
    ),
}
"""Slug -> type, by status."""
_OF_STATUS = {
    **dict.fromkeys(range(400, 500), "bad-request"),
    **{
        TYPES[slug].status: slug
        for slug in (
            *("unauthorized", "not-found", "method-not-allowed", "not-acceptable", "request-timeout"),
            *("payload-too-large", "uri-too-long", "unsupported-media-type", "expectation-failed"),
            *("request-header-fields-too-large", "not-implemented", "unavailable"),
        )
    },
}


def type_of_status(status: int) -> str:
    """Return the slug of an error that only a status describes, as those of the framework and of the server."""
    return _OF_STATUS.get(status, "service-fault")


CODES: Mapping[str, Entry] = dict(sorted({**CATALOGUE, **OWN_CODES}.items()))
"""Code -> entry: those of the library and those of the service."""

__all__ = ["CODES", "TYPES", "Entry", "ProblemType", "type_of_status"]
