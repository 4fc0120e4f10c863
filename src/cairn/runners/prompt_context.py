"""Assemble the context of a checkpoint: its prompts and the content that it reads, as one text."""

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
MAX_UNSUMMARIZED_CHARACTERS = 2_000  # longer files are summarized, if the definition allows it


@dataclass(frozen=True, slots=True)
class AssembledContext:
    """The context of one execution, exactly as a model receives it."""

    system: str
    task: str
    blocks: tuple[PromptBlock, ...]
    text: str

    @property
    def characters(self) -> int:
        return len(self.text)

    @property
    def tokens(self) -> int:
        """An estimate: four bytes per token."""
        return -(-len(self.text.encode(errors="replace")) // 4)


@dataclass(frozen=True, slots=True)
class PromptAdditions:
    """Formatted texts that Cairn adds to the author's prompts."""

    system: str = ""  # after the system prompt
    task: str = ""  # after the task


def assemble(
    checkpoint: CheckpointDefinition,
    inputs: ResolvedInputs,
    *,
    agent: Agent | None = None,
    limits: RunnerLimits | None = None,
    additions: PromptAdditions | None = None,
) -> AssembledContext:
    """Assemble the prompts and the inputs. The default agent is the checkpoint's single agent.

    Raises MissingReference if a referenced output does not exist.
    """
    sections = _sections(checkpoint, inputs, limits or RunnerLimits())
    layout = LAYOUTS[checkpoint.instructions.injection_format.content_format]
    system_prompt, task_prompt = prompts(checkpoint, agent)

    def content_at(point: Point) -> str:
        selected = [section for section, section_point in sections if section_point == point]
        return layout.sections(selected) if selected else ""

    before_system = content_at(PreviousVersionPoint.BEFORE_SYSTEM_PROMPT)
    before, after = content_at(ReferencePoint.BEFORE_TASK_PROMPT), content_at(ReferencePoint.AFTER_TASK_PROMPT)
    if before_system and system_prompt:
        system_prompt = layout.titled("YOUR INSTRUCTIONS", system_prompt)
    if (before or after or additions is not None) and task_prompt:
        task_prompt = layout.titled("YOUR TASK", task_prompt)
    additions = additions or PromptAdditions()
    system = _joined(before_system, system_prompt, additions.system)
    task = _joined(before, task_prompt, after, additions.task)
    blocks = tuple(block for section, _ in sections for block in section.blocks)
    return AssembledContext(system, task, blocks, _joined(system, task))


def check_length(context: AssembledContext, limit: int, other_sizes: Sequence[tuple[str, int]] = ()) -> None:
    """Raise ContextTooLong, with the size of each part, if the context is longer than the limit."""
    if context.characters <= limit:
        return
    sizes = [*((_block_name(block), len(block.content or "")) for block in context.blocks), *other_sizes]
    rest = context.characters - sum(size for _, size in sizes)
    raise ContextTooLong(context.characters, limit, [*sizes, ("prompts and headings", rest)])


def prompts(checkpoint: CheckpointDefinition, agent: Agent | None = None) -> tuple[str, str]:
    """The system and task prompts of the checkpoint, followed by those of the agent or the form."""
    execution, instructions = checkpoint.execution, checkpoint.instructions
    if agent is None and execution.agent_config is not None:
        agent = execution.agent_config.agent
    form = execution.human_only_config
    system = _joined(instructions.system_prompt, agent and agent.system_prompt)
    task = _joined(instructions.task_prompt, agent and agent.task_prompt, form and form.instructions)
    return system, task


def referenced(checkpoint: CheckpointDefinition, completed: Mapping[str, ArtifactSource]) -> dict[str, ArtifactSource]:
    """The outputs that a checkpoint references, by key, with the selected artifacts."""
    sources: dict[str, ArtifactSource] = {}
    for reference in checkpoint.inputs.include_checkpoint_outputs:
        key = reference.checkpoint_id
        if key not in completed:
            raise MissingReference(
                f"{checkpoint.key} references the outputs of {key}, which is not completed in this run. Complete {key}"
                f" first, or remove it from include_checkpoint_outputs."
            )
        sources[key] = _select_artifacts(checkpoint, reference, completed[key])
    return sources


def _select_artifacts(
    checkpoint: CheckpointDefinition, reference: OutputReference, source: ArtifactSource
) -> ArtifactSource:
    if reference.artifact_ids is None:
        return source
    by_name = {artifact.name: artifact for artifact in source.artifacts} | {
        artifact.artifact_id: artifact for artifact in source.artifacts
    }
    missing = [name for name in reference.artifact_ids if name not in by_name]
    if missing:
        raise MissingReference(
            f"{checkpoint.key} references {', '.join(missing)} of {reference.checkpoint_id}, which has not produced it."
            f" Its artifacts: {', '.join(artifact.name for artifact in source.artifacts) or 'none'}."
        )
    artifacts = tuple(by_name[name] for name in reference.artifact_ids)
    return ArtifactSource(source.checkpoint_name, source.position, source.run_version, artifacts, source.pass_number)


def files_to_summarize(
    checkpoint: CheckpointDefinition, inputs: ResolvedInputs, limits: RunnerLimits
) -> dict[str, StoredFile]:
    """The long files that the checkpoint reads as summaries, by checksum."""
    if not checkpoint.instructions.injection_format.include_file_contents:
        return {}
    files, summarized = dict[str, StoredFile](), summarized_checkpoints(checkpoint)
    for key, source in referenced(checkpoint, inputs.completed).items():
        for file in source.artifacts if key in summarized else ():
            content, _ = _content(file, limits)
            if content is not None and len(content) > MAX_UNSUMMARIZED_CHARACTERS:
                files[file.checksum] = file
    return files


def summarized_checkpoints(checkpoint: CheckpointDefinition) -> set[str]:
    """The referenced checkpoints whose outputs can be summarized."""
    return {source.checkpoint_id for source in checkpoint.inputs.include_checkpoint_outputs if source.use_summarization}


def _sections(
    checkpoint: CheckpointDefinition, inputs: ResolvedInputs, limits: RunnerLimits
) -> list[tuple[PromptSection, Point]]:
    """All sections in order, each with its injection point."""
    points = checkpoint.instructions.injection_points
    previous_point, reference_point = points.previous_version_context, points.checkpoint_references
    before, after = ReferencePoint.BEFORE_TASK_PROMPT, ReferencePoint.AFTER_TASK_PROMPT
    sections: list[tuple[PromptSection, Point]] = []
    if inputs.original_prompt:
        sections.append((_text_section(checkpoint, BlockKind.ORIGINAL_PROMPT, inputs.original_prompt), before))
    if inputs.input is not None:
        text = encode_json(inputs.input, indent=True).decode()
        sections.append((_text_section(checkpoint, BlockKind.INPUT, text, "json", "value"), before))
    if inputs.previous is not None and checkpoint.inputs.include_previous_version:
        section = _file_section(checkpoint, BlockKind.PREVIOUS_VERSION, inputs.previous, limits)
        sections.append((section, previous_point))
    if inputs.previous_pass is not None:
        section = _file_section(checkpoint, BlockKind.PREVIOUS_PASS, inputs.previous_pass, limits)
        sections.append((section, previous_point))
    summarized = summarized_checkpoints(checkpoint)
    for key, source in referenced(checkpoint, inputs.completed).items():
        summaries = inputs.summaries if key in summarized else None
        section = _file_section(checkpoint, BlockKind.CHECKPOINT_OUTPUT, source, limits, summaries)
        sections.append((section, reference_point))
    if inputs.rework is not None:
        sections.append((_rework_section(checkpoint, inputs.rework, limits), after))
    # Models follow the end of a prompt best, so findings and then feedback come last.
    if inputs.findings:
        sections.append((_text_section(checkpoint, BlockKind.VALIDATION_FINDINGS, inputs.findings), after))
    if inputs.feedback:
        sections.append((_feedback_section(checkpoint, inputs.feedback), after))
    return sections


_HEADINGS = {
    BlockKind.PREVIOUS_VERSION: "PREVIOUS VERSION",
    BlockKind.PREVIOUS_PASS: "PREVIOUS PASS",
    BlockKind.CHECKPOINT_OUTPUT: "REFERENCED OUTPUT",
}


def _file_section(
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
    blocks = [_block(checkpoint, kind, heading, source, file, limits) for file in source.artifacts]
    if summaries is not None:
        blocks = [
            _with_summary(block, summaries.get(artifact.checksum))
            for block, artifact in zip(blocks, source.artifacts, strict=True)
        ]
    return PromptSection(kind, heading, labels, tuple(blocks))


def _block(
    checkpoint: CheckpointDefinition,
    kind: BlockKind,
    heading: str,
    source: ArtifactSource,
    file: StoredFile,
    limits: RunnerLimits,
) -> PromptBlock:
    settings = checkpoint.instructions.injection_format
    content, omitted = _content(file, limits) if settings.include_file_contents else (None, None)
    return PromptBlock(
        kind=kind,
        heading=heading,
        checkpoint_name=source.checkpoint_name,
        run_version=source.run_version,
        artifact_name=file.name,
        file_name=file.path.rpartition("/")[2] or f"{file.name}.{file.format}",
        file_path=file.path if settings.include_file_paths and file.path else None,
        format=file.format,
        content=content,
        size_bytes=file.size,
        omitted=omitted,
    )


def _with_summary(block: PromptBlock, summaries: Mapping[str, str] | None) -> PromptBlock:
    """The block with its newest summary instead of long content. Without a summary, the content is omitted."""
    if block.content is None or len(block.content) <= MAX_UNSUMMARIZED_CHARACTERS:
        return block
    if not summaries:
        return replace(block, content=None, omitted="it is summarized when the execution starts")
    return replace(block, content=list(summaries.values())[-1], is_summary=True)


def _content(file: StoredFile, limits: RunnerLimits) -> tuple[str | None, str | None]:
    """The text of a file, or the reason why it is omitted."""
    if file.size > limits.max_payload_bytes:
        return None, "it is too large"
    try:
        text = file.read().decode()
    except UnicodeDecodeError:
        return None, "it is not text"
    return (None, "it is not text") if "\0" in text else (text, None)


def _rework_section(checkpoint: CheckpointDefinition, rework: ReworkBrief, limits: RunnerLimits) -> PromptSection:
    kind, heading = BlockKind.REWORK, f"REWORK: requested by {rework.requested_by}"
    name, texts = checkpoint.checkpoint_name, {"reason": rework.reason, "prompt": rework.prompt}
    blocks = [
        PromptBlock(
            kind, f"{heading}, {label}", name, None, None, None, None, "txt", text, len(text.encode()), label=label
        )
        for label, text in texts.items()
        if text
    ]
    source = ArtifactSource(rework.requested_by, 0, None, rework.artifacts)
    blocks += [_block(checkpoint, kind, heading, source, file, limits) for file in rework.artifacts]
    return PromptSection(kind, heading, {"requested_by": rework.requested_by}, tuple(blocks))


def _text_section(
    checkpoint: CheckpointDefinition, kind: BlockKind, text: str, format: str = "txt", label: str = "text"
) -> PromptSection:
    heading, size = kind.value.replace("_", " ").upper(), len(text.encode())
    name = checkpoint.checkpoint_name
    block = PromptBlock(kind, heading, name, None, None, None, None, format, text, size, label=label)
    return PromptSection(kind, heading, {}, (block,))


def _feedback_section(checkpoint: CheckpointDefinition, feedback: tuple[str, ...]) -> PromptSection:
    kind, heading = BlockKind.REVISION_FEEDBACK, "REVISION FEEDBACK"
    blocks = tuple(
        PromptBlock(kind, heading, checkpoint.checkpoint_name, None, None, None, None, "txt", text, len(text.encode()))
        for text in feedback
    )
    return PromptSection(kind, heading, {}, blocks)


def _block_name(block: PromptBlock) -> str:
    return f"{block.heading}, {block.file_name}" if block.file_name else block.heading


def _joined(*parts: str | None) -> str:
    return "\n\n".join(part for part in parts if part)
