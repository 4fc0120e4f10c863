"""Uploads: one file of a multipart form, streamed while it arrives."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from cairn.api.problems import RequestRejected
from cairn.services.errors import InvalidInput, TooLarge

SLACK = 64 * 1024  # bytes of a form besides its file


@dataclass(frozen=True, slots=True)
class FilePart:
    filename: str
    media_type: str
    content: AsyncIterator[bytes]


async def read_file(request: Request, limit: int) -> FilePart:
    """The file of a multipart form. Its content has not been read yet."""
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limit + SLACK:
        raise TooLarge(limit, "The file")
    kind, options = parse_options_header(request.headers.get("content-type"))
    if kind != b"multipart/form-data" or not options.get(b"boundary"):
        raise RequestRejected("unsupported-media-type", "Send the file as multipart/form-data.")
    form = _Form(options[b"boundary"])
    stream = request.stream()
    async for chunk in stream:
        form.write(chunk)
        if form.filename is not None:
            return FilePart(form.filename, form.media_type, _content(form, stream))
        if form.outside > SLACK:
            raise TooLarge(SLACK, "The content before the file")
    form.check_whole()
    raise InvalidInput([("/file", "The form contains no file.")])


async def _content(form: _Form, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    while True:
        while form.pieces:
            yield form.pieces.popleft()
        chunk = await anext(stream, None)
        if chunk is None:
            break
        form.write(chunk)
    form.check_whole()


class _Form:
    """The state of the parser."""

    def __init__(self, boundary: bytes) -> None:
        self.filename: str | None = None
        self.media_type = "application/octet-stream"
        self.pieces: deque[bytes] = deque()
        self._is_whole = False
        self.outside = 0  # bytes of other fields
        self._is_file = False
        self._headers: dict[bytes, bytes] = {}
        self._name, self._value = b"", b""
        callbacks: Any = {
            "on_part_begin": self._begin,
            "on_header_field": self._header_name,
            "on_header_value": self._header_value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._headers_done,
            "on_part_data": self._data,
            "on_end": self._end,
        }
        self._parser = MultipartParser(boundary, callbacks)

    def write(self, chunk: bytes) -> None:
        if not chunk:
            return
        try:
            self._parser.write(chunk)
        except FormParserError as error:
            raise RequestRejected("invalid-body", f"Couldn't read the form: {error}.") from None

    def check_whole(self) -> None:
        if not self._is_whole:
            raise RequestRejected("invalid-body", "The form is incomplete.")

    def _begin(self) -> None:
        self._headers, self._is_file = {}, False

    def _header_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        self._headers[self._name.lower()] = self._value
        self._name, self._value = b"", b""

    def _headers_done(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition"))
        filename = options.get(b"filename")
        if not filename:
            return
        if self.filename is not None:
            raise InvalidInput([("/file", "Upload one file at a time.")])
        self._is_file = True
        self.filename = filename.decode(errors="replace")
        media_type, _ = parse_options_header(self._headers.get(b"content-type"))
        self.media_type = media_type.decode("latin-1")[:100] or self.media_type

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._is_file:
            self.pieces.append(data[start:end])
        else:
            self.outside += end - start

    def _end(self) -> None:
        self._is_whole = True
