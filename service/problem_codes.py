"""The codes of the service's own problems: of bodies and their members, of benchmarks and comparisons, of work."""

from __future__ import annotations

from collections.abc import Mapping

from treescore.problem_catalogue import Entry

_JSON = {
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
_MEMBERS = {
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
_BENCHMARKS = {
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
_WORK = {
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
OWN_CODES: Mapping[str, Entry] = {**_JSON, **_MEMBERS, **_BENCHMARKS, **_WORK}
"""Code -> entry of the service's own codes."""
