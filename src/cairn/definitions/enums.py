"""Enumerations of definitions that the core does not use. The others are in `cairn.core.states`."""

from __future__ import annotations

from enum import StrEnum


class CreationMode(StrEnum):
    SINGLE = "single"  # one agent
    PREDEFINED = "predefined"  # several, named in the definition
    META_AGENT = "meta_agent"  # several, designed by a meta-agent


class ToolApproval(StrEnum):
    """Who approves calls of tools that change something, or send something to a place that no admin allows."""

    ASK = "ask"  # people
    BY_RULES = "by_rules"  # rules, and people if none approves
    NEVER = "never"  # nobody, where an admin allows that; rules that require approval still apply


class DiscussionMode(StrEnum):
    SEQUENTIAL = "sequential"  # one after the other; each sees all earlier messages
    COUNCIL = "council"  # all answer, then review each other's answers; a chair decides
    PARALLEL = "parallel"  # all answer independently at the same time; one agent merges the answers
    DEBATE = "debate"  # two sides argue in rounds; a judge decides


class FieldType(StrEnum):
    TEXT = "text"  # one line
    NUMBER = "number"
    BOOLEAN = "boolean"  # yes or no
    FILE = "file"  # the id of an upload
    MULTILINE_TEXT = "multiline_text"


class FormFormat(StrEnum):
    JSON = "json"  # the answers as an object
    MD = "md"  # the answers under headings


class ValidationMode(StrEnum):
    LLM_SCHEMA = "llm_schema"  # against the declared JSON Schema
    LLM_CUSTOM = "llm_custom"  # by a model with the author's prompt
    BOTH = "both"


class Strictness(StrEnum):
    STRICT = "strict"  # the result must match the schema
    LENIENT = "lenient"  # a model may accept small deviations


class PreviousVersionPoint(StrEnum):
    """Where to insert the outputs of the previous run in the prompt."""

    BEFORE_TASK_PROMPT = "before_task_prompt"
    AFTER_TASK_PROMPT = "after_task_prompt"
    BEFORE_SYSTEM_PROMPT = "before_system_prompt"


class ReferencePoint(StrEnum):
    """Where to insert the outputs of other checkpoints in the prompt."""

    BEFORE_TASK_PROMPT = "before_task_prompt"
    AFTER_TASK_PROMPT = "after_task_prompt"


class ContentFormat(StrEnum):
    """Markup around inserted content."""

    MARKDOWN = "markdown"
    XML = "xml"
    JSON = "json"


class LoopKind(StrEnum):
    DECLARED_DONE = "declared_done"  # the agent, script or function declares the work done
    CHECK_SCRIPT = "check_script"  # a check script passes
    JSON_CONDITION = "json_condition"  # a field of the output has a value


class OnLimit(StrEnum):
    FAIL = "fail"  # the checkpoint fails
    ASK = "ask"  # escalate to people


class OnAgentFailure(StrEnum):
    RETRY = "retry"
    ESCALATE = "escalate"


class OnInterrupt(StrEnum):
    RESUME_FROM_CHECKPOINT = "resume_from_checkpoint"
    RESTART = "restart"  # a new pass
