"""One small story, told in every example of the API: a pipeline of three steps, and its second run."""

from cairn.api.examples.operations import REQUESTS, RESPONSES

__all__ = ["REQUESTS", "RESPONSES"]
