"""Alembic's entry point: migrates over a given connection, or prints SQL for one dialect."""

from __future__ import annotations

from alembic import context

from cairn.store.tables import metadata

if context.is_offline_mode():
    context.configure(url=context.config.attributes["url"], target_metadata=metadata, literal_binds=True)
    with context.begin_transaction():
        context.run_migrations()
else:
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=metadata,
        transactional_ddl=True,
        render_as_batch=True,
    )
    with context.begin_transaction():
        context.run_migrations()
