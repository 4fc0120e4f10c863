"""Package runners, such as `npx`, start whatever version is newest, unless the command names a fixed one."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ash", "ksh", "cmd", "cmd.exe"})
_FIXED = re.compile(
    r"(@?[^@\s]+@|[^=<>~!\s]+==)v?\d+\.\d+\.\d+([-+.]?[0-9A-Za-z][0-9A-Za-z.+-]*)?"  # name@1.2.3 or name==1.2.3
    r"|\S+@[0-9a-f]{40}"  # a commit of a repository
    r"|\S+@sha256:[0-9a-f]{64}"  # an image
)
_FIXED_SHORT = re.compile(r"[^=<>~!\s]+==\d+(\.\d+)*")  # Python packages may have fewer numbers


@dataclass(frozen=True, slots=True)
class _Runner:
    packages: frozenset[str]  # options that name a package
    values: frozenset[str] = frozenset()  # other options with a value
    flags: frozenset[str] = frozenset()


_QUIET = frozenset({"-q", "--quiet", "-s", "--silent", "-v", "--verbose"})
_NPX = _Runner(
    frozenset({"-p", "--package"}),
    flags=_QUIET | {"-y", "--yes", "--no", "--no-install", "--offline", "--prefer-offline"},
)
_UVX = _Runner(
    frozenset({"--from", "--with"}),
    frozenset({"-p", "--python"}),
    _QUIET | {"--offline", "--isolated", "--no-cache", "-n", "--refresh", "--no-config", "--native-tls"},
)
_PIPX = _Runner(frozenset({"--spec"}), frozenset({"--python"}), _QUIET | {"--no-cache"})
_RUNNERS: Mapping[tuple[str, ...], _Runner] = {
    ("npx",): _NPX,
    ("bunx",): _NPX,
    ("npm", "exec"): _NPX,
    ("npm", "x"): _NPX,
    ("pnpm", "dlx"): _NPX,
    ("yarn", "dlx"): _NPX,
    ("bun", "x"): _NPX,
    ("uvx",): _UVX,
    ("uv", "tool", "run"): _UVX,
    ("pipx", "run"): _PIPX,
}
_CONTAINERS = frozenset({("docker", "run"), ("podman", "run")})


def floating_package(command: str, arguments: Sequence[str]) -> str | None:
    """What a command starts without a fixed version. None if no package runner is involved, or all are fixed."""
    words = [*_words(command, arguments)]
    names = [_name(word) for word in words]
    for index in range(len(words)):
        for start, runner in _RUNNERS.items():
            if tuple(names[index : index + len(start)]) == start:
                return _floating_in(words[index], words[index + len(start) :], runner)
        if tuple(names[index : index + 2]) in _CONTAINERS and not any("@sha256:" in word for word in words[index:]):
            return " ".join(names[index : index + 2])
    return None


def _words(command: str, arguments: Sequence[str]) -> list[str]:
    """The words of the command. The script of a shell is split into its words."""
    words = [command, *arguments]
    if _name(command) not in _SHELLS:
        return words
    return [part for word in words for part in _split(word)]


def _split(word: str) -> list[str]:
    try:
        return shlex.split(word) or [word]
    except ValueError:
        return [word]


def _name(word: str) -> str:
    name = PurePath(word.replace("\\", "/")).name.lower()
    return name.removesuffix(".cmd").removesuffix(".exe")


def _floating_in(runner_word: str, words: Sequence[str], runner: _Runner) -> str | None:
    """The first package without a fixed version. Unknown options may change what is started, so they count as one."""
    named: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        option, separator, value = word.partition("=")
        if word == "--":
            continue
        if not word.startswith("-"):
            packages = named if runner is not _UVX or "--from" in words else [word, *named]
            return next((package for package in packages or [word] if not _is_fixed(package)), None)
        if option in runner.packages:
            named.append(value if separator else left.pop(0) if left else "")
        elif option in runner.values:
            if not separator and left:
                left.pop(0)
        elif word not in runner.flags:
            return word
    return next((package for package in named or [runner_word] if not _is_fixed(package)), None)


def _is_fixed(package: str) -> bool:
    is_path = package.startswith(("./", "../", "/", "~"))
    return is_path or _FIXED.fullmatch(package) is not None or _FIXED_SHORT.fullmatch(package) is not None
