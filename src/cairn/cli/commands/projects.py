"""Project folders: a pipeline as files, to be kept in git."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from cairn.cli.context import AsJson, offline
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import Output

NAME = "My report"  # of the pipeline that a new project has
SAMPLE = ("pipeline.yaml", "scripts/measure.py", "scripts/report.py")
IGNORED = "cairn-data/\n__pycache__/\n"


@offline
def init(
    folder: Annotated[Path, typer.Argument(help="Folder to create.", show_default="this one")] = Path(),
    template: Annotated[
        str | None, typer.Option("--template", help="Start from a template instead. See `cairn templates`.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create a project folder with a sample pipeline of two scripts. Existing files are not touched.

    Example: cairn init my-report
    """
    name, sample = (NAME, {file: _packaged(file) for file in SAMPLE}) if template is None else _from(template)
    readme = _packaged("README.md").replace("NAME", name).replace("FOLDER", folder.name or ".")
    written, kept = _write(folder, {**sample, "README.md": readme, ".gitignore": IGNORED})
    screen = Output(as_json=as_json)
    if as_json:
        screen.answer({"folder": str(folder), "pipeline_name": name, "written": written, "kept": kept})
        return
    for file in written:
        screen.line(f"wrote {folder / file}")
    for file in kept:
        screen.line(f"left {folder / file} as it is")


def _packaged(name: str) -> str:
    return files("cairn.cli.project").joinpath(name).read_text("utf-8")


def _from(template: str) -> tuple[str, dict[str, str]]:
    from cairn.definitions import builtin_templates

    found = {each.name: each for each in builtin_templates()}
    if template not in found:
        raise CommandFailed(
            ExitCode.NOT_FOUND, f"There is no template {template!r}. There are: {', '.join(sorted(found))}."
        )
    return found[template].title, {"pipeline.yaml": found[template].text}


def _write(folder: Path, contents: dict[str, str]) -> tuple[list[str], list[str]]:
    written: list[str] = []
    kept: list[str] = []
    try:
        for name, text in contents.items():
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
        raise CommandFailed(
            ExitCode.USAGE, f"{folder} cannot be written: {(error.strerror or str(error)).lower()}."
        ) from None
    return written, kept
