"""Codes of files and texts of any format: reading, encoding, size, and how outputs fit gold."""

from __future__ import annotations

from treescore.problem_catalogue.entry import Entry

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
