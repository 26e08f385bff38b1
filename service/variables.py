"""The variables of the environment: which are known, which are secrets and may come from files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path

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
