"""Read the configuration from the environment; no other module reads it.

Which variables are known, which are secrets and may come from files, and which hosts the service answers for:
whole names, never parts of names.
"""

import ipaddress
import os
import re
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from treescore.core import compiling
from treescore.core.text import Limits

PREFIX = "TREESCORE_"
FOREIGN = frozenset({"TREESCORE_TOKEN", "TREESCORE_URL", "TREESCORE_CHROMIUM"})
"""Variables that are read elsewhere: by the command `treescore`, by tests and by the workers themselves."""
INJECTED = re.compile(
    r"TREESCORE_(TEST_\w+|(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP)(_(ADDR|PORT|PROTO))?)?))"
)
"""Variables of the tests, and those that container systems set for a service named `treescore` or `treescore-api`."""
LEAST_LENGTH, LEAST_DISTINCT = 20, 10
"""Characters of a token that the operator chooses, and different ones among them."""
TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")
"""What an `Authorization: Bearer` header can hold."""
MAX_SECRET = 10_000


class ConfigError(ValueError):
    """A variable has an invalid value."""


def refuse_unknown(environ: Mapping[str, str], known: Iterable[str], secrets: Iterable[str]) -> None:
    """Refuse unknown variables with our prefix: a misspelt one would silently keep its default.

    Args:
        environ: all variables.
        known: names of those that are read.
        secrets: names of those that may be given as a file too.

    Raises:
        ConfigError: names the variable, and the known one that is most like it.
    """
    names = {*known, *(f"{name}_FILE" for name in secrets)}
    for name in sorted(environ):
        if not name.startswith(PREFIX) or name in names or name in FOREIGN or INJECTED.fullmatch(name):
            continue
        endings = sorted(known.removeprefix(PREFIX) for known in names)
        [like] = get_close_matches(name.removeprefix(PREFIX), endings, n=1, cutoff=0.0)
        raise ConfigError(
            f"Unknown variable {name[:80]}. The nearest known name is {PREFIX}{like}; unset or rename it."
        )


def file_variable(name: str) -> str:
    """Return the variable that names the file of a secret."""
    return f"{PREFIX}{name.upper()}_FILE"


def read_secret(environ: Mapping[str, str], name: str) -> dict[str, str]:
    """Return the secret of a file under its name; nothing where no file is given.

    Raises:
        ConfigError: the file cannot be read, is empty, or the secret is given twice.
    """
    variable = file_variable(name)
    path = environ.get(variable)
    if not path:
        return {}
    if environ.get(PREFIX + name.upper()):
        raise ConfigError(f"Both {PREFIX}{name.upper()} and {variable} are set. Set one of them.")
    try:
        with Path(path).open(encoding="utf-8") as file:
            text = file.read(MAX_SECRET).strip()
    except OSError as error:
        raise ConfigError(f"{variable}: {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{variable}: {path} is not text.") from error
    if not text:
        raise ConfigError(f"{variable}: {path} is empty. Write the secret into it.")
    return {name: text}


def check_secret(source: str, token: str) -> None:
    """Refuse a token that could be guessed or not be sent; the message does not quote it.

    Raises:
        ConfigError: it is too short, repeats few characters, or has characters that no header can hold.
    """
    if len(token) < LEAST_LENGTH or len(set(token)) < LEAST_DISTINCT:
        raise ConfigError(
            f"{source} is too weak: use at least {LEAST_LENGTH} characters, {LEAST_DISTINCT} of them different, as "
            "`openssl rand -hex 32` prints them."
        )
    if not TOKEN.fullmatch(token):
        raise ConfigError(f"{source} has characters that no header can hold. Use ASCII letters, digits and ._~+/-")


LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
ANY_ADDRESS = ("0.0.0.0", "[::]", "")  # noqa: S104 - compared only
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]{2,45}\]|[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?)(:(?P<port>[0-9]{1,5}))?")
REMEMBERED = 256
"""Host headers that are remembered: nearly all requests have one of a few."""
_PATH = re.compile(r"(?:/(?!\.{1,2}(?:/|$))[A-Za-z0-9._~-]+)+", re.ASCII)
_DEFAULT_PORTS = {"http": "80", "https": "443"}

Host = tuple[str, str | None]
"""A name in lower case, and a port; None for any."""


@lru_cache(maxsize=REMEMBERED)
def parse_host(text: str) -> Host | None:
    """Return name and port of a Host header; None for what is none."""
    match = _HOST.fullmatch(text.lower())
    return None if match is None else (match["name"], match["port"])


def is_host(text: str) -> bool:
    """Return whether a text is the name of a host, with or without a port."""
    return parse_host(text) is not None


def listed(text: str) -> list[str]:
    """Return the names of a comma-separated list."""
    return [name for name in (part.strip() for part in text.split(",")) if name]


def path_of(text: str) -> str:
    """Return a path that a service is below, without a slash at its end; empty for the root and for what is none."""
    path = text.rstrip("/")
    return path if _PATH.fullmatch(path) else ""


def public_path(public_url: str) -> str:
    """Return the path of the address that users see."""
    return path_of(urlsplit(public_url).path)


def is_public_url(text: str) -> bool:
    """Return whether a text is a URL of scheme, host and perhaps a path."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    placed = parts.path in ("", "/") or path_of(parts.path) != ""
    return parts.scheme in _DEFAULT_PORTS and is_host(parts.netloc) and placed and not (parts.query or parts.fragment)


@lru_cache(maxsize=REMEMBERED)
def is_loopback(text: str) -> bool:
    """Return whether a Host header names this machine."""
    host = parse_host(text)
    if host is None:
        return False
    try:
        return ipaddress.ip_address(host[0].strip("[]")).is_loopback
    except ValueError:
        return host[0] in LOOPBACK_NAMES


def listening_at(bind: str) -> tuple[socket.AddressFamily, tuple[str, int]]:
    """Return the family and the address of `HOST:PORT`."""
    host, _, port = bind.rpartition(":")
    return socket.AF_INET6 if host.startswith("[") else socket.AF_INET, (host.strip("[]"), int(port))


def origin_of(scheme: str, host: str) -> str:
    """Return an origin as browsers write it, without the port that the scheme implies."""
    name, _, port = host.lower().rpartition(":") if is_host(host) and not host.endswith("]") else ("", "", "")
    return f"{scheme}://{name if name and port == _DEFAULT_PORTS.get(scheme) else host.lower()}"


def answered_hosts(bind: str, public_url: str, allowed_hosts: str) -> Sequence[str]:
    """Return the names that the service answers for: loopback, the address it is bound to, and those configured."""
    names = list(LOOPBACK_NAMES)
    if not bind.startswith("unix:") and (bound := bind.rpartition(":")[0].lower()) not in (*ANY_ADDRESS, *names):
        names.append(bound)
    if public_url:
        # a proxy may pass the name with the port or without it
        names.append(str(parse_host(urlsplit(public_url).netloc)[0]))  # type: ignore[index]
    return list(dict.fromkeys([*names, *(name.lower() for name in listed(allowed_hosts))]))


def answers_for(answered: Sequence[str], asked: Host) -> bool:
    """Return whether a host is among those answered; a name without a port stands for all its ports."""
    name, port = asked
    return name in answered or (port is not None and f"{name}:{port}" in answered)


LAST_PORT = 65_535
MAX_DIGITS = 18
STORE_SCHEMES = ("sqlite:", "sqlite+", "postgresql:", "postgresql+")
QUEUE_SCHEMES = ("redis://", "rediss://", "unix://")
SECRETS = ("admin_token", "database_url", "redis_url")
"""Fields that may also be given as a file, TREESCORE_<FIELD>_FILE."""
NEEDED = (*("threads", "api_processes", "body_seconds", "max_deliveries"),)
"""Numbers without which no request would be answered, or no message sent: 1 or more."""
GOLD_FOLDER = "gold-cache"
"""The folder with gold as it was read, one for each database inside."""
IN_MEMORY = ("", ":memory:")
AUTO = "auto"
CHOICES = {
    "compile": compiling.CHOICES,
    "log_format": (AUTO, "plain", "json"),
    "log_level": (AUTO, "debug", "info", "warning", "error"),
}
"""The values of fields that take one of a few."""
LOCAL = "local"
"""The value of `anonymous_jobs` that stands for programs of this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Configuration of one process. Each field is the variable TREESCORE_<FIELD IN CAPITALS>.

    Attributes:
        database_url: the store, as SQLAlchemy writes URLs (sqlite:///..., postgresql+psycopg://...).
        redis_url: the queue (redis://..., unix://...).
        data_dir: where the embedded default keeps its state.
        admin_token: a token with the scope organise; empty for none.
        anonymous_jobs: who may use /v1/jobs without a token: `local` (programs of this machine, on a loopback bind),
            `true` (everyone who reaches the service) or `false`.
        bind: address of the API.
        probe_bind: where each API process answers probes and scrapes too, apart from all other requests; empty for
            nowhere.
        public_url: the address of the service as its users see it, perhaps with a path; empty for none.
        allowed_hosts: more hosts that the service answers for, comma-separated (see service.config).
        trusted_proxies: proxies in front of the service; each adds an entry to `X-Forwarded-For`.
        workers: processes that score, 0 for one per core.
        compile: when functions run as machine code (see treescore.core.jit): `auto`, `always` or `never`.
        bulk_workers: processes for re-scoring and other bulk work.
        threads: request threads of each API process.
        api_processes: API processes.
        body_seconds: time for which the sender of a body may be silent.
        max_waits_each: requests with `Prefer: wait` of one caller that may wait at once in each API process.
        max_small_body_bytes: size of a body that holds no text to score, unpacked, and of a form of a page.
        max_body_bytes: size of a JSON body with texts, unpacked.
        max_body_values: values in a JSON body.
        max_body_members: members of one object of it.
        max_form_fields: fields of a form of a page that has no files.
        max_upload_bytes: size of a multipart body, unpacked.
        max_unpacked_times: how many times their size packed data may unpack to, beyond `free_unpacked_bytes`.
        max_systems: systems of one job.
        max_wait_seconds: the longest `Prefer: wait`.
        max_view_seconds: how long a request waits for items, slices or trees that are made for it; then 503.
        max_job_seconds: run time of one job.
        max_run_bytes: memory that a run may map beyond what its worker has; texts whose format may take more are
            refused. 0: any.
        max_attempts: runs of one job before an internal error is final.
        max_queued: runs of one principal that may be queued at once, 0 for any number; organisers have no limit.
        max_changes: changes of submissions and webhooks of one token in an hour, 0 for any number; organisers have no
            limit.
        max_deliveries: webhooks that are delivered to at the same time.
        gold_cache_dir: where the folder with gold as it was read is made, in each machine that scores; empty: data_dir.
        gold_cache_bytes: size of what this database has there, beyond which the oldest files are deleted; 0: none.
        views_bytes: size of the items, slices and trees that the store keeps once they were made, beyond which those
            are dropped that were not used for longest; 0: none.
        max_sentences, max_words, max_depth, max_lineage_cells, max_training_bytes, max_problems: see
            treescore.core.text.
        retain_outputs_days: days after scoring when outputs of submissions are dropped (410 afterwards, scores stay);
            0 keeps them.
        retain_jobs_days: days after which finished jobs are dropped (410 afterwards); 0 keeps them.
        retain_comparisons_days: days after which answered comparisons are dropped, without those that a leaderboard
            shows; 0 keeps them.
        heartbeat_file: a file that workers, views and the sweeper touch while they live, for a probe; empty for none.
        webhooks_private: whether webhooks may go to private, local and reserved addresses.
        log_format: `plain` lines, `json`, or `auto`: plain where standard error is a terminal.
        log_level: the least that is logged: `debug` (finished reads too), `info`, `warning`, `error` (faults only), or
            `auto`: `warning` in plain lines, `info` in JSON.
    """

    database_url: str = field(repr=False)
    redis_url: str = field(repr=False)
    data_dir: Path = Path(".treescore")
    admin_token: str = field(default="", repr=False)
    anonymous_jobs: str = LOCAL
    bind: str = "127.0.0.1:8000"
    probe_bind: str = ""
    public_url: str = ""
    allowed_hosts: str = ""
    trusted_proxies: int = 0
    workers: int = 0
    compile: str = AUTO
    bulk_workers: int = 1
    threads: int = 32
    api_processes: int = 2
    body_seconds: int = 20
    max_waits_each: int = 4
    max_small_body_bytes: int = 64_000
    max_body_bytes: int = 64_000_000
    max_body_values: int = 2_000_000
    max_body_members: int = 10_000
    max_form_fields: int = 100
    max_upload_bytes: int = 1_000_000_000
    max_unpacked_times: int = 100
    free_unpacked_bytes: int = 16_000_000
    max_systems: int = 200
    max_wait_seconds: int = 60
    max_view_seconds: int = 10
    max_job_seconds: int = 900
    max_run_bytes: int = 8_000_000_000
    max_attempts: int = 3
    max_queued: int = 20
    max_changes: int = 200
    max_deliveries: int = 16
    gold_cache_dir: str = ""
    gold_cache_bytes: int = 2_000_000_000
    views_bytes: int = 250_000_000
    max_sentences: int = 1_000_000
    max_words: int = 100_000
    max_depth: int = 50_000
    max_lineage_cells: int = 200_000_000
    max_training_bytes: int = 40_000_000
    max_problems: int = 20
    retain_outputs_days: int = 0
    retain_jobs_days: int = 0
    retain_comparisons_days: int = 90
    heartbeat_file: str = ""
    webhooks_private: bool = False
    log_format: str = AUTO
    log_level: str = AUTO

    @property
    def on_loopback(self) -> bool:
        """Whether only programs of this machine reach the API without a proxy."""
        return self.bind.startswith("unix:") or is_loopback(self.bind)

    def room_of(self, packed: int) -> int:
        """Return how many bytes so many packed ones may unpack to: a few kilobytes could fill the memory."""
        return max(self.free_unpacked_bytes, self.max_unpacked_times * packed)

    @property
    def gold_folder(self) -> Path:
        """The folder with gold as it was read."""
        return (Path(self.gold_cache_dir).absolute() if self.gold_cache_dir else self.data_dir) / GOLD_FOLDER

    @property
    def limits(self) -> Limits:
        """The limits on texts."""
        return Limits(**{field.name: getattr(self, field.name) for field in fields(Limits)})


def load_config(environ: Mapping[str, str] | None = None) -> Config:
    """Return the configuration of the environment, with defaults for unset variables.

    Raises:
        ConfigError: a variable is unknown, or its value is not accepted; the message names both, but never a secret.
    """
    environ = os.environ if environ is None else environ
    refuse_unknown(environ, [_variable(name) for name in _types()], [_variable(name) for name in SECRETS])
    given = {name: environ[_variable(name)] for name in _types() if _variable(name) in environ}
    for name in SECRETS:
        given |= read_secret(environ, name)
    data_dir = Path(given.get("data_dir", ".treescore")).absolute()
    values: dict[str, object] = {
        "database_url": f"sqlite:///{data_dir / 'treescore.db'}",
        "redis_url": f"unix://{data_dir / 'redis.sock'}",
        **{name: _parse(name, text) for name, text in given.items()},
        "data_dir": data_dir,
    }
    return Config(**values)  # type: ignore[arg-type]


def environment(config: Config) -> dict[str, str]:
    """Return the variables that give a child process this configuration."""
    return {_variable(field.name): _text_of(getattr(config, field.name)) for field in fields(config)}


def inherited(config: Config) -> dict[str, str]:
    """Return the whole environment of a child process: that of this one, with this configuration."""
    files = {file_variable(name) for name in SECRETS}
    return {**{name: text for name, text in os.environ.items() if name not in files}, **environment(config)}


def source_of(name: str, environ: Mapping[str, str]) -> str | None:
    """Return the variable that gives a secret of SECRETS, None where neither it nor its file is given."""
    return next((each for each in (_variable(name), file_variable(name)) if environ.get(each)), None)


def _variable(name: str) -> str:
    return PREFIX + name.upper()


def _types() -> dict[str, object]:
    return {field.name: field.type for field in fields(Config)}


def _parse(name: str, text: str) -> object:
    kind = _types()[name]
    if kind is bool:
        if text.lower() not in ("true", "false", "1", "0"):
            raise ConfigError(f"{_variable(name)} is {text!r}; set true or false.")
        return text.lower() in ("true", "1")
    if kind is int:
        if not (text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS):
            raise ConfigError(f"{_variable(name)} is {text!r}; set a whole number, 0 or more.")
        if name in NEEDED and not int(text):
            raise ConfigError(f"{_variable(name)} is 0; set 1 or more.")
        return int(text)
    if name in CHOICES and text not in CHOICES[name]:
        raise ConfigError(f"{_variable(name)} is {text!r}; set one of {', '.join(CHOICES[name])}.")
    if name == "admin_token" and text:
        check_secret(_variable(name), text)
    if name == "anonymous_jobs":
        return _anonymous(text)
    _check_address(name, text)
    return Path(text) if kind is Path else text


def _anonymous(text: str) -> str:
    known = {"1": "true", "0": "false"}.get(text, text.lower())
    if known not in (LOCAL, "true", "false"):
        raise ConfigError(f"{_variable('anonymous_jobs')} is {text!r}; set local, true or false.")
    return known


def _check_address(name: str, text: str) -> None:
    """Refuse a bad address here: only a child process would notice it later, far from its cause."""
    variable = _variable(name)
    if (name == "bind" and not text.startswith("unix:")) or (name == "probe_bind" and text):
        host, _, port = text.rpartition(":")
        if not host or not port.isascii() or not port.isdecimal() or not 0 < int(port[:9]) <= LAST_PORT:
            raise ConfigError(f"{variable} is {text!r}; set HOST:PORT with a port from 1 to {LAST_PORT}.")
    if name == "public_url" and text and not is_public_url(text):
        raise ConfigError(f"{variable} is {text!r}; set the address that users see, as https://scores.example.org.")
    if name == "allowed_hosts":
        for host in listed(text):
            if not is_host(host):
                raise ConfigError(f"{variable} has {host!r}; set names as scores.example.org, separated by commas.")
    if name == "database_url" and not text.startswith(STORE_SCHEMES):
        raise ConfigError(f"{variable} must begin with sqlite: or postgresql:, as postgresql+psycopg://host/name.")
    if name == "database_url" and text.startswith("sqlite") and text.partition("://")[2].lstrip("/") in IN_MEMORY:
        raise ConfigError(f"{variable} names no file, and all processes share the store; set sqlite:////path/to/file.")
    if name == "redis_url" and not text.startswith(QUEUE_SCHEMES):
        raise ConfigError(f"{variable} must begin with redis://, rediss:// or unix://.")


def _text_of(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
