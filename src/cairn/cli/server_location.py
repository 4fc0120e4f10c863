"""Finds the data folder, and the server that runs on it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

DEFAULT_FOLDER = "cairn-data"
FILE = "server.json"

# How a command uses the data folder when no server runs on it:
# "optional": the command needs no data, and uses a temporary folder if there is none
# "read": data must exist; no worker runs, because its work would be cut off when the command ends
# "write": creates the folder if it does not exist
# "work": like "write", and runs a worker until its work is done
FolderAccess = Literal["optional", "read", "write", "work"]


@dataclass(frozen=True, slots=True)
class ServerLocation:
    """The address of a server, or without an address the data folder to open."""

    folder: Path
    address: str | None = None
    token: str | None = None

    @property
    def name(self) -> str:
        return self.address or str(self.folder)


def data_folder(data_dir: Path | None) -> Path:
    return data_dir or Path(os.environ.get("CAIRN_DATA_DIR") or DEFAULT_FOLDER)


def find(data_dir: Path | None, server: str | None, token: str | None) -> ServerLocation:
    """The server named by an option or the environment, otherwise the server running on the folder, or the folder."""
    folder = data_folder(data_dir)
    server = server or (os.environ.get("CAIRN_SERVER") if data_dir is None else None)
    environment_token = os.environ.get("CAIRN_TOKEN")
    if server:
        address = _with_scheme(server)
        return ServerLocation(folder, address, token or environment_token or _local_token(folder, address))
    content = read(folder)
    if not is_running(content):
        return ServerLocation(folder, None, token)
    # the folder's own token goes first: CAIRN_TOKEN may belong to another server
    return ServerLocation(folder, content["address"], token or content.get("token") or environment_token)


def read(folder: Path) -> dict[str, Any]:
    """The content of the folder's server file. Empty if it does not exist or is invalid."""
    try:
        content: Any = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return cast("dict[str, Any]", content) if isinstance(content, dict) else {}


def is_running(content: dict[str, Any]) -> bool:
    """Whether the process that wrote the server file still runs. A killed server leaves its file behind."""
    pid, address = content.get("pid"), content.get("address")
    if not isinstance(pid, int) or not isinstance(address, str):
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def write(folder: Path, content: dict[str, object]) -> None:
    """Write the server file, readable by its owner only."""
    fd = os.open(folder / FILE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.fchmod(fd, 0o600)
    with os.fdopen(fd, "w") as out:
        json.dump(content, out)


def _with_scheme(server: str) -> str:
    return (server if "://" in server else f"http://{server}").rstrip("/")


def _local_token(folder: Path, address: str) -> str | None:
    """The folder's local token, but only for the server that runs on this folder."""
    content = read(folder)
    token = content.get("token")
    return token if content.get("address") == address and isinstance(token, str) else None


def has_data(folder: Path) -> bool:
    return (folder / "cairn.db").is_file()
