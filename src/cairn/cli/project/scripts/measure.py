"""Measure a text. The return value of `main` becomes the artifact measures.json."""

from typing import Any


def main(ctx: Any) -> dict[str, Any]:
    words = str(ctx.inputs["text"]).split()
    ctx.log(f"{len(words)} words counted")
    return {"words": len(words), "longest": max(words, key=len, default="")}
