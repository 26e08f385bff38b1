"""Answers of jobs are stored packed. Nothing changes in the tables; earlier code does not read these answers."""

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Upgrade from 0014. Answers that are stored plain stay so, and are read as before."""
