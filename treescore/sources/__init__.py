"""What callers have in their hands, as texts: files, archives, folders, open files, strings, parsed sentences."""

from treescore.sources.files import shown, wrong
from treescore.sources.texts import (
    Named,
    Outputs,
    Source,
    SourceText,
    StandardInput,
    check_same_files,
    first_text,
    format_choice,
    format_of,
    format_of_name,
    guessed_format,
    named_outputs,
    names_of_paths,
    pointer_of,
    read_source,
    run_name,
)

__all__ = [
    "Named",
    "Outputs",
    "Source",
    "SourceText",
    "StandardInput",
    "check_same_files",
    "first_text",
    "format_choice",
    "format_of",
    "format_of_name",
    "guessed_format",
    "named_outputs",
    "names_of_paths",
    "pointer_of",
    "read_source",
    "run_name",
    "shown",
    "wrong",
]
