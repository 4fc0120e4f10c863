"""Settings from the command line, the environment and the file."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_settings import SettingsError

from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import tell
from cairn.config import Settings

OF_CLIENTS = frozenset({"CAIRN_SERVER", "CAIRN_TOKEN"})  # read where a server is looked for


def read_settings(**given: Any) -> Settings:
    """One readable line for each that is wrong."""
    for name in unknown():
        tell(f"cairn: {name} is no setting of Cairn, and has no effect.")
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        for fault in error.errors():
            name = "_".join(str(part) for part in fault["loc"])
            tell(f"cairn: setting {name}: {fault['msg']} (got {fault['input']!r})")
        raise CommandFailed(ExitCode.USAGE) from None
    except SettingsError as error:
        raise CommandFailed(ExitCode.USAGE, f'{error}: lists are written as JSON, such as ["my_functions"].') from None


def unknown() -> list[str]:
    """Names in the environment that look like settings and are none."""
    known = {f"CAIRN_{name.upper()}" for name in Settings.model_fields} | OF_CLIENTS
    return sorted(name for name in os.environ if name.startswith("CAIRN_") and name not in known)


def sources(folder: Path, is_named: bool) -> dict[str, str]:
    """Where each setting that is given comes from."""
    import tomllib

    file = folder / "settings.toml"
    written = tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    found = dict.fromkeys(written, str(file))
    found |= {name: f"CAIRN_{name.upper()}" for name in Settings.model_fields if f"CAIRN_{name.upper()}" in os.environ}
    return found | ({"data_dir": "--data-dir"} if is_named else {})


def quieten() -> None:
    """Faults of the program are told in one line; the rest is for a server's log."""
    logging.basicConfig(level=logging.ERROR, format="cairn: %(message)s")
    logging.getLogger("alembic").setLevel(logging.WARNING)
