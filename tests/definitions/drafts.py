"""Strategies for valid definitions, with every mode and most fields."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.documents.values import texts

Draft = st.SearchStrategy[dict[str, Any]]

words = st.text(st.sampled_from("abc XYZ.:#-é🚀'\"\n"), min_size=1, max_size=20).filter(
    lambda text: bool(text.strip(" \n"))
)
names = st.text(st.sampled_from("abcXYZ 019._-é"), min_size=1, max_size=12).filter(lambda text: bool(text.strip()))
actions = st.sampled_from(["pause_pipeline", "rollback_checkpoint", "fail_run"])
schemas = st.sampled_from([True, {}, {"type": "object"}, {"type": "object", "properties": {"a": {"type": "string"}}}])


def objects(required: dict[str, st.SearchStrategy[Any]], optional: dict[str, st.SearchStrategy[Any]]) -> Draft:
    """Objects with all required and any optional fields."""
    return st.fixed_dictionaries(required, optional=optional)


def partial_objects(**fields: st.SearchStrategy[Any]) -> Draft:
    return objects({}, fields)


def numbered(items: Draft, name: str, *, at_least: int = 0) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Lists of up to three items, each with a numbered name."""

    def name_each(listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [item | {"name": name.format(at)} for at, item in enumerate(listed)]

    return st.lists(items, min_size=at_least, max_size=3).map(name_each)


def timeouts(on_timeout: st.SearchStrategy[str]) -> Draft:
    on = objects({"timeout_minutes": st.integers(1, 480)}, {"on_timeout": on_timeout})
    off = on.map(lambda timeout: timeout | {"enabled": False})
    return on | off | st.just({"enabled": False})


agent = partial_objects(
    name=words, role=words, system_prompt=texts, tools=st.just(["web_search"]), model=st.just("a:b")
).map(lambda fields: fields | {"task_prompt": "Do it"})
agents = st.one_of(
    objects({"agent": agent}, {"model": st.just("m"), "tools": st.just(["ask_human"])}),
    objects(
        {"creation_mode": st.just("predefined"), "agents": numbered(agent, "agent {}", at_least=1)},
        {"discussion_mode": st.sampled_from(["debate", "sequential"]), "max_turns": st.integers(1, 9)},
    ),
    objects(
        {"creation_mode": st.just("meta_agent"), "meta_agent_instructions": words},
        {"max_agents": st.integers(1, 7), "show_conversation": st.booleans()},
    ),
)
field = st.one_of(
    partial_objects(label=words, required=st.booleans(), default=texts, validation=st.just(".*")),
    objects({"type": st.just("number")}, {"default": st.none() | st.integers(), "validation": st.just({"minimum": 0})}),
    partial_objects(type=st.sampled_from(["boolean", "file", "multiline_text"])),
)
forms = objects(
    {"instructions": words, "input_fields": numbered(field, "field {}")},
    {"artifact_name": st.just("answers"), "artifact_format": st.sampled_from(["json", "md"])},
)
saved_forms = forms.map(lambda form: form | {"save_as_artifact": True, "artifact_name": "answers"})
scripts = objects(
    {"script_path": st.just("./lib/a.py")}, {"parameters": partial_objects(a=texts), "entry_function": st.just("go")}
) | objects({"script_source": words}, {"python": st.just("3.12")})
functions = objects({"function": st.just("samples.f")}, {"parameters": partial_objects(n=st.integers())})
settings = partial_objects(
    retry_config=partial_objects(
        max_auto_retries=st.integers(0, 5), on_failure=actions, retry_delay_seconds=st.integers(0, 9)
    ),
    timeout_config=timeouts(actions),
)


def mode(name: str, config: str, configs: Draft) -> Draft:
    def with_mode(config_values: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
        return {"mode": name, config: config_values} | more

    return st.builds(with_mode, configs, settings)


by_agents = mode("agentic", "agent_config", agents)
by_code = mode("script", "script_config", scripts) | mode("function", "function_config", functions)
by_people = mode("human_only", "human_only_config", forms | saved_forms)
validation = st.one_of(
    st.just({"enabled": False, "custom_validation_prompt": "kept"}),
    objects({"validation_mode": st.just("llm_schema")}, {"schema_validation_strictness": st.just("lenient")}),
    st.just({"validation_mode": "llm_custom", "custom_validation_prompt": "Is it good?"}),
)
artifacts = numbered(objects({"format": st.sampled_from(["md", "json"])}, {"description": texts}), "a {}.x")
instructions = partial_objects(
    system_prompt=texts,
    task_prompt=words,
    examples=st.just([{"input": {"a": 1.0}}]),
    injection_points=partial_objects(
        checkpoint_references=st.sampled_from(["before_task_prompt", "after_task_prompt"])
    ),
    injection_format=partial_objects(
        include_file_paths=st.booleans(), content_format=st.sampled_from(["markdown", "xml"])
    ),
)
common: dict[str, st.SearchStrategy[Any]] = {
    "checkpoint_description": texts,
    "human_interaction": partial_objects(
        requires_approval_to_start=st.booleans(),
        requires_approval_to_complete=st.booleans(),
        max_revision_iterations=st.integers(0, 5),
    ),
    "inputs": partial_objects(include_previous_version=st.booleans()),
    "input_schema": schemas,
    "output_schema": schemas,
    "decides": st.booleans(),
}
loops = st.just({"until": {"kind": "declared_done"}}) | st.just(
    {"until": {"kind": "json_condition", "field": "x", "value": 1}, "max_iterations": 3, "on_limit": "ask"}
)


def checkpoints(execution: Draft, **more: st.SearchStrategy[Any]) -> Draft:
    return objects({"execution": execution}, common | {"instructions": instructions} | more)


outputs = partial_objects(artifacts=artifacts, validation=validation)
checkpoint = st.one_of(
    checkpoints(by_agents, output=outputs, loop=loops),
    checkpoints(by_code, output=outputs, loop=loops),
    checkpoints(by_people, output=partial_objects(validation=validation)),
)


def _named(several: list[tuple[dict[str, Any], str | None]]) -> list[dict[str, Any]]:
    """Give each checkpoint a key, give some a name, and let some need the previous one. Remove invalid references."""
    found: list[dict[str, Any]] = []
    for at, (draft, name) in enumerate(several):
        named = {"key": f"step-{at}", **draft} | ({"checkpoint_name": f"{name} {at}"} if name else {})
        named.pop("input_schema" if at else "decides", None)
        found.append(named | ({"needs": [f"step-{at - 1}"]} if at and name else {}))
    return found


pipelines = objects(
    {
        "pipeline_name": names,
        "checkpoints": st.lists(st.tuples(checkpoint, st.none() | names), max_size=4).map(_named),
    },
    {
        "pipeline_description": texts,
        "original_prompt": words,
        "config": partial_objects(auto_advance=st.booleans(), timeout_config=timeouts(st.just("fail_run"))),
        "input_schema": schemas,
        "restart_policy": partial_objects(max_restarts=st.integers(1, 5), require_second_pass=st.booleans()),
        "recovery": partial_objects(on_external_blocker=st.sampled_from(["wait", "escalate"])),
        "budget": st.just({"max_cost_usd": 2.5}),
        "actions": partial_objects(
            send=partial_objects(risk_level=st.sampled_from(["low", "high"]), description=texts, schema=schemas)
        ),
    },
)
