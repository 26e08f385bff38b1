"""Codes of requests: names, parameters, and what belongs together."""

from __future__ import annotations

from treescore.problem_catalogue.entry import Entry

REQUESTS = {
    "bad-parameter": Entry(
        "A parameter has an invalid value",
        "The value does not fit the JSON Schema of the parameter, or not the other parameters.",
        "Use a value as the message says. `treescore metrics NAME` and the catalogue list parameters and values.",
    ),
    "unknown-parameter": Entry(
        "The parameter is unknown",
        "The metric, format, transform or test has no parameter of this name; perhaps it is misspelt.",
        "Use one of the names that the message lists.",
    ),
    "unknown-format": Entry(
        "The format is unknown",
        "No format has this name; perhaps it is misspelt.",
        "Use one of the names that the message lists. `treescore formats` describes them.",
    ),
    "unknown-metric": Entry(
        "The metric is unknown",
        "No metric has this name; perhaps it is misspelt, or it is the name of a score.",
        "Use one of the names that the message lists. The score las is attachment.las or ud.las_f1.",
    ),
    "unknown-transform": Entry(
        "The transform is unknown",
        "No transform has this name; perhaps it is misspelt.",
        "Use one of the names that the message lists.",
    ),
    "unknown-score": Entry(
        "The score is unknown",
        "The address does not name a metric of the request and one of its scores.",
        "Write the key of a metric, a dot and the name of a score.",
        "ud.las_f1",
    ),
    "no-metric": Entry(
        "The request has no metric",
        "The list of metrics is empty.",
        "Name at least one metric.",
        '{"metrics": ["attachment"]}',
    ),
    "duplicate-metric-key": Entry(
        "Two metrics have the same key",
        "The results could not tell the two apart.",
        'Give one of them another "key".',
        '{"name": "attachment", "key": "no_punct", "params": {"punctuation": false}}',
    ),
    "duplicate-system-name": Entry(
        "Two systems have the same name",
        "The results could not tell the two apart.",
        "Give each system its own name; in a command write NAME=PATH. Further training runs of one system have names "
        "of their own too.",
    ),
    "bad-name": Entry(
        "The name is invalid",
        "A name is shown in one line: it is too long, empty, or has line breaks or control characters.",
        "Use 1 to 200 printable characters.",
    ),
    "metric-format-mismatch": Entry(
        "The metric cannot score this format",
        "The metric compares another kind of annotation than the format holds, such as brackets and dependencies.",
        "Use a metric for this kind, or a transform that makes what the metric needs.",
    ),
    "transform-format-mismatch": Entry(
        "The transform cannot work on this format",
        "The transform changes another kind of annotation than gold or the output has at this step.",
        "Remove the transform, or put it after the one that makes what it needs.",
    ),
    "item-count-mismatch": Entry(
        "A list of properties has a wrong number of entries",
        "A list in items must have one entry for each sentence of gold, in the same order.",
        "Give one entry for each sentence of gold.",
    ),
    "too-few-systems": Entry(
        "A comparison needs two systems",
        "Only one system was given, or all outputs are training runs of one system.",
        "Give the outputs of two or more systems.",
    ),
    "wrong-type": Entry(
        "A value has the wrong type",
        "A number, string, list or object stands where another of these is expected.",
        "Write the type that the message names. In JSON, numbers and true stand without quotation marks.",
    ),
    "other-gold": Entry(
        "The gold is not that of the comparison",
        "The digest of the text or of the items differs from the digest in the answer that is repeated.",
        "Give the gold that was sent to the service, byte for byte.",
    ),
    "no-question": Entry(
        "The file is not a comparison that can be repeated",
        "The JSON lacks the question: it is another document, or the caller may not see the question.",
        "Give the answer of GET /v1/comparisons/{comparison} as organisers get it, others from level gold on.",
    ),
}
