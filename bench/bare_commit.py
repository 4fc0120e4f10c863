"""The cost of one durable commit on this disk, as a baseline."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path


class BareCommit:
    """Time one UPDATE and one INSERT per commit in SQLite, with the durability that Cairn uses."""

    def __init__(self, folder: str) -> None:
        self._connection = sqlite3.connect(Path(folder) / "baseline.db", isolation_level=None)
        for statement in (
            "PRAGMA journal_mode=WAL",
            "PRAGMA synchronous=FULL",
            "CREATE TABLE run(id INTEGER PRIMARY KEY, step INTEGER)",
            "CREATE TABLE step(run INTEGER, number INTEGER, result TEXT, at REAL, PRIMARY KEY(run, number))",
            "INSERT INTO run VALUES (1, 0)",
        ):
            self._connection.execute(statement)
        self._number = 0

    def measure(self) -> float:
        """Commit once and return the milliseconds it took."""
        started = time.perf_counter()
        self._number += 1
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute("UPDATE run SET step = ? WHERE id = 1", (self._number,))
        self._connection.execute("INSERT INTO step VALUES (1, ?, ?, ?)", (self._number, '{"ok": true}', time.time()))
        self._connection.execute("COMMIT")
        return (time.perf_counter() - started) * 1000

    def close(self) -> None:
        self._connection.close()
