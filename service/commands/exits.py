"""Exit statuses of the commands, and errors of the environment as one line each."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import click
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from service.config import ConfigError
from service.process import FilesError
from service.store.archive import ArchiveError
from service.store.database import FAULT_WORDS, Fault, SchemaError, error_line, fault_of

FINE, WRONG, UNKNOWN = range(3)
"""Exit status: all is well; something is wrong or was refused; it could not be found out, or the call is malformed."""


class Refused(click.ClickException):
    """Something is wrong, and doing the same again will not help."""

    exit_code = WRONG


class CouldNotTell(click.ClickException):
    """What was asked could not be found out: the store does not answer."""

    exit_code = UNKNOWN


@contextmanager
def one_line() -> Iterator[None]:
    """Turn errors of the environment into one line on standard error, with an exit status.

    Raises:
        Refused: the configuration, the schema, a file or a directory is wrong.
        CouldNotTell: the store does not answer.
    """
    try:
        yield
    except (ConfigError, FilesError, SchemaError, ArchiveError) as error:
        raise Refused(str(error)) from error
    except DBAPIError as error:
        fault = fault_of(error)
        line = f"The store {FAULT_WORDS[fault or Fault.AWAY]} ({error_line(error)})."
        raise (CouldNotTell if fault in (None, Fault.AWAY) else Refused)(line) from error
    except sqlite3.Error as error:  # backups are read and written without SQLAlchemy
        if getattr(error, "sqlite_errorcode", 0) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise Refused(f"The store {FAULT_WORDS[Fault.DAMAGED]} ({error}).") from error
        raise Refused(f"The backup cannot be written: {error}. Check disk, owner and mode of its directory.") from error
    except (SQLAlchemyError, ImportError) as error:
        raise Refused(f"TREESCORE_DATABASE_URL cannot be used: {str(error).splitlines()[0]}") from error
    except BrokenPipeError:
        raise  # the reader of our output has all that it wants, as `head`: click ends without a word
    except OSError as error:
        place = error.filename2 or error.filename or "A file"  # of a copy, the one that is written
        raise Refused(f"{place} cannot be used: {error.strerror or error}. Check its disk, owner and mode.") from error
