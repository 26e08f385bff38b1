"""Codes of where texts come from: files, archives, folders and objects of other libraries."""

from __future__ import annotations

from treescore.problem_catalogue.entry import Entry

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
