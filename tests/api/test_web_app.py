"""The files of the web app: its page, immutable assets, and a hint if it is not built."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from cairn.api import problems, web_app


@pytest.fixture
def built(tmp_path: Path) -> Path:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<title>Cairn</title>")
    (tmp_path / "assets" / "index-Dq.js").write_text("run()")
    (tmp_path / "favicon.svg").write_text("<svg/>")
    (tmp_path.parent / "secret.txt").write_text("secret")
    return tmp_path


def serving(folder: Path) -> httpx.AsyncClient:
    app = FastAPI()
    problems.install(app)
    web_app.install(app, folder)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost")


async def get(folder: Path, path: str, method: str = "GET") -> httpx.Response:
    async with serving(folder) as client:
        return await client.request(method, path)


@pytest.mark.parametrize("path", ["/", "/pipelines", "/runs/17", "/runs/17/"])
async def test_the_page_is_served_for_its_own_addresses(built: Path, path: str) -> None:
    response = await get(built, path)
    assert (response.status_code, response.text) == (200, "<title>Cairn</title>")
    assert response.headers["cache-control"] == "no-cache"


async def test_assets_are_cached_forever_and_other_files_are_revalidated(built: Path) -> None:
    asset = await get(built, "/assets/index-Dq.js")
    assert asset.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert asset.headers["content-type"].startswith("text/javascript")
    assert (await get(built, "/favicon.svg")).headers["cache-control"] == "no-cache"


async def test_an_asset_is_compressed_once(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (built / "assets" / "font.woff2").write_bytes(b"packed already")
    packed: list[Path] = []
    pack = web_app._pack  # pyright: ignore[reportPrivateUsage]

    def note(file: Path) -> bytes | None:
        packed.append(file)
        return pack(file)

    monkeypatch.setattr(web_app, "_pack", note)
    async with serving(built) as client:
        for _ in range(3):
            answer = await client.get("/assets/index-Dq.js", headers={"Accept-Encoding": "br, gzip"})
            assert (answer.status_code, answer.text) == (200, "run()")
            assert answer.headers["content-encoding"] == "gzip"
            assert answer.headers["vary"] == "Accept-Encoding"
            assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
            assert answer.headers["content-type"].startswith("text/javascript")
            plain = await client.get("/assets/index-Dq.js", headers={"Accept-Encoding": "identity"})
            assert (plain.text, plain.headers.get("content-encoding")) == ("run()", None)
            font = await client.get("/assets/font.woff2")
            assert (font.content, font.headers.get("content-encoding")) == (b"packed already", None)
            assert (await client.head("/assets/index-Dq.js")).headers["content-length"] == "5"
    assert [file.name for file in packed] == ["index-Dq.js"]


@pytest.mark.parametrize(
    "path", ["/api/nothing", "/api", "/missing.js", "/assets/missing.js", "/%2e%2e/secret.txt", "/..%2fsecret.txt"]
)
async def test_missing_files_and_paths_outside_are_not_found(built: Path, path: str) -> None:
    response = await get(built, path)
    assert response.status_code == 404
    assert "secret" not in response.text


async def test_a_missing_build_is_explained(tmp_path: Path) -> None:
    response = await get(tmp_path / "nowhere", "/pipelines")
    assert response.status_code == 503
    assert "make setup" in response.text


async def test_pages_reject_post_requests(built: Path) -> None:
    assert (await get(built, "/pipelines", "POST")).status_code == 405
