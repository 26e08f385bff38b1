"""The catalogue of problems: types, which answers and failures have, and codes, which `errors[]` and warnings have.

The type is the last part of a problem's `type`, with its title and status. Codes are the service's own, of members of
requests, benchmarks and comparisons, beside those of the library.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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


JSON = {
    "json-duplicate-key": Entry(
        "A key is repeated",
        "An object of the body has the same key twice, so that one value would be lost.",
        "Keep one of the two.",
    ),
    "json-empty": Entry(
        "The body is empty",
        "The operation needs a JSON object, and no byte of it arrived.",
        "Send a JSON object.",
    ),
    "json-half-surrogate": Entry(
        "An escape is half of a surrogate pair",
        "The escape \\ud83d or a similar one stands alone in a string; it is not a character.",
        "Write both halves of the pair, or the character itself.",
    ),
    "json-huge-number": Entry(
        "A number is too large",
        "A number exceeds 64 bits, or the range of a double.",
        "Write a smaller number.",
    ),
    "json-invalid-utf8": Entry(
        "The body is not UTF-8",
        "A byte of the body is not valid UTF-8; the text is probably in another encoding.",
        "Encode the body as UTF-8.",
    ),
    "json-not-a-number": Entry(
        "NaN and Infinity are not JSON",
        "JSON has no value for NaN or Infinity.",
        "Write null, or leave the field out.",
    ),
    "json-syntax": Entry(
        "The body is not valid JSON",
        "The body cannot be parsed at the given line and column.",
        "Correct it there. A text belongs into a string with its line breaks escaped; most libraries do that.",
    ),
    "json-too-deep": Entry(
        "The body is nested too deeply",
        "Arrays and objects of the body are nested more than a thousand levels deep.",
        "Send the object that the operation describes.",
    ),
}
MEMBERS = {
    "bad-table": Entry(
        "The table cannot be read",
        "The header is another one, a row has more or fewer fields than the header, or quotes are not in pairs.",
        "Save the table as CSV in UTF-8, with commas between fields, and put a field with commas or quotes in quotes.",
        'id,name,contact\nlyon,"Lyon, Parsing Group",parsers@example.org',
    ),
    "repeated-id": Entry(
        "An id stands there twice",
        "Two teams of one request have the same id.",
        "Give each team an id of its own.",
    ),
    "taken-id": Entry(
        "The id of a team is taken",
        "A team of the benchmark has the id, or had it before it was erased.",
        "Use another id.",
    ),
    "bad-address": Entry(
        "The address is invalid",
        "Pages link to it, so that it must begin with https:// and hold only characters that addresses are made of.",
        "Write a whole address, and other characters as %C3%A9.",
        "https://example.org/paper.pdf",
    ),
    "bad-id": Entry(
        "The id is invalid",
        "An id is part of addresses and has only certain characters.",
        "Use 1 to 60 letters, digits, `_`, `-` and `.`, and begin with a letter or digit.",
        "shared-task-2026",
    ),
    "bad-moment": Entry(
        "The time is invalid",
        "The value is not a time in ISO 8601, has no zone, or lies outside the years 1970 to 8999.",
        "Write date, time and zone.",
        "2026-10-01T00:00:00Z",
    ),
    "bad-part-name": Entry(
        "The name of the part is invalid",
        "The name of a part is used in addresses, and some names stand for all parts together.",
        "Use 1 to 64 letters, digits, `_`, `-` and `.`, other than the reserved names in the message.",
    ),
    "bad-quota": Entry(
        "The quota is invalid",
        "A quota is a whole number in the range that the message names.",
        "Write such a number, or null for no limit.",
    ),
    "bad-value": Entry(
        "The value is invalid",
        "The value has the right type, but is not among the allowed ones, or is too long, too large or too small.",
        "Use a value as the message says.",
    ),
    "bad-webhook-url": Entry(
        "The service does not send to this URL",
        "The URL is malformed, does not use https, or leads to a private address.",
        "Give a public https URL. Operators may permit private addresses.",
        "https://example.org/hook",
    ),
    "duplicate-text": Entry(
        "A text is given twice",
        "Two files of the form, or a file and a member of `meta`, stand for the same text.",
        "Send each text once.",
    ),
    "several-texts": Entry(
        "An archive holds several files",
        "A zip archive was sent as one text, but it holds several files.",
        "Send it under the name `parts`, with a file for each part, or send one archive for each text.",
    ),
    "missing-field": Entry(
        "A required member is missing",
        "The object lacks a member that the operation needs.",
        "Add the member that the pointer names.",
    ),
    "not-changeable": Entry(
        "The member cannot be changed",
        "PATCH changes only the members that the message lists.",
        "Leave the member out. Gold, format and metrics of a benchmark change with a new revision.",
    ),
    "null-field": Entry(
        "The member may not be null",
        "The member has the value null, which has no meaning for it.",
        "Give a value, or leave the member out.",
    ),
    "past-moment": Entry(
        "The time lies in the past",
        "A token cannot expire before it is made.",
        "Give a time in the future, or null for a token that does not expire.",
    ),
    "unknown-field": Entry(
        "The member is unknown",
        "The object has a member that the operation does not know; perhaps it is misspelt.",
        "Use one of the names that the message lists.",
    ),
    "unknown-part": Entry(
        "The part is unknown",
        "The benchmark has no part of this name, or a file of the form belongs to no system.",
        "Use one of the names that the message lists. GET /v1/benchmarks/{benchmark} shows the parts.",
    ),
    "unknown-team": Entry(
        "The team is unknown",
        "The benchmark has no team of this id, or the team was erased.",
        "Use an id of GET /v1/benchmarks/{benchmark}/teams.",
    ),
}
BENCHMARKS = {
    "about-too-long": Entry(
        "The benchmark says too much of itself",
        "The texts and links of `about` have more than 20,000 bytes together.",
        "Shorten them, and link to a page of your own.",
    ),
    "closes-before-opening": Entry(
        "The benchmark would close before it opens",
        "`closes_at` is not later than `opens_at`.",
        "Set a later closing time.",
    ),
    "errors-excluded": Entry(
        "Sentences without a usable output are left out of the scores",
        "An output of the easiest sentences could score best. Such rows rank last.",
        "Set `errors` to zero, unless each output is known to be complete.",
    ),
    "format-changed": Entry(
        "A revision cannot change the format",
        "The outputs of earlier submissions are in the format of the benchmark.",
        "Create a new benchmark.",
    ),
    "ladder-level": Entry(
        "The feedback level does not fit the ladder",
        "The level would show scores that the ladder holds.",
        "Use a lower level, or no ladder.",
    ),
    "ladder-pick": Entry(
        "The ladder needs the best submission of each team",
        "A ladder shows the last released submission of each team.",
        "Set `pick` to best.",
    ),
    "no-parts": Entry(
        "The number of parts is wrong",
        "A benchmark or a revision must have at least one part, and not more than the limit.",
        "Add a part with gold, or join parts.",
    ),
    "no-sentences": Entry(
        "Gold has no sentence",
        "The gold of the part holds no sentence that can be scored.",
        "Send gold with at least one sentence.",
    ),
    "no-split": Entry(
        "The test set is not split",
        "The benchmark has no public and private share.",
        "Leave `split` out.",
    ),
    "part-not-split": Entry(
        "A part is too small to be split",
        "One of the shares of the part would have no sentence.",
        "Join it with another part, or do without a split.",
    ),
    "reopened-split": Entry(
        "The closing time cannot change any more",
        "The private share is shown since the benchmark closed, so that later outputs could be fitted to it.",
        "Create a new benchmark.",
    ),
    "repeats-gain": Entry(
        "An output that repeats its edges gains",
        "The metric counts every pair of equal edges of gold and output.",
        "On a benchmark set `counting` to multiset.",
    ),
    "small-difference": Entry(
        "Gold is too near to that of another revision",
        "Both scores of a submission together would tell about the few sentences that differ.",
        "Correct more sentences at once. The message says what is no longer shown.",
    ),
    "small-part": Entry(
        "A part is small",
        "The scores of a small part tell much about its single sentences.",
        "Join it with another part. The message says what is not shown otherwise.",
    ),
    "part-and-track": Entry(
        "A track has the name of a part",
        "Both are asked for by `part`, which then would not say which is meant.",
        "Use another name for one of them.",
    ),
    "bad-track": Entry(
        "A track cannot be used",
        "It names no part, or one twice, or there are too many tracks or names.",
        "Name 1 to 1000 different parts in each of at most 100 tracks.",
    ),
    "track-lacks-part": Entry(
        "A track names a part that the revision lacks",
        "The revision does not have the part.",
        "Give the track other parts with PATCH, or leave it: it is the mean of its other parts.",
    ),
    "split-begun": Entry(
        "The split cannot change any more",
        "Scores over other shares have been shown since the first submission.",
        "Create a new benchmark.",
    ),
    "split-level": Entry(
        "The feedback level does not fit the split",
        "The level would show sentences of both shares before the benchmark closes.",
        "Use a lower level; `feedback_after_closing` may be higher.",
    ),
    "split-without-closing": Entry(
        "A split needs a closing time",
        "The private share is shown when the benchmark closes.",
        "Set `closes_at`; it can be extended as long as it has not passed.",
    ),
}
WORK = {
    "ambiguous-system": Entry(
        "Several submissions have this name",
        "The name in run_of does not say which submission is the first training run.",
        "Give the submissions different names, and name one.",
    ),
    "does-not-fit": Entry(
        "The output does not fit gold's text",
        "The output has other sentences or words than gold; where they differ is not shown, because the organisers "
        "do not publish the text.",
        "Send one parse for each sentence of the text that was given out, with its words, in its order.",
    ),
    "equal-run": Entry(
        "The outputs are those of another run",
        "A copy of a training run would make the system look more certain than it is.",
        "Submit the outputs of another training run.",
    ),
    "held": Entry(
        "The ladder holds the scores of this submission",
        "Until the ladder releases the scores, comparisons would show them.",
        "Compare a submission whose scores are released.",
    ),
    "job-timeout": Entry(
        "Scoring takes too long",
        "The work exceeds the time limit of the service.",
        "Send fewer or shorter texts, or leave out metrics and tests that take long.",
    ),
    "no-outputs": Entry(
        "The submission has no outputs",
        "The object of outputs is empty.",
        "Send the output of at least one part.",
    ),
    "no-scores": Entry(
        "The submission has no scores",
        "The submission failed, was cancelled, or is not scored yet.",
        "Compare submissions whose state is succeeded.",
    ),
    "repeated-submission": Entry(
        "A submission is repeated",
        "A submission cannot be compared with itself.",
        "Name each submission once.",
    ),
    "repeated-team": Entry(
        "Both teams are the same",
        "A team cannot be compared with itself.",
        "Name two teams.",
    ),
    "too-few-submissions": Entry(
        "The leaderboard has too few submissions",
        "A comparison needs two submissions with scores.",
        "Wait until two submissions are scored.",
    ),
    "too-many-systems": Entry(
        "The job has too many systems",
        "The number of systems exceeds the limit of a job.",
        "Send several jobs.",
    ),
    "unknown-submission": Entry(
        "The submission is unknown",
        "The id is wrong, or you may not know of the submission.",
        "Take the ids from the rows of the leaderboard, or from the list of your submissions.",
    ),
    "worker-died": Entry(
        "The service failed several times",
        "The process that scored the texts ended without a result, perhaps for lack of memory.",
        "Send the request again; if it fails again, report its id to the operator.",
    ),
}
OWN_CODES: Mapping[str, Entry] = {**JSON, **MEMBERS, **BENCHMARKS, **WORK}
"""Code -> entry of the service's own codes."""


CODES: Mapping[str, Entry] = dict(sorted({**CATALOGUE, **OWN_CODES}.items()))
"""Code -> entry: those of the library and those of the service."""

__all__ = ["CODES", "OWN_CODES", "TYPES", "Entry", "ProblemType", "type_of_status"]
