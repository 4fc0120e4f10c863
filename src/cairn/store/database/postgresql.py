"""Engines for PostgreSQL: one pool each for changes, snapshot reads and the job engine."""

from __future__ import annotations

from typing import Literal, TypeAlias

import sqlalchemy as sa

Use: TypeAlias = Literal["write", "read", "system"]


def make_engine(url: sa.URL, use: Use, *, timeout: float, pool: int) -> sa.Engine:
    """Create the engine for one use of the database."""
    reads = use == "read"
    return sa.create_engine(
        url.set(drivername="postgresql+psycopg"),
        pool_size=pool,
        max_overflow=pool if use == "system" else 0,
        pool_timeout=timeout,
        pool_pre_ping=True,  # replaces connections that the server has closed
        isolation_level="REPEATABLE READ" if reads else "READ COMMITTED",
        execution_options={"postgresql_readonly": True} if reads else {},
        connect_args={"connect_timeout": max(2, int(timeout)), "options": f"-c lock_timeout={int(timeout * 1000)}"},
    )
