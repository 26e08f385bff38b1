"""Answers of jobs are stored packed. Nothing changes in the tables; earlier code does not read these answers."""

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Upgrade from 0013. Answers that are stored plain stay so, and are read as before."""
