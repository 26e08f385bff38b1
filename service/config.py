"""Read the configuration from the environment; no other module reads it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from treescore.core.limits import Limits

PREFIX = "TREESCORE_"
LOOPBACK = ("127.", "localhost", "[::1]", "unix:")
LAST_PORT = 65_535
MAX_DIGITS = 18
STORES = ("sqlite:", "sqlite+", "postgresql:", "postgresql+")
QUEUES = ("redis://", "rediss://", "unix://")


class ConfigError(ValueError):
    """A variable has an invalid value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Configuration of one process. Each field is the variable TREESCORE_<FIELD IN CAPITALS>.

    Attributes:
        database_url: the store, as SQLAlchemy writes URLs (sqlite:///..., postgresql+psycopg://...).
        redis_url: the queue (redis://..., unix://...).
        data_dir: where the embedded default keeps its state.
        admin_token: a token with the scope organise; empty for none.
        anonymous_jobs: whether /v1/jobs may be used without a token.
        bind: address of the API.
        workers: processes that score, 0 for one per core.
        bulk_workers: processes for re-scoring and other bulk work.
        threads: request threads of each API process.
        api_processes: API processes.
        max_body_bytes: size of a JSON body, unpacked.
        max_upload_bytes: size of a multipart body, unpacked.
        max_systems: systems of one job.
        max_wait_seconds: the longest `Prefer: wait`.
        max_job_seconds: run time of one job.
        max_attempts: runs of one job before an internal error is final.
        max_sentences, max_words, max_depth, max_lineage_cells, max_problems: see treescore.core.limits.
        retain_outputs_days: days after scoring when outputs of submissions are dropped (410 afterwards, scores stay);
            0 keeps them.
        retain_jobs_days: days after which finished jobs are dropped (410 afterwards); 0 keeps them.
        retain_comparisons_days: days after which answered comparisons are dropped, without those that a leaderboard
            shows; 0 keeps them.
        webhooks_private: whether webhooks may go to private, local and reserved addresses.
    """

    database_url: str
    redis_url: str
    data_dir: Path = Path(".treescore")
    admin_token: str = ""
    anonymous_jobs: bool = True
    bind: str = "127.0.0.1:8000"
    workers: int = 0
    bulk_workers: int = 1
    threads: int = 32
    api_processes: int = 2
    max_body_bytes: int = 64_000_000
    max_upload_bytes: int = 1_000_000_000
    max_systems: int = 200
    max_wait_seconds: int = 60
    max_job_seconds: int = 900
    max_attempts: int = 3
    max_sentences: int = 1_000_000
    max_words: int = 100_000
    max_depth: int = 50_000
    max_lineage_cells: int = 200_000_000
    max_problems: int = 20
    retain_outputs_days: int = 0
    retain_jobs_days: int = 0
    retain_comparisons_days: int = 90
    webhooks_private: bool = False

    @property
    def limits(self) -> Limits:
        """The limits on texts."""
        return Limits(**{field.name: getattr(self, field.name) for field in fields(Limits)})


def load_config(environ: Mapping[str, str] | None = None) -> Config:
    """Return the configuration of the environment, with defaults for unset variables.

    Raises:
        ConfigError: names the variable, its value and the accepted values.
    """
    environ = os.environ if environ is None else environ
    given = {name: environ[PREFIX + name.upper()] for name in _types() if PREFIX + name.upper() in environ}
    data_dir = Path(given.get("data_dir", ".treescore")).absolute()
    bind = given.get("bind", "127.0.0.1:8000")
    values: dict[str, object] = {
        "database_url": f"sqlite:///{data_dir / 'treescore.db'}",
        "redis_url": f"unix://{data_dir / 'redis.sock'}",
        "anonymous_jobs": bind.startswith(LOOPBACK),
        **{name: _parse(name, text) for name, text in given.items()},
        "data_dir": data_dir,
    }
    return Config(**values)  # type: ignore[arg-type]


def environment(config: Config) -> dict[str, str]:
    """Return the variables that give a child process this configuration."""
    return {PREFIX + field.name.upper(): _text(getattr(config, field.name)) for field in fields(config)}


def _types() -> dict[str, str]:
    return {field.name: str(field.type) for field in fields(Config)}


def _parse(name: str, text: str) -> object:
    kind = _types()[name]
    if kind == "bool":
        if text.lower() not in ("true", "false", "1", "0"):
            raise ConfigError(f"{PREFIX}{name.upper()} is {text!r}; set true or false.")
        return text.lower() in ("true", "1")
    if kind == "int":
        if not (text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS):
            raise ConfigError(f"{PREFIX}{name.upper()} is {text!r}; set a whole number, 0 or more.")
        return int(text)
    _check_address(name, text)
    return Path(text) if kind == "Path" else text


def _check_address(name: str, text: str) -> None:
    """Refuse a bad address here: only a child process would notice it later, far from its cause."""
    variable = f"{PREFIX}{name.upper()}"
    if name == "bind" and not text.startswith("unix:"):
        host, _, port = text.rpartition(":")
        if not host or not port.isascii() or not port.isdecimal() or not 0 < int(port[:9]) <= LAST_PORT:
            raise ConfigError(f"{variable} is {text!r}; set HOST:PORT with a port from 1 to {LAST_PORT}.")
    if name == "database_url" and not text.startswith(STORES):
        raise ConfigError(f"{variable} must begin with sqlite: or postgresql:, as postgresql+psycopg://host/name.")
    if name == "redis_url" and not text.startswith(QUEUES):
        raise ConfigError(f"{variable} must begin with redis://, rediss:// or unix://.")


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
