"""Project folders: a pipeline as files, to be kept in git."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cairn.cli.desk import AsJson, offline
from cairn.cli.exits import Code, Ended
from cairn.cli.telling import Screen

IGNORED = "cairn-data/\n__pycache__/\n"


@offline
def init(
    folder: Annotated[Path, typer.Argument(help="The folder to make.")] = Path(),
    template: Annotated[str, typer.Option("--template", help="Which sample; see `cairn templates`.")] = "text-report",
    as_json: AsJson = False,
) -> None:
    """Make a project folder with a sample pipeline. Files that are there are left alone.

    Example: cairn init my-project
    """
    from cairn.definitions import templates

    found = {each.name: each for each in templates()}
    if template not in found:
        raise Ended(Code.NOT_FOUND, f"There is no template {template!r}. There are: {', '.join(sorted(found))}.")
    sample = found[template]
    files = {"pipeline.yaml": sample.text, "README.md": _readme(sample.title), ".gitignore": IGNORED}
    written, kept = _write(folder, files)
    screen = Screen(as_json=as_json)
    if as_json:
        screen.answer({"folder": str(folder), "written": written, "kept": kept})
        return
    for name in written:
        screen.line(f"wrote {folder / name}")
    for name in kept:
        screen.line(f"left {folder / name} as it is")


def _write(folder: Path, files: dict[str, str]) -> tuple[list[str], list[str]]:
    written: list[str] = []
    kept: list[str] = []
    try:
        for name, text in files.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            try:
                with file.open("x", encoding="utf-8") as out:
                    out.write(text)
            except FileExistsError:
                kept.append(name)
            else:
                written.append(name)
    except OSError as error:
        raise Ended(Code.USAGE, f"{folder} cannot be written: {(error.strerror or str(error)).lower()}.") from None
    return written, kept


def _readme(title: str) -> str:
    return f"""\
# {title}

A pipeline of Cairn: `pipeline.yaml` says what it does.

```sh
cairn validate pipeline.yaml   # every fault with its line and column
cairn apply pipeline.yaml      # save it; again, it changes nothing
cairn run "{title}"            # start a run and follow it
cairn show "{title}"           # how its newest run stands
cairn approve "{title}"        # where something waits for a decision
```

Without a server each command opens `./cairn-data` itself. `cairn serve` starts one, with a web app.
"""
