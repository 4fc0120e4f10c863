"""What the program asks of the outside, as Protocols. Adapters implement them; only `bootstrap` chooses."""

from cairn.ports.jobs import (
    Clock,
    JobEngine,
    LaneJob,
    TimerJob,
)
from cairn.ports.sandbox import (
    Bounds,
    Job,
    Level,
    Process,
    Reached,
    Sandbox,
)
from cairn.ports.work import (
    Asks,
    Call,
    Content,
    Faulted,
    Material,
    Outcome,
    Produced,
    Rework,
    Runner,
    Stored,
    Unfit,
    Upload,
    WantsRework,
    Work,
)

__all__ = [
    "Asks",
    "Bounds",
    "Call",
    "Clock",
    "Content",
    "Faulted",
    "Job",
    "JobEngine",
    "LaneJob",
    "Level",
    "Material",
    "Outcome",
    "Process",
    "Produced",
    "Reached",
    "Rework",
    "Runner",
    "Sandbox",
    "Stored",
    "TimerJob",
    "Unfit",
    "Upload",
    "WantsRework",
    "Work",
]
