"""The closed choices of a definition that the run itself does not know; the others are in `cairn.core.model`."""

from __future__ import annotations

from enum import StrEnum


class CreationMode(StrEnum):
    SINGLE = "single"  # one agent
    PREDEFINED = "predefined"  # several, named in the definition
    META_AGENT = "meta_agent"  # as many as a meta-agent makes


class DiscussionMode(StrEnum):
    SEQUENTIAL = "sequential"  # each speaks in turn and sees all before
    COUNCIL = "council"  # all answer, each reviews the others, a chair decides
    PARALLEL = "parallel"  # all answer alone at once, and one merges
    DEBATE = "debate"  # sides argue over rounds, a judge rules


class FieldType(StrEnum):
    TEXT = "text"  # one line
    NUMBER = "number"
    BOOLEAN = "boolean"  # yes or no
    FILE = "file"  # an upload, by its id
    MULTILINE_TEXT = "multiline_text"


class FormFormat(StrEnum):
    JSON = "json"  # an object of the answers
    MD = "md"  # the answers under headings


class ValidationMode(StrEnum):
    LLM_SCHEMA = "llm_schema"  # by the declared JSON Schema
    LLM_CUSTOM = "llm_custom"  # by a model and the author's prompt
    BOTH = "both"


class Strictness(StrEnum):
    STRICT = "strict"  # the schema must hold
    LENIENT = "lenient"  # a model judges near misses


class PreviousVersionPoint(StrEnum):
    """Where in the prompt the outputs of the run before go."""

    BEFORE_TASK_PROMPT = "before_task_prompt"
    AFTER_TASK_PROMPT = "after_task_prompt"
    BEFORE_SYSTEM_PROMPT = "before_system_prompt"


class ReferencePoint(StrEnum):
    """Where in the prompt the outputs of other checkpoints go."""

    BEFORE_TASK_PROMPT = "before_task_prompt"
    AFTER_TASK_PROMPT = "after_task_prompt"


class ContentFormat(StrEnum):
    """Markup around what is put into the prompt."""

    MARKDOWN = "markdown"
    XML = "xml"
    JSON = "json"


class LoopKind(StrEnum):
    DECLARED_DONE = "declared_done"  # whoever does the step says so
    CHECK_SCRIPT = "check_script"  # a script passes
    JSON_CONDITION = "json_condition"  # a field of the output has a value


class OnLimit(StrEnum):
    FAIL = "fail"  # the checkpoint fails
    ASK = "ask"  # people are asked


class OnAgentFailure(StrEnum):
    RETRY = "retry"
    ESCALATE = "escalate"


class OnInterrupt(StrEnum):
    RESUME_FROM_CHECKPOINT = "resume_from_checkpoint"
    RESTART = "restart"  # a new pass


class RiskLevel(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"
