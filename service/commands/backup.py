"""`treescore backup FILE`: everything in one file, while the service runs."""

from __future__ import annotations

from pathlib import Path

import click

from service.commands.operating import config_of, existing_store, operating_options, show_document, size
from service.usecases.operations.backup import back_up

SHOWN = ("benchmarks", "submissions", "jobs", "texts")
"""Tables whose rows are counted for people; JSON has all."""


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@operating_options
def backup(file: Path, data_dir: Path | None, *, as_json: bool) -> None:
    """Write store, keys and organise token to a new FILE that only its owner can read.

    It holds everything that was accepted before the command began. The service may run.
    """
    config = config_of(data_dir)
    with existing_store(config, current=False) as context:
        made = back_up(config, context.store, file)
    rows = {name: content.rows for name, content in made.manifest.tables.items()}
    document = {
        "file": str(made.file.absolute()),
        "bytes": made.size,
        "digest": made.manifest.digest,
        "created_at": made.manifest.created_at,
        "treescore": made.manifest.treescore,
        "schema": made.manifest.schema,
        "source": made.manifest.source,
        "files": sorted(made.manifest.files),
        "rows": rows,
    }
    counted = ", ".join(f"{rows[name]} {name}" for name in SHOWN if name in rows)
    lines = [
        f"Backed up to {made.file} ({size(made.size)}): {counted}.",
        f"Digest {made.manifest.digest}; schema {made.manifest.schema}; begun {made.manifest.created_at}.",
        "It holds gold, outputs and keys: store it where only operators can read it.",
    ]
    show_document(document, lines, as_json=as_json)
