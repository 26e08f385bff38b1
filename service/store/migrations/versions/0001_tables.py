"""The tables of the first release: those of service.store.tables, until a later migration changes one.

Who writes that migration writes here first what the tables were, as `alembic revision --autogenerate` prints it for an
empty database: this one must go on making them. A test notices.
"""

from alembic import op

from service.store.tables import metadata

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables of an empty store."""
    metadata.create_all(op.get_bind())
