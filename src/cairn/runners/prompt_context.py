"""What a checkpoint is told: its prompts, and the outputs that it reads, laid out as one text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cairn.definitions.enums import PreviousVersionPoint, ReferencePoint
from cairn.definitions.execution_config import Agent
from cairn.definitions.model import CheckpointDefinition, OutputReference
from cairn.documents import encode_json
from cairn.ports import ArtifactSource, ResolvedInputs, ReworkBrief, StoredFile
from cairn.runners.errors import ContextTooLong, MissingReference
from cairn.runners.limits import RunnerLimits
from cairn.runners.prompt_layouts import LAYOUTS, BlockKind, PromptBlock, PromptSection

Point = PreviousVersionPoint | ReferencePoint
Summaries = Mapping[str, Mapping[str, str]]
SHORT = 2_000  # characters up to which a content is given whole, also where a summary is allowed


@dataclass(frozen=True, slots=True)
class AssembledContext:
    """The context of one execution, exactly as a model is given it."""

    system: str
    task: str
    blocks: tuple[PromptBlock, ...]
    text: str

    @property
    def characters(self) -> int:
        return len(self.text)

    @property
    def tokens(self) -> int:
        """About how many a model counts: four bytes make one."""
        return -(-len(self.text.encode(errors="replace")) // 4)


@dataclass(frozen=True, slots=True)
class PromptAdditions:
    """What is said to an agent besides what its author says, laid out already."""

    system: str = ""  # after the system prompt
    task: str = ""  # after the task


def assemble(
    checkpoint: CheckpointDefinition,
    found: ResolvedInputs,
    *,
    agent: Agent | None = None,
    limits: RunnerLimits | None = None,
    additions: PromptAdditions | None = None,
) -> AssembledContext:
    """Lay out prompts and outputs; MissingReference if one is not there. The agent is by default the single one."""
    placed = _sections(checkpoint, found, limits or RunnerLimits())
    layout = LAYOUTS[checkpoint.instructions.injection_format.content_format]
    system_prompt, task_prompt = prompts(checkpoint, agent)

    def at(point: str) -> str:
        sections = [section for section, where in placed if where == point]
        return layout.sections(sections) if sections else ""

    ahead = at(PreviousVersionPoint.BEFORE_SYSTEM_PROMPT)
    before, after = at(ReferencePoint.BEFORE_TASK_PROMPT), at(ReferencePoint.AFTER_TASK_PROMPT)
    if ahead and system_prompt:
        system_prompt = layout.titled("YOUR INSTRUCTIONS", system_prompt)
    if (before or after or additions is not None) and task_prompt:
        task_prompt = layout.titled("YOUR TASK", task_prompt)
    additions = additions or PromptAdditions()
    system, task = _joined(ahead, system_prompt, additions.system), _joined(before, task_prompt, after, additions.task)
    blocks = tuple(block for section, _ in placed for block in section.blocks)
    return AssembledContext(system, task, blocks, _joined(system, task))


def check_length(assembled: AssembledContext, limit: int, more: Sequence[tuple[str, int]] = ()) -> None:
    """For whoever reads it with a model: ContextTooLong, with the size of each block and of what is more."""
    if assembled.characters <= limit:
        return
    shown = [*((_named(block), len(block.content or "")) for block in assembled.blocks), *more]
    rest = assembled.characters - sum(size for _, size in shown)
    raise ContextTooLong(assembled.characters, limit, [*shown, ("prompts and headings", rest)])


def prompts(checkpoint: CheckpointDefinition, agent: Agent | None = None) -> tuple[str, str]:
    """System and task: the checkpoint's own, then the agent's, or what the form says to do."""
    execution, instructions = checkpoint.execution, checkpoint.instructions
    if agent is None and execution.agent_config is not None:
        agent = execution.agent_config.agent
    form = execution.human_only_config
    system = _joined(instructions.system_prompt, agent and agent.system_prompt)
    task = _joined(instructions.task_prompt, agent and agent.task_prompt, form and form.instructions)
    return system, task


def referenced(checkpoint: CheckpointDefinition, completed: Mapping[str, ArtifactSource]) -> dict[str, ArtifactSource]:
    """The outputs that a checkpoint reads, by key, each with the artifacts that it asks for."""
    found: dict[str, ArtifactSource] = {}
    for reference in checkpoint.inputs.include_checkpoint_outputs:
        key = reference.checkpoint_id
        if key not in completed:
            raise MissingReference(
                f"{checkpoint.key} reads the outputs of {key}, which this run has not completed. Complete {key} first,"
                f" or take it out of include_checkpoint_outputs."
            )
        found[key] = _asked_for(checkpoint, reference, completed[key])
    return found


def _asked_for(checkpoint: CheckpointDefinition, reference: OutputReference, source: ArtifactSource) -> ArtifactSource:
    if reference.artifact_ids is None:
        return source
    there = {one.name: one for one in source.artifacts} | {one.artifact_id: one for one in source.artifacts}
    missing = [name for name in reference.artifact_ids if name not in there]
    if missing:
        raise MissingReference(
            f"{checkpoint.key} reads {', '.join(missing)} of {reference.checkpoint_id}, which has not produced it;"
            f" there is {', '.join(one.name for one in source.artifacts) or 'nothing'}."
        )
    artifacts = tuple(there[name] for name in reference.artifact_ids)
    return ArtifactSource(source.checkpoint_name, source.position, source.run_version, artifacts, source.pass_number)


def files_to_summarize(
    checkpoint: CheckpointDefinition, found: ResolvedInputs, limits: RunnerLimits
) -> dict[str, StoredFile]:
    """The long texts among what it reads that are to be given as summaries, by checksum."""
    if not checkpoint.instructions.injection_format.include_file_contents:
        return {}
    wanted, summed_up = dict[str, StoredFile](), summarized_checkpoints(checkpoint)
    for key, source in referenced(checkpoint, found.completed).items():
        for one in source.artifacts if key in summed_up else ():
            content, _ = _content(one, limits)
            if content is not None and len(content) > SHORT:
                wanted[one.checksum] = one
    return wanted


def summarized_checkpoints(checkpoint: CheckpointDefinition) -> set[str]:
    """The checkpoints whose outputs may be summed up."""
    return {one.checkpoint_id for one in checkpoint.inputs.include_checkpoint_outputs if one.use_summarization}


def _sections(
    checkpoint: CheckpointDefinition, found: ResolvedInputs, limits: RunnerLimits
) -> list[tuple[PromptSection, str]]:
    """Everything that is put into the prompt, in order, and where it goes."""
    points = checkpoint.instructions.injection_points
    earlier, others = points.previous_version_context.value, points.checkpoint_references.value
    before, after = ReferencePoint.BEFORE_TASK_PROMPT.value, ReferencePoint.AFTER_TASK_PROMPT.value
    placed: list[tuple[PromptSection, str]] = []
    if found.original_prompt:
        placed.append((_text(checkpoint, BlockKind.ORIGINAL_PROMPT, found.original_prompt), before))
    if found.input is not None:
        written = encode_json(found.input, indent=True).decode()
        placed.append((_text(checkpoint, BlockKind.INPUT, written, "json", "value"), before))
    if found.previous is not None and checkpoint.inputs.include_previous_version:
        placed.append((_section(checkpoint, BlockKind.PREVIOUS_VERSION, found.previous, limits), earlier))
    if found.previous_pass is not None:
        placed.append((_section(checkpoint, BlockKind.PREVIOUS_PASS, found.previous_pass, limits), earlier))
    summed_up = summarized_checkpoints(checkpoint)
    for key, source in referenced(checkpoint, found.completed).items():
        summaries = found.summaries if key in summed_up else None
        placed.append((_section(checkpoint, BlockKind.CHECKPOINT_OUTPUT, source, limits, summaries), others))
    if found.rework is not None:
        placed.append((_rework(checkpoint, found.rework, limits), after))
    # What was found wrong last is read last, and what people asked for after that.
    if found.findings:
        placed.append((_text(checkpoint, BlockKind.VALIDATION_FINDINGS, found.findings), after))
    if found.feedback:
        placed.append((_feedback(checkpoint, found.feedback), after))
    return placed


_HEADINGS = {
    BlockKind.PREVIOUS_VERSION: "PREVIOUS VERSION",
    BlockKind.PREVIOUS_PASS: "PREVIOUS PASS",
    BlockKind.CHECKPOINT_OUTPUT: "REFERENCED OUTPUT",
}


def _section(
    checkpoint: CheckpointDefinition,
    kind: BlockKind,
    source: ArtifactSource,
    limits: RunnerLimits,
    summaries: Summaries | None = None,
) -> PromptSection:
    version = "this test run" if source.run_version is None else f"v{source.run_version}"
    labels: dict[str, str | int] = {
        "checkpoint": source.position + 1,
        "checkpoint_name": source.checkpoint_name,
        "from": version,
    }
    heading = f"{_HEADINGS[kind]}: Checkpoint {source.position + 1} from {version}"
    if kind is BlockKind.PREVIOUS_PASS:
        heading += f", pass {source.pass_number}"
        labels["pass"] = source.pass_number
    blocks = [_block(checkpoint, kind, heading, source, one, limits) for one in source.artifacts]
    if summaries is not None:
        blocks = [
            _shortened(block, summaries.get(one.checksum)) for block, one in zip(blocks, source.artifacts, strict=True)
        ]
    return PromptSection(kind, heading, labels, tuple(blocks))


def _block(
    checkpoint: CheckpointDefinition,
    kind: BlockKind,
    heading: str,
    source: ArtifactSource,
    one: StoredFile,
    limits: RunnerLimits,
) -> PromptBlock:
    shown = checkpoint.instructions.injection_format
    content, omitted = _content(one, limits) if shown.include_file_contents else (None, None)
    return PromptBlock(
        kind=kind,
        heading=heading,
        checkpoint_name=source.checkpoint_name,
        run_version=source.run_version,
        artifact_name=one.name,
        file_name=one.path.rpartition("/")[2] or f"{one.name}.{one.format}",
        file_path=one.path if shown.include_file_paths and one.path else None,
        format=one.format,
        content=content,
        size_bytes=one.size,
        omitted=omitted,
    )


def _shortened(block: PromptBlock, summaries: Mapping[str, str] | None) -> PromptBlock:
    """The newest summary in the place of a long content; where there is none yet, word of it."""
    if block.content is None or len(block.content) <= SHORT:
        return block
    if not summaries:
        return replace(block, content=None, omitted="it is summarized when the execution starts")
    return replace(block, content=list(summaries.values())[-1], is_summary=True)


def _content(one: StoredFile, limits: RunnerLimits) -> tuple[str | None, str | None]:
    """The text of a file, or why it is not shown."""
    if one.size > limits.max_payload_bytes:
        return None, "it is too large"
    try:
        text = one.read().decode()
    except UnicodeDecodeError:
        return None, "it is not text"
    return (None, "it is not text") if "\0" in text else (text, None)


def _rework(checkpoint: CheckpointDefinition, rework: ReworkBrief, limits: RunnerLimits) -> PromptSection:
    kind, heading = BlockKind.REWORK, f"REWORK: sent back by {rework.requested_by}"
    name, texts = checkpoint.checkpoint_name, {"reason": rework.reason, "prompt": rework.prompt}
    blocks = [
        PromptBlock(
            kind, f"{heading}, {label}", name, None, None, None, None, "txt", text, len(text.encode()), label=label
        )
        for label, text in texts.items()
        if text
    ]
    source = ArtifactSource(rework.requested_by, 0, None, rework.artifacts)
    blocks += [_block(checkpoint, kind, heading, source, one, limits) for one in rework.artifacts]
    return PromptSection(kind, heading, {"requested_by": rework.requested_by}, tuple(blocks))


def _text(
    checkpoint: CheckpointDefinition, kind: BlockKind, text: str, format: str = "txt", label: str = "text"
) -> PromptSection:
    heading, size = kind.value.replace("_", " ").upper(), len(text.encode())
    name = checkpoint.checkpoint_name
    block = PromptBlock(kind, heading, name, None, None, None, None, format, text, size, label=label)
    return PromptSection(kind, heading, {}, (block,))


def _feedback(checkpoint: CheckpointDefinition, feedback: tuple[str, ...]) -> PromptSection:
    kind, heading = BlockKind.REVISION_FEEDBACK, "REVISION FEEDBACK"
    blocks = tuple(
        PromptBlock(kind, heading, checkpoint.checkpoint_name, None, None, None, None, "txt", text, len(text.encode()))
        for text in feedback
    )
    return PromptSection(kind, heading, {}, blocks)


def _named(block: PromptBlock) -> str:
    return f"{block.heading}, {block.file_name}" if block.file_name else block.heading


def _joined(*parts: str | None) -> str:
    return "\n\n".join(part for part in parts if part)
