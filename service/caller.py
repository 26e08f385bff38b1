"""The caller of a request and what the caller may do; ids of resources, and secrets.

An id is a prefix and a ULID, which sorts by time; a secret has 256 random bits.
"""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime
from ipaddress import IPv4Address, ip_address, ip_network

from ulid import PureRandomPolicy, ULIDGenerator

from service.errors import Forbidden, Unauthorized

TOKEN_PREFIX = "ts_"  # noqa: S105 - a prefix, no secret
_ULIDS = ULIDGenerator(policy=PureRandomPolicy())
"""80 random bits each: by default, ids of one millisecond are successive numbers, so one would tell the next."""


def new_id(prefix: str, now: datetime) -> str:
    """Make a new id, as `job_01K...`."""
    return f"{prefix}_{_ULIDS.generate(now)}"


def new_token() -> str:
    """Make a new bearer token."""
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


def new_secret() -> str:
    """Make a new key of an anonymous job, or the secret of an invite, which is part of an address."""
    return secrets.token_urlsafe(32)


def token_hash(token: str) -> str:
    """Return the hash of a token, key or invite that the store keeps; 256 random bits need no slow hash."""
    return hashlib.sha256(token.encode()).hexdigest()


ADMIN, ANONYMOUS = "admin", "anonymous"
"""Token ids of the configured admin token, and of callers without a token."""
ORGANISE = "organise"
OF_ONE = frozenset({"submit", "read"})
"""What the organiser of one benchmark may do beside organising it."""
IPV6_NETWORK = 64
"""Bits of an IPv6 address that tell networks apart; the rest is its owner's choice."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request.

    Attributes:
        token_id: id of the token; None without one.
        scopes: of the token.
        team: of the token, if it belongs to a team.
        benchmark: of that team; without a team, the one benchmark that the token may organise.
        address: of the client; empty where it is not known.
    """

    token_id: str | None
    scopes: frozenset[str]
    team: str | None = None
    benchmark: str | None = None
    address: str = ""

    @property
    def anonymous(self) -> bool:
        """Whether the caller has no token."""
        return self.token_id is None

    @property
    def owner(self) -> str:
        """The owner of the caller's jobs."""
        return self.token_id or ANONYMOUS

    @property
    def principal(self) -> str:
        """Whose work this caller's runs are: principals take turns. A team is one, a token of no team, an address."""
        if self.team is not None and not self.organiser:
            return f"team:{self.benchmark}/{self.team}"
        return self.token_id or ":".join((ANONYMOUS, *([network_of(self.address)] if self.address else [])))

    @property
    def organiser(self) -> bool:
        """Whether the caller is an organiser of all benchmarks, who may do everything."""
        return ORGANISE in self.scopes and self.benchmark is None

    def organises(self, benchmark: object) -> bool:
        """Return whether the caller is an organiser of a benchmark: of all, or of this one."""
        return ORGANISE in self.scopes and self.benchmark in (None, benchmark)

    def allowed(self, *scopes: str, of: object = None) -> bool:
        """Return whether the caller has one of these scopes; organisers have all.

        The organiser of one benchmark may organise only this one, and may submit and read, which use-cases allow there.

        Args:
            scopes: of which one suffices.
            of: the benchmark that is asked for, if any.
        """
        if self.organiser or (of is not None and self.organises(of)):
            return True
        held = (
            self.scopes if self.benchmark is None or ORGANISE not in self.scopes else self.scopes - {ORGANISE} | OF_ONE
        )
        return not held.isdisjoint(scopes)

    def require(self, *scopes: str, of: object = None) -> None:
        """Refuse a caller without any of these scopes; for the arguments see `allowed`.

        Raises:
            Unauthorized: the caller has no token.
            Forbidden: the token has none of the scopes.
        """
        if self.allowed(*scopes, of=of):
            return
        wanted = " or ".join(scopes)
        if self.token_id is None:
            raise Unauthorized(f"Send a token with the scope {wanted}: `Authorization: Bearer ...`.")
        held = sorted(self.scopes)
        yours = f"has: {' '.join(held)}" if self.benchmark is None else f"may {' and '.join(held)} "
        if self.benchmark is not None:
            yours += f"{'' if ORGANISE in held else 'in '}the benchmark {self.benchmark!r} only"
        raise Forbidden(f"This requires a token with the scope {wanted}; yours {yours}.")


def principal_of(benchmark_id: str) -> str:
    """Return the principal of the service's own work for a benchmark: its revisions and boards."""
    return f"benchmark:{benchmark_id}"


def network_of(address: str) -> str:
    """Return whom an address stands for: itself; of IPv6 the network, because a client has all addresses of its own.

    Other texts stay as they are.
    """
    try:
        known = ip_address(address)
    except ValueError:
        return address
    if isinstance(known, IPv4Address):
        return str(known)
    return str(known.ipv4_mapped or ip_network((int(known), IPV6_NETWORK), strict=False).network_address)
