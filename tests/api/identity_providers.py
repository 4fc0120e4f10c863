"""Identity providers on loopback: a real one in its own process, and a malicious one."""

from __future__ import annotations

import base64
import hashlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import httpx
import uvicorn
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from cairn.documents import encode_json

Json = dict[str, Any]


def free_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return unused.getsockname()[1]


@contextmanager
def real_provider() -> Generator[str]:
    """Run `oidc-provider-mock`, which requires registered clients and a nonce."""
    port = free_port()
    arguments = ["--port", str(port), "--require-registration", "true", "--require-nonce", "true"]
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", *arguments]
    quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env={**os.environ, "PYTHONWARNINGS": "ignore"}, **quiet) as process:
        address = f"http://127.0.0.1:{port}"
        try:
            _wait(address)
            yield address
        finally:
            process.terminate()


def _wait(address: str) -> None:
    until = time.monotonic() + 30
    while True:
        try:
            httpx.get(f"{address}/.well-known/openid-configuration", trust_env=False)
        except httpx.TransportError:
            assert time.monotonic() < until, "the provider does not start"
            time.sleep(0.05)
        else:
            return


# ---- malicious provider ----------------------------------------------------------------------------------
_KEY, _OTHER = RSAKey.generate_key(2048, {"kid": "one"}), RSAKey.generate_key(2048, {"kid": "one"})
SECRET = OctKey.import_key("a secret of the client that is long enough")


@dataclass
class MaliciousProvider:
    """A provider whose next responses can be forged. By default they are correct."""

    address: str = ""
    metadata: Json = field(default_factory=dict[str, Any])
    claims: Json = field(default_factory=dict[str, Any])
    user_info: Json = field(default_factory=dict[str, Any])  # forged response of userinfo
    algorithm: str = "RS256"
    is_signed_by_another: bool = False
    status: int = 200
    nonce: str = ""
    challenge: str = ""
    seen: Json = field(default_factory=dict[str, Any])  # parameters of the last token request

    def reset(self) -> None:
        address = self.address
        self.__init__(address)

    async def metadata_document(self, request: Request) -> Response:
        del request
        issuer = self.address
        return JSONResponse(
            {
                "issuer": issuer,
                "authorization_endpoint": f"{issuer}/authorize",
                "token_endpoint": f"{issuer}/token",
                "userinfo_endpoint": f"{issuer}/userinfo",
                "jwks_uri": f"{issuer}/keys",
                **self.metadata,
            },
            self.status,
        )

    async def keys(self, request: Request) -> Response:
        del request
        return JSONResponse({"keys": [_KEY.as_dict(private=False)]})

    async def token(self, request: Request) -> Response:
        form = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
        self.seen = {**form, "authorization": request.headers.get("authorization")}
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != self.challenge:
            return JSONResponse({"error": "invalid_grant"}, 400)
        now = int(time.time())
        claims = {"iss": self.address, "sub": "s-1", "aud": "cairn", "iat": now, "exp": now + 60, "nonce": self.nonce}
        claims = {name: value for name, value in {**claims, **self.claims}.items() if value is not None}
        return JSONResponse({"access_token": "at", "token_type": "Bearer", "id_token": self._signed(claims)})

    def _signed(self, claims: Json) -> str:
        header: Json = {"alg": self.algorithm, "kid": "one"}
        if self.algorithm == "none":
            parts = [encode_json(part) for part in (header, claims)]
            return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in (*parts, b""))
        key = SECRET if self.algorithm == "HS256" else _OTHER if self.is_signed_by_another else _KEY
        return jwt.encode(header, claims, key, algorithms=[self.algorithm])

    async def userinfo(self, request: Request) -> Response:
        del request
        return JSONResponse({"sub": "s-1", "email": "liar@example.com", "email_verified": True, **self.user_info})

    async def oversized(self, request: Request) -> Response:
        del request
        return PlainTextResponse("x" * 2_000_000)


@contextmanager
def malicious_provider() -> Generator[MaliciousProvider]:
    provider = MaliciousProvider()
    routes = [
        Route("/.well-known/openid-configuration", provider.metadata_document),
        Route("/keys", provider.keys),
        Route("/token", provider.token, methods=["POST"]),
        Route("/userinfo", provider.userinfo),
        Route("/odd", provider.oversized),
    ]
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), port=port, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    provider.address = f"http://127.0.0.1:{port}"
    try:
        _wait(provider.address)
        yield provider
    finally:
        server.should_exit = True
        thread.join(10)
