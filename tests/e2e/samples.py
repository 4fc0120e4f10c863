"""Small pipelines for the browser tests."""

from __future__ import annotations

from cairn.definitions import builtin_templates

REFUND = next(template.text for template in builtin_templates() if template.name == "refund-email")


def form_then_approval(name: str, fields: str = "[{name: goal, label: Goal}]") -> str:
    """A pipeline with one form that is approved once submitted."""
    return f"""
pipeline_name: {name}
checkpoints:
  - key: goals
    checkpoint_name: Goals
    form: {fields}
    outputs: [goals.json]
    approve: complete
"""


def one_function(name: str, function: str, parameters: str = "{}", more: str = "") -> str:
    """A pipeline with one function."""
    return f"""
pipeline_name: {name}
config: {{ auto_advance: true }}
checkpoints:
  - key: work
    checkpoint_name: Work
    function: {function}
    execution:
      function_config:
        parameters: {parameters}
    outputs: [result.json]
{more}
"""
