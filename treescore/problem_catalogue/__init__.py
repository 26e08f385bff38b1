"""The catalogue of problem codes: what each means, what causes it and how to fix it. One entry for each code.

Here are the codes that belong to no format and no metric: those of requests, of where texts come from (files, archives,
folders, objects of other libraries), and of texts of any format.
"""

from __future__ import annotations

from collections.abc import Mapping

from treescore.errors import Entry
from treescore.problem_catalogue.formats import FORMATS, GAP_TREES
from treescore.problem_catalogue.metrics import METRICS

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


SOURCES = {
    "unreadable-file": Entry(
        "The file cannot be read",
        "The path names no file, or a file that you may not read.",
        "Check the path and its permissions. To give a text itself instead of a path, send bytes or a string with a "
        "line break.",
    ),
    "bad-json": Entry(
        "The file is not valid JSON",
        "A file that must be JSON cannot be parsed as JSON.",
        "Give the file as the service or the command wrote it, without changes.",
    ),
    "packed-text": Entry(
        "The text is compressed or an archive",
        "The bytes are those of a packed file, which no format can read.",
        "Give the path of the file, which is unpacked by its name, or unpack it first.",
        "treescore score --format conllu --metric ud gold.conllu.gz output.conllu.gz",
    ),
    "damaged-archive": Entry(
        "A packed file is damaged",
        "A compressed file or archive ends too early, has wrong checksums, or is not what its name says.",
        "Copy the file or pack it again.",
    ),
    "empty-archive": Entry(
        "An archive or folder has no files",
        "Nothing is left to read: hidden files and folders do not count.",
        "Add the text, or name another archive or folder.",
    ),
    "unsafe-archive": Entry(
        "An archive or folder cannot be read safely",
        "It has a path or link that leads out of it, an archive within it, a password, or two files of one name.",
        "Pack or copy the plain files themselves, each under a relative path of its own.",
    ),
    "too-many-files": Entry(
        "An archive or folder has too many files",
        "The number of files exceeds the limit.",
        "Join files, or score them in several runs.",
    ),
    "text-too-large": Entry(
        "A text is too large",
        "The text exceeds the limit of bytes after unpacking.",
        "Split it.",
    ),
    "files-differ": Entry(
        "The files of a text do not belong together",
        "Gold and output have files of other names, or the files of one text do not have one layout.",
        "Give the files of the output the names of those of gold, and all files the same layout.",
    ),
    "missing-extra": Entry(
        "A library is needed that is not installed",
        "What was asked for needs an optional library.",
        "Install the extra that the message names.",
        "pip install 'treescore[zstd]'",
    ),
    "unusable-object": Entry(
        "An object cannot be written as a text",
        "An object of another library lacks an annotation that its format needs.",
        "Add the annotation that the message names, or give the text itself.",
    ),
    "wrong-format": Entry(
        "The objects belong to another format",
        "The format of the request differs from the one in which objects of this kind are handed over.",
        "Name the format that the message names.",
    ),
}


TEXTS = {
    "empty-text": Entry(
        "The text is empty",
        "The text has zero bytes, often because the program that wrote it failed.",
        "Run that program again and send the whole file.",
    ),
    "nul-character": Entry(
        "The text has a NUL character",
        "The file is binary, in UTF-16, or was cut while it was written.",
        "Save the file as UTF-8 text and send it again.",
    ),
    "invalid-utf8": Entry(
        "The text is not UTF-8",
        "A byte is not valid UTF-8; the file is probably in another encoding.",
        "Convert the file to UTF-8, for example with iconv.",
        "iconv -f latin1 -t utf-8 old.conllu > new.conllu",
    ),
    "bad-text": Entry(
        "The format takes one text",
        "Several texts were given for a format that reads one.",
        "Give one text: a path, a string or bytes. Only the format parallel takes three.",
    ),
    "wrong-text-shape": Entry(
        "The texts do not have the shape of the format",
        "The format reads one text and several were given, or it reads several by name and one is missing.",
        "Give one text, or for the format parallel an object with source, target and alignment.",
        '{"source": "...", "target": "...", "alignment": "..."}',
    ),
    "no-sentence": Entry(
        "The text has no sentence",
        "The text holds only blank lines or comments.",
        "Send a text with at least one sentence.",
    ),
    "too-many-sentences": Entry(
        "The text has too many sentences",
        "The text exceeds the limit of sentences in one text.",
        "Split the text, or ask the operator of the service for a higher limit.",
    ),
    "too-many-words": Entry(
        "A sentence has too many words",
        "A sentence exceeds the limit of words, often because blank lines between sentences are missing.",
        "End each sentence as the format requires, or ask the operator of the service for a higher limit.",
    ),
    "sentence-too-long": Entry(
        "A sentence has too many words",
        "A sentence exceeds the limit of words, often because blank lines between sentences are missing.",
        "End each sentence with a blank line, or split it.",
    ),
    "too-deep": Entry(
        "The brackets are nested too deeply",
        "A tree has more levels than the limit, often because brackets are not closed.",
        "Check the brackets of the sentence at the given place, or ask the operator for a higher limit.",
    ),
    "sentence-count-mismatch": Entry(
        "The output has another number of sentences than gold",
        "The output leaves out sentences, adds some, or splits the text in another way.",
        "Send one sentence for each sentence of gold, in the same order. Where the parser failed, leave the sentence "
        "empty as the format allows.",
    ),
    "sentence-missing": Entry(
        "The output lacks sentences of gold",
        "Sentences are matched by their names, and some names of gold are not in the output.",
        "Send every sentence of gold; where the parser failed, its words directly under the root.",
    ),
    "sentence-not-in-gold": Entry(
        "The output has sentences that gold does not have",
        "Sentences are matched by their names, and gold has no sentence of this name.",
        "Send the sentences of gold under the names that gold gives them.",
    ),
    "word-count-mismatch": Entry(
        "A sentence has another number of words than gold",
        "The output was tokenized in another way than gold, and the metric compares word by word.",
        "Parse the words of gold. For outputs with their own tokenization use the metric ud, which aligns words.",
    ),
    "word-mismatch": Entry(
        "A word differs from gold",
        "A word of the output is not the word of gold at this place: changed, in another order, or of another file.",
        "Parse the words of gold in their order. For outputs with their own tokenization use the metric ud.",
    ),
    "text-mismatch": Entry(
        "The characters of the output differ from gold",
        "The words of the output, joined without spaces, are not the text of gold.",
        "Keep every character of the text when tokenizing, and send the output for this text.",
    ),
    "gold-unreadable": Entry(
        "Gold cannot be read in this sentence",
        "The sentence of gold has a fault, so that no output can be compared with it.",
        "Correct gold. If you only send outputs, report this to the organisers.",
    ),
    "sentence-without-parse": Entry(
        "The output has no parse of a sentence",
        "The sentence is empty in the output, and is counted as the parameter errors says.",
        "Send a parse if there is one. Otherwise nothing needs to be done: the message says what the sentence costs.",
    ),
}

CATALOGUE: Mapping[str, Entry] = dict(
    sorted({**SOURCES, **TEXTS, **FORMATS, **GAP_TREES, **METRICS, **REQUESTS}.items())
)
"""Code -> entry: every code of a problem or warning that the library gives."""

__all__ = ["CATALOGUE", "Entry"]
