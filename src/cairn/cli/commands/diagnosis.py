"""Whether all is well."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated

import typer

from cairn.cli.desk import AsJson, DataDir, offline
from cairn.cli.exits import Code, Ended


@offline
def doctor(
    data_dir: DataDir = None,
    as_json: AsJson = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="Put right what differs; nothing of yours is deleted.")
    ] = False,
) -> None:
    """Compare the folders with the database, and verify the trail. Exits with 0 when all agrees.

    Example: cairn doctor --data-dir ./cairn-data
    """
    from cairn.cli.doctoring import examine  # the store's parts take half a second to import
    from cairn.cli.explaining import CANNOT_START, explain
    from cairn.cli.settings import read_settings

    settings = read_settings(data_dir=data_dir)
    if settings.database_url is None and not (settings.data_dir / "cairn.db").is_file():
        raise Ended(Code.USAGE, f"{settings.data_dir} is not a data folder of Cairn: it has no cairn.db.")
    try:
        verdict = asyncio.run(examine(settings, repair=repair))
    except CANNOT_START as error:
        raise Ended(Code.REFUSED, explain(error)) from None
    if as_json:
        typer.echo(json.dumps(verdict.as_json(), indent=2))
    else:
        for line in verdict.lines():
            typer.echo(line)
    raise typer.Exit(0 if verdict.is_well else 1)
