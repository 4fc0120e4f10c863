"""Use cases: commands that change data, and queries that read it."""
