"""Lossless JSON and YAML: strict decoding, encoding, and one canonical form."""

from cairn.documents.errors import DocumentError
from cairn.documents.json_decoder import decode_json
from cairn.documents.json_encoder import canonical, digest, encode_json
from cairn.documents.source_map import SourceMap, SourcePosition
from cairn.documents.values import MAX_DEPTH, MAX_DIGITS, MAX_JSON_BYTES, MAX_YAML_BYTES, Value
from cairn.documents.yaml_decoder import decode_yaml
from cairn.documents.yaml_encoder import encode_yaml

__all__ = [
    "MAX_DEPTH",
    "MAX_DIGITS",
    "MAX_JSON_BYTES",
    "MAX_YAML_BYTES",
    "DocumentError",
    "SourceMap",
    "SourcePosition",
    "Value",
    "canonical",
    "decode_json",
    "decode_yaml",
    "digest",
    "encode_json",
    "encode_yaml",
]
