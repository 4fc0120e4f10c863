"""The web app: its assets, and its page for every path outside the API."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

STATIC = Path(__file__).parent / "static"
_FOREVER = "public, max-age=31536000, immutable"  # the name of an asset changes with its content
_PACKED = frozenset({".js", ".css", ".svg", ".json"})
_UNBUILT = """<!doctype html>
<html lang="en">
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Cairn</title>
<h1>The web app has not been built</h1>
<p>Cairn is running, and its API is available under <a href="/api/health">/api</a>.
<p>Run <code>make setup</code> in Cairn's folder to build it, then reload this page.
"""


@dataclass(frozen=True, slots=True)
class StaticAsset:
    """A compressed asset."""

    content: bytes
    media_type: str

    def to_response(self) -> Response:
        headers = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding", "Cache-Control": _FOREVER}
        return Response(self.content, headers=headers, media_type=self.media_type)


class WebApp(StaticFiles):
    """Serves files, and the app's page for any other path, because the app does its own routing."""

    def __init__(self, folder: Path = STATIC) -> None:
        super().__init__(directory=folder, check_dir=False)
        self.folder = folder
        self._packed: dict[str, StaticAsset] = {}  # assets by path, compressed on first use

    async def check_config(self) -> None:
        """A missing folder is reported by a page, not by an error."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        if _is_api(scope["path"]):
            raise HTTPException(404)
        if _takes_packed(scope) and (packed := self._packed.get(path)) is not None:
            return packed.to_response()
        try:
            response = await super().get_response(path, scope)
        except HTTPException as error:
            if error.status_code != 404 or Path(path).suffix:
                raise
            return self.page()
        if not path.startswith("assets"):
            response.headers["Cache-Control"] = "no-cache"
            return response
        if _takes_packed(scope) and isinstance(response, FileResponse) and Path(path).suffix in _PACKED:
            content = await run_in_threadpool(_pack, Path(response.path))
            if content is not None:
                self._packed[path] = StaticAsset(content, response.headers["Content-Type"])
                return self._packed[path].to_response()
        response.headers["Cache-Control"] = _FOREVER
        return response

    def page(self) -> Response:
        index = self.folder / "index.html"
        headers = {"Cache-Control": "no-cache"}
        if not index.is_file():
            return HTMLResponse(_UNBUILT, status_code=503, headers=headers)
        return FileResponse(index, headers=headers)


def _takes_packed(scope: Scope) -> bool:
    return scope["method"] == "GET" and "gzip" in Headers(scope=scope).get("accept-encoding", "")


def _pack(file: Path) -> bytes | None:
    """None if the case of the name differs: on case-insensitive disks, one file would be cached under many names."""
    if file.name not in {other.name for other in file.parent.iterdir()}:
        return None
    return gzip.compress(file.read_bytes(), mtime=0)


def _is_api(path: str) -> bool:
    return path == "/api" or path.startswith("/api/")


def install(app: FastAPI, folder: Path = STATIC) -> None:
    app.mount("/", WebApp(folder), name="web")
