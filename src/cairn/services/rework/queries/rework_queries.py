"""Queries of lineage and rework: each method reads one snapshot of the database."""

from __future__ import annotations

from cairn.services.actors import Actor
from cairn.services.engine.engine import Engine
from cairn.services.rework.queries import lineage, reworks
from cairn.services.rework.service import ReworkService, ReworkSpec
from cairn.services.rework.views import Lineage, ReworkPreview


class ReworkQueries:
    def __init__(self, engine: Engine, rework: ReworkService) -> None:
        self._engine = engine
        self._database = engine.database
        self._rework = rework

    def get_lineage(self, run_id: str) -> Lineage:
        return self._database.read(
            lambda c: lineage.get_lineage(c, self._engine.load(c, run_id, lock=False)),
        )

    def preview(self, spec: ReworkSpec, actor: Actor) -> ReworkPreview:
        """Preview a rework without saving anything."""
        return self._database.read(lambda c: reworks.preview(c, spec, self._rework.preview(c, spec, actor)))
