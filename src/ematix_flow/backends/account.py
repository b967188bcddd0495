"""Who logs in to a server, in messages."""

from __future__ import annotations


def shown_account(user: str | None) -> str:
    """Name the *user*; without one, drivers take the account of this process."""
    return f"user {user!r}" if user else "the account of this process"


def grant_hint(user: str | None, right: str | None = None) -> str | None:
    """Say what the *user* lacks; nothing where the server alone knows who that is."""
    if not user:
        return None
    return f"ask for: GRANT {right} TO {user}" if right else f"ask for a GRANT to {user}"
