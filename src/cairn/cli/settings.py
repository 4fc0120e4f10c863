"""Reads settings from the command line, the environment and the settings file."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_settings import SettingsError

from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import print_status
from cairn.config import Settings

CLIENT_VARIABLES = frozenset({"CAIRN_SERVER", "CAIRN_TOKEN"})  # read by server_location


def read_settings(**options: Any) -> Settings:
    """Read the settings. Prints a line for each invalid or unknown one."""
    for name in unknown_variables():
        print_status(f"cairn: {name} is not a known setting and is ignored.")
    try:
        return Settings(**{name: value for name, value in options.items() if value is not None})
    except ValidationError as errors:
        for error in errors.errors():
            name = "_".join(str(part) for part in error["loc"])
            print_status(f"cairn: Invalid setting {name}: {error['msg']} (got {error['input']!r})")
        raise CommandFailed(ExitCode.USAGE) from None
    except SettingsError as error:
        raise CommandFailed(ExitCode.USAGE, f'{error}. Write lists as JSON, such as ["my_functions"].') from None


def unknown_variables() -> list[str]:
    """Environment variables that look like settings but are not."""
    known = {f"CAIRN_{name.upper()}" for name in Settings.model_fields} | CLIENT_VARIABLES
    return sorted(name for name in os.environ if name.startswith("CAIRN_") and name not in known)


def setting_sources(folder: Path, *, has_data_dir_option: bool) -> dict[str, str]:
    """The source of each setting that does not have its default."""
    import tomllib

    file = folder / "settings.toml"
    in_file = tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    sources = dict.fromkeys(in_file, str(file))
    sources |= {
        name: f"CAIRN_{name.upper()}" for name in Settings.model_fields if f"CAIRN_{name.upper()}" in os.environ
    }
    return sources | ({"data_dir": "--data-dir"} if has_data_dir_option else {})


def silence_logs() -> None:
    """Log errors only, one line each. Commands report the rest themselves."""
    logging.basicConfig(level=logging.ERROR, format="cairn: %(message)s")
    logging.getLogger("alembic").setLevel(logging.WARNING)
