"""The initial schema, and the rows that every installation starts with.

Earlier numbers belong to development versions. Their data is refused, not migrated.
"""

from __future__ import annotations

from alembic import op

from cairn.store.migrations.upgrade import INITIAL_SCHEMA

revision = "0026"
down_revision = None
branch_labels = None
depends_on = None

NOW = {"sqlite": "strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z'", "postgresql": "now()"}
ADD_ADMIN = """
INSERT INTO users (name, display_name, email, roles, created_at, created_by)
VALUES ('admin', 'Administrator', '', '["admin","approver","editor","viewer"]', {now}, 'admin')
"""


def upgrade() -> None:
    dialect = op.get_context().dialect.name
    schema = (INITIAL_SCHEMA / f"{dialect}.sql").read_text()
    for statement in schema.split(";\n\n"):
        op.execute(statement.removesuffix(";\n"))
    op.execute("INSERT INTO chains (chain, event_seq, event_head) VALUES ('global', 0, '')")
    op.execute("INSERT INTO active_rules (scope, revision, stopped) VALUES ('global', 0, false)")
    op.execute(ADD_ADMIN.replace("{now}", NOW[dialect]))
