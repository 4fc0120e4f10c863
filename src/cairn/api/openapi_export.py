"""Print the OpenAPI document: `python -m cairn.api.openapi_export`."""

from __future__ import annotations

import sys

from cairn.api.app import describe
from cairn.documents import encode_json


def main() -> None:
    sys.stdout.buffer.write(encode_json(describe().openapi(), indent=True) + b"\n")


if __name__ == "__main__":
    main()
