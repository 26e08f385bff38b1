"""The limits of the server that are not configured, and what it takes from the system."""

from __future__ import annotations

import errno
import resource

from service.config import Config
from service.errors import TooManyRequests

RECEIVED = 65_536
"""Bytes taken from one connection before the others have their turn."""
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
GRACE = 1.0
"""Seconds in which a request may arrive before it counts as unfinished for its address."""
LOOK = 0.5
"""Seconds between looks at the deadlines."""
CLOSING_SECONDS = 2.0
CLOSING_RATE = 1_000_000.0
"""Bytes that give a refused sender one more second to read why."""
CLOSING_BYTES = 256 << 20
CLOSING_MOST = 256
IDLE_MOST = 1_000
SPOOLED_MOST = 4 << 30
"""Bytes of bodies that are held at once."""
ANSWERS_MOST = 256 << 20
"""Bytes of answers that are held at once."""
HEADS_KEEP = 4
"""One of so many places for unfinished requests is kept for those whose head is arriving."""
FILES = 8_192
OUT_OF_FILES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


def too_many_of(most: int) -> TooManyRequests:
    """Return the refusal of an address with too many unfinished requests."""
    return TooManyRequests(
        f"Your address has more than {most} unfinished requests. Send fewer at once, or faster.",
        slug="too-many-unfinished",
        headers={"Retry-After": "2"},
    )


def raise_file_limit() -> None:
    """Allow more open files, as far as the system lets this process have them: each connection is one."""
    soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if most == resource.RLIM_INFINITY else min(FILES, most)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def spool_folder(config: Config) -> str | None:
    """Return the folder of temporary files, made if it is missing; None, the system's, where it cannot be made."""
    folder = config.data_dir / "tmp"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None
    return str(folder)
