"""`treescore restore FILE`: a backup into an empty place."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from service.commands.operating import config_of, operating_options, owner, show_document
from service.commands.serve import locked
from service.store.tokens import Token
from service.usecases.operations import backup
from service.usecases.runs.views import moment
from treescore.core.counting import counted


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@operating_options
def restore(file: Path, data_dir: Path | None, *, as_json: bool) -> None:
    """Verify the backup FILE, then restore it into an empty data directory or database.

    Unfinished work is done after the start of the service. Tokens that were revoked after the backup are valid again.
    """
    config = config_of(data_dir)
    with locked(config.data_dir):
        restored = backup.restore(config, file)
    manifest = restored.manifest
    document = {
        "file": str(file.absolute()),
        "digest": manifest.digest,
        "created_at": manifest.created_at,
        "schema": restored.migrated_to or manifest.schema,
        "migrated_from": manifest.schema if restored.migrated_to else None,
        "rows": {name: content.rows for name, content in manifest.tables.items()},
        "unfinished": restored.unfinished,
        "kept_files": list(restored.kept),
        "valid_tokens": [
            {"id": each.id, "name": each.name, "scopes": each.scopes.split(), "benchmark": each.benchmark_id,
             "team": each.team_id, "created_at": moment(each.created_at)}
            for each in restored.valid_tokens
        ],
    }  # fmt: skip
    lines = [
        f"Restored {file} of {manifest.created_at}: every row is as it was written (digest {manifest.digest}).",
        f"{restored.unfinished} unfinished runs are done after the start of the service.",
    ]
    if restored.migrated_to:
        lines.append(f"The schema was migrated from {manifest.schema} to {restored.migrated_to}.")
    lines += [f"{name} was there already and was kept." for name in restored.kept]
    lines += token_lines(restored.valid_tokens, manifest.created_at)
    show_document(document, lines, as_json=as_json)


def token_lines(tokens: Sequence[Token], created_at: str) -> list[str]:
    """List the tokens that are valid now, and say why that matters."""
    if not tokens:
        return ["No token is valid but the organise token of the configuration."]
    return [
        f"{counted(len(tokens), 'valid token')}. The backup does not know which were revoked after {created_at}:",
        *(f"  {each.id}  {each.scopes}  {owner(each)}" for each in tokens),
        "Revoke those again: treescore token revoke ID",
    ]
