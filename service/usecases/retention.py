"""What is kept and what is not: back a store up, restore it into an empty place, purge it.

Files appear whole or not at all, for their owner only. What is purged stays in no file of the database; backups keep
it.
"""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, func, select

from service import process
from service.config import GOLD_FOLDER, Config
from service.context import Context, utc_now
from service.store import archive, runs, tokens, upkeep
from service.store.archive import ArchiveError, Manifest, migrate
from service.store.database import SchemaState, Store, is_released, schema_of, schema_versions
from service.usecases import access, events
from service.usecases.benchmarks.teams import erase_team
from service.usecases.runs import moment
from service.usecases.scoring import gold
from service.usecases.tokens import OPERATOR
from treescore.core.version import __version__

OWNER_ONLY = 0o600


@contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """Yield an empty file beside `path` to be filled; at the end it is on the disk under that name.

    Raises:
        FileExistsError: `path` exists. It stays as it is.
    """
    if path.exists():
        raise FileExistsError(f"{path} exists")
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY))
    try:
        yield partial
        partial.chmod(OWNER_ONLY)
        sync(partial)
        # unlike a rename, a link replaces nothing
        os.link(partial, path)
        sync(path.parent)
    finally:
        for ending in process.SQLITE_FILES:
            partial.with_name(partial.name + ending).unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Wait until a file or a directory is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


ADMIN_TOKEN = "admin-token"  # noqa: S105 - the name of a file
KEPT_FILES = (ADMIN_TOKEN,)
"""Files of the data directory that a backup holds beside the store."""
NOT_STATE = ("lock", GOLD_FOLDER)
"""What a data directory may have and still be empty."""


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup file.

    Attributes:
        file: where it is.
        size: in bytes.
        manifest: what it holds.
    """

    file: Path
    size: int
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class Restored:
    """A restored store.

    Attributes:
        manifest: of the backup.
        unfinished: number of runs that the service will do after its start.
        valid_tokens: every token that is valid now; one that was revoked after the backup is among them again.
        migrated_to: version of the schema now, where the backup had an older one.
        kept: files of the data directory that were there already and stay as they are.
    """

    manifest: Manifest
    unfinished: int
    valid_tokens: Sequence[tokens.Token]
    migrated_to: str | None
    kept: Sequence[str]


def back_up(config: Config, store: Store, path: Path) -> Backup:
    """Write everything that was stored before this began to one new file, beside a running service.

    Raises:
        SchemaError: the store has no tables, is newer than this code, or of no release.
        ArchiveError: the file exists.
        OSError: the file cannot be written.
    """
    began = moment(utc_now()) or ""
    try:
        with appearing(path) as partial:
            version = archive.copy_store(store, partial)
            with archive.opened(partial, "ro") as copy:
                tables = archive.contents(copy)
            source = "sqlite" if store.sqlite else "postgresql"
            manifest = Manifest(archive.FORMAT, began, __version__, version, source, tables, _kept_files(config))
            archive.add_manifest(partial, manifest)
    except FileExistsError as error:
        raise ArchiveError(f"{path} exists, and a backup replaces no file. Use another name.") from error
    return Backup(path, path.stat().st_size, manifest)


def restore(config: Config, path: Path) -> Restored:
    """Verify a backup, then write it into an empty store. The caller holds the lock of the data directory.

    Raises:
        ArchiveError: the backup is damaged, too new, or of no release, or the place is not empty. Nothing was changed.
        OSError: a file cannot be written.
    """
    manifest = archive.verified(path)
    if not is_released(manifest.schema, manifest.tables):
        raise ArchiveError(
            f"{path} was made by a development checkout before 0.1.0 (schema {manifest.schema}) and cannot be "
            "restored. Start with an empty store, and make its benchmarks again."
        )
    if manifest.schema not in schema_versions():
        raise ArchiveError(
            f"{path} has schema {manifest.schema}, which is newer than this program's {schema_versions()[-1]}. "
            f"Restore it with Treescore {manifest.treescore} or newer."
        )
    store = Store(config.database_url)
    try:
        file = store.file
        if file is None:
            _into_server(store, path, manifest)
        else:
            _require_empty(config.data_dir, file)
            _into_file(file, path)
        kept = _write_files(config.data_dir, manifest.files)
        return _report(store, manifest, kept)
    finally:
        store.close()


def _into_file(file: Path, path: Path) -> None:
    with appearing(file) as partial:
        shutil.copyfile(path, partial)
        archive.verified(partial)
        archive.drop_manifest(partial)
        archive.migrate_file(partial)


def _into_server(store: Store, path: Path, manifest: Manifest) -> None:
    with store.read() as db:
        found = schema_of(db)
        if not archive.is_empty(db) or found.stored not in (None, manifest.schema):
            raise ArchiveError("The database is not empty. Restore into one without tables.")
    migrate(store, manifest.schema)
    with store.write() as db:
        archive.fill(db, path, manifest)
    migrate(store)


def _require_empty(data_dir: Path, file: Path) -> None:
    found = [each.name for each in data_dir.iterdir() if each.name not in NOT_STATE] if data_dir.is_dir() else []
    if file.exists() and file.parent != data_dir:
        found.append(str(file))
    if found:
        raise ArchiveError(
            f"{data_dir} is not empty: {', '.join(sorted(found)[:5])}. Restore into an empty directory (--data-dir)."
        )


def _kept_files(config: Config) -> dict[str, str]:
    paths = {name: config.data_dir / name for name in KEPT_FILES}
    return {name: path.read_text(encoding="utf-8") for name, path in paths.items() if path.is_file()}


def _write_files(data_dir: Path, files: Mapping[str, str]) -> list[str]:
    kept = []
    for name in set(files).intersection(KEPT_FILES):
        path = data_dir / name
        try:
            with appearing(path) as partial:
                partial.write_text(files[name], encoding="utf-8")
        except FileExistsError:
            kept.append(name)
    return kept


def _report(store: Store, manifest: Manifest, kept: Sequence[str]) -> Restored:
    with store.read() as db:
        valid = tokens.valid(db, utc_now())
        unfinished = int(db.scalar(select(func.count()).where(runs.is_unfinished())) or 0)
        version = schema_of(db).stored
    return Restored(manifest, unfinished, valid, version if version != manifest.schema else None, kept)


def back_up_first(config: Config, store: Store, now: datetime) -> Backup | None:
    """Back up a SQLite store that is about to be migrated; None where it is current or holds nothing yet."""
    file = store.file
    if file is None or not file.exists():
        return None
    with store.read() as db:
        found = schema_of(db)
        if found.state is not SchemaState.NEEDED or found.stored is None or archive.is_empty(db):
            return None
    name = f"before-schema-{found.wanted}-{now:%Y%m%dT%H%M%SZ}.backup"
    return back_up(config, store, file.with_name(name))


# upkeep


@dataclass(frozen=True, slots=True)
class Scope:
    """What to purge: exactly one of these.

    Attributes:
        benchmark: slug; everything of it.
        team: benchmark and id; its name, texts, items and comparisons. Scores stay as rows without a name.
        before: jobs, comparisons, outputs and items that ended earlier. Scores stay.
    """

    benchmark: str | None = None
    team: tuple[str, str] | None = None
    before: datetime | None = None


def listed(context: Context, scope: Scope) -> dict[str, int]:
    """Count what would be deleted.

    Raises:
        NotFound: the benchmark or the team does not exist.
        Gone: the benchmark was deleted.
    """
    with context.store.read() as db:
        return upkeep.counted(db, _selected(db, scope))


def purge(context: Context, scope: Scope) -> tuple[dict[str, int], bool]:
    """Delete; return what was deleted, and whether every file is free of it.

    Raises:
        NotFound: the benchmark or the team does not exist.
        Gone: the benchmark was deleted.
    """
    upkeep.overwrite_freed(context.store)
    now = context.now()
    with context.store.write() as db:
        if scope.benchmark is not None:
            access.benchmark_of(db, scope.benchmark, exclusive=True)
        selected = _selected(db, scope)
        numbers = upkeep.counted(db, selected)
        # what is unfinished is cancelled, so that no worker saves anything of it afterwards
        stopped = upkeep.unfinished_runs(db, selected) if scope.before is None else []
        for run_id in stopped:
            runs.finish(db, run_id, runs.CANCELLED, now)
        if scope.team is not None:
            upkeep.drop_team(db, selected, *scope.team, now)
        elif scope.benchmark is not None:
            upkeep.drop_benchmark(db, selected, scope.benchmark, now)
            events.record_event(db, context, "benchmark.deleted", scope.benchmark, actor=OPERATOR.owner)
        else:
            upkeep.drop_old(db, selected, now)
    gold.drop_gold(context, selected.revisions)
    for run_id in stopped:
        context.queue.stop(run_id)
    if scope.team is not None:
        erase_team(context, OPERATOR, *scope.team)
    return numbers, upkeep.rewrite(context.store)


def _selected(db: Connection, scope: Scope) -> upkeep.Selected:
    if scope.team is not None:
        slug, team_id = scope.team
        access.benchmark_of(db, slug)
        access.team_in(db, slug, team_id)
        return upkeep.of_team(db, slug, team_id)
    if scope.benchmark is not None:
        access.benchmark_of(db, scope.benchmark)
        return upkeep.of_benchmark(db, scope.benchmark)
    if scope.before is None:
        raise ValueError("a purge needs a benchmark, a team or a time")
    return upkeep.ended_before(db, scope.before)
