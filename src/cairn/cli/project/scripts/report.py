"""Write the report. `ctx.stage` adds a file of any type to the artifacts."""

from typing import Any


def main(ctx: Any) -> None:
    measures = ctx.inputs["measures"]
    ctx.progress(0.5, "writing")
    lines = [
        "# Report",
        "",
        f"> {ctx.inputs['text']}",
        "",
        f"- {measures['words']} words",
        f"- the longest is *{measures['longest']}*",
    ]
    ctx.stage("report.md", "\n".join(lines) + "\n")
