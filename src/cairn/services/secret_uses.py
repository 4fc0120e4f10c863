"""What a secret may be used for. An admin lists it; without a list, a secret can't be used in actions or tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cairn.core.destinations import Destination, is_covered

ANY_PIPELINE = "*"


class SecretUse(NamedTuple):
    """A use of a secret: by which pipeline, for what, and to which host it is sent."""

    pipeline_id: str | None  # None: not for a pipeline
    action_type: str  # or `mcp:SERVER` for the environment and headers of an MCP server
    destination: Destination | None = None  # None: to a program on this machine


@dataclass(frozen=True, slots=True)
class SecretUses:
    """The hosts, pipelines and action types that a secret may be used for. All three have to match."""

    hosts: tuple[str, ...] = ()
    pipelines: tuple[str, ...] = ()  # ids, or ANY_PIPELINE
    action_types: tuple[str, ...] = ()

    @classmethod
    def of(cls, hosts: Sequence[str], pipelines: Sequence[str], action_types: Sequence[str]) -> SecretUses:
        return cls(tuple(hosts), tuple(pipelines), tuple(action_types))

    def allow(self, use: SecretUse) -> bool:
        return (
            use.action_type in self.action_types
            and (use.pipeline_id is None or not {use.pipeline_id, ANY_PIPELINE}.isdisjoint(self.pipelines))
            and (use.destination is None or is_covered(self.hosts, use.destination))
        )


NO_USES = SecretUses()
