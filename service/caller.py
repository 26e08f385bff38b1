"""Who sent a request, and what that allows."""

from __future__ import annotations

from dataclasses import dataclass

from service.errors import Forbidden, Unauthorized

ANONYMOUS = "anonymous"


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever sent a request.

    Attributes:
        token_id: of the token; None without one.
        scopes: what it allows.
        team: whose token it is, where it is a team's.
        benchmark: whose team that is.
    """

    token_id: str | None
    scopes: frozenset[str]
    team: str | None = None
    benchmark: str | None = None

    @property
    def owner(self) -> str:
        """The name under which the caller's jobs are kept."""
        return self.token_id or ANONYMOUS

    @property
    def organiser(self) -> bool:
        """Whether the caller may do everything."""
        return "organise" in self.scopes

    def allowed(self, *scopes: str) -> bool:
        """Whether the caller has one of these scopes; organisers have all."""
        return self.organiser or not self.scopes.isdisjoint(scopes)

    def require(self, *scopes: str) -> None:
        """Refuse a caller without any of these scopes.

        Raises:
            Unauthorized: there is no token.
            Forbidden: there is one, without the scope.
        """
        if self.allowed(*scopes):
            return
        wanted = " or ".join(scopes)
        if self.token_id is None:
            raise Unauthorized(f"Send a token with the scope {wanted}: `Authorization: Bearer ...`.")
        raise Forbidden(f"This needs a token with the scope {wanted}; yours has: {' '.join(sorted(self.scopes))}.")
