"""Ids derived from names: they follow RFC 9562 and never change."""

from __future__ import annotations

from uuid import NAMESPACE_OID, NAMESPACE_URL, UUID, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.core.ids import id_of


@given(st.uuids(), st.text(st.characters(codec="utf-8")))
def test_an_id_equals_uuid5(namespace: UUID, name: str) -> None:
    assert id_of(namespace, name) == str(uuid5(namespace, name))


@pytest.mark.parametrize(
    ("namespace", "name", "expected"),
    [
        (NAMESPACE_OID, "run/1", "506c1956-fc62-52fb-b3d5-5ba027f0a5f6"),
        (NAMESPACE_URL, "https://example.com", "4fd35a71-71ef-5a55-a9d9-aa75c889a6d0"),
    ],
)
def test_ids_are_the_same_in_every_release(namespace: UUID, name: str, expected: str) -> None:
    assert id_of(namespace, name) == expected
