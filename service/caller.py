"""Describe the caller of a request, and what the caller may do."""

from __future__ import annotations

from dataclasses import dataclass

from service.errors import Forbidden, Unauthorized

ADMIN, ANONYMOUS = "admin", "anonymous"
"""Token ids of the configured admin token, and of callers without a token."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request.

    Attributes:
        token_id: id of the token; None without one.
        scopes: of the token.
        team: of the token, if it belongs to a team.
        benchmark: of that team.
        address: of the sender, where it has no token.
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
    def organiser(self) -> bool:
        """Whether the caller is an organiser, who may do everything."""
        return "organise" in self.scopes

    def allowed(self, *scopes: str) -> bool:
        """Return whether the caller has one of these scopes; organisers have all."""
        return self.organiser or not self.scopes.isdisjoint(scopes)

    def require(self, *scopes: str) -> None:
        """Refuse a caller without any of these scopes.

        Raises:
            Unauthorized: the caller has no token.
            Forbidden: the token has none of the scopes.
        """
        if self.allowed(*scopes):
            return
        wanted = " or ".join(scopes)
        if self.token_id is None:
            raise Unauthorized(f"Send a token with the scope {wanted}: `Authorization: Bearer ...`.")
        raise Forbidden(f"This requires a token with the scope {wanted}; yours has: {' '.join(sorted(self.scopes))}.")
