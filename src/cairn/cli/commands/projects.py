"""The init command: creates a project folder with a sample pipeline."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from cairn.cli.arguments import os_reason
from cairn.cli.context import AsJson, offline
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import Output
from cairn.cli.references import UnknownReference

SAMPLE_NAME = "My report"  # the pipeline_name in the sample pipeline.yaml
SAMPLE_FILES = ("pipeline.yaml", "scripts/measure.py", "scripts/report.py")
GITIGNORE = "cairn-data/\n__pycache__/\n"


@offline
def init(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder to create.", show_default="current folder")
    ] = Path(),
    template: Annotated[
        str | None, typer.Option("--template", help="Start from a template instead. See `cairn templates`.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create a project folder with a sample pipeline. Existing files are not changed.

    Example: cairn init my-report
    """
    if template is None:
        name, contents = SAMPLE_NAME, {file: _read_packaged(file) for file in SAMPLE_FILES}
    else:
        name, contents = _template_files(template)
    readme = _read_packaged("README.md").replace("NAME", name).replace("FOLDER", folder.name or ".")
    written, existing = _write(folder, {**contents, "README.md": readme, ".gitignore": GITIGNORE})
    output = Output(as_json=as_json)
    if as_json:
        output.json({"folder": str(folder), "pipeline_name": name, "written": written, "skipped": existing})
        return
    for file in written:
        output.line(f"created {folder / file}")
    for file in existing:
        output.line(f"skipped {folder / file}: it already exists")


def _read_packaged(name: str) -> str:
    return files("cairn.cli.project").joinpath(name).read_text("utf-8")


def _template_files(template: str) -> tuple[str, dict[str, str]]:
    from cairn.definitions import builtin_templates

    templates = {builtin.name: builtin for builtin in builtin_templates()}
    if template not in templates:
        raise UnknownReference("template", template, f"Available: {', '.join(sorted(templates))}.")
    return templates[template].title, {"pipeline.yaml": templates[template].text}


def _write(folder: Path, contents: dict[str, str]) -> tuple[list[str], list[str]]:
    written: list[str] = []
    existing: list[str] = []
    try:
        for name, text in contents.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            try:
                with file.open("x", encoding="utf-8") as out:
                    out.write(text)
            except FileExistsError:
                existing.append(name)
            else:
                written.append(name)
    except OSError as error:
        raise CommandFailed(ExitCode.USAGE, f"Can't write to {folder}: {os_reason(error)}.") from None
    return written, existing
