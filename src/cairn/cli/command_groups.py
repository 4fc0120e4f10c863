"""Command groups that list their items when no subcommand is given."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup


class ListByDefaultGroup(TyperGroup):
    """Makes `cairn pipelines` the same as `cairn pipelines list`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] != "--help"):
            args = ["list", *args]
        return super().parse_args(ctx, args)


def group(help: str) -> typer.Typer:
    return typer.Typer(cls=ListByDefaultGroup, help=help)
