"""Names of folders and files."""

from __future__ import annotations

import unicodedata
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.files import UnsafePath, layout
from tests.files.disk import AT, EXECUTION, PIPELINE, ROLLBACK, RUN

ARTIFACT = "a1b2c3d4-1111-4111-8111-111111111111"


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Business Goals", "business_goals"),
        ("  Größe & Länge!! ", "größe_länge"),
        ("Cafe\u0301", "caf\u00e9"),
        ("设计 2", "设计_2"),
        ("a__b--c", "a_b_c"),
        ("../../etc/passwd", "etc_passwd"),
        ("🚀", "checkpoint"),
        ("", "checkpoint"),
        ("İstanbul", "i_stanbul"),
        ("x" * 70, "x" * 60),
        ("x" * 59 + " y", "x" * 59),
    ],
)
def test_slugs_keep_letters_and_digits(name: str, slug: str) -> None:
    assert layout.slug(name) == slug


def test_names_are_as_documented() -> None:
    assert {
        "run": layout.run_folder(3, RUN),
        "test run": layout.run_folder(None, RUN),
        "checkpoint": layout.checkpoint_folder(0, "Business Goals"),
        "staged": layout.staged_name("business_objectives", ARTIFACT, "json"),
        "permanent": layout.permanent_name("business_objectives", ARTIFACT, "json", 2, RUN),
        "permanent of a test run": layout.permanent_name("business_objectives", ARTIFACT, "json", None, RUN),
        "workspace": layout.workspace_folder(EXECUTION),
        "staging": layout.staging_folder(EXECUTION),
        "errored": layout.errored_folder(EXECUTION, AT),
        "pass": layout.pass_folder("runs/v1", 2),
        "superseded": layout.superseded_folder("runs/v1/checkpoint_0_x", EXECUTION),
    } == {
        "run": "runs/v3",
        "test run": "runs/test_7d0b8f0e",
        "checkpoint": "checkpoint_0_business_goals",
        "staged": "business_objectives_a1b2c3d4.json",
        "permanent": "business_objectives_a1b2c3d4_v2.json",
        "permanent of a test run": "business_objectives_a1b2c3d4_test_7d0b8f0e.json",
        "workspace": f".temp/exec_{EXECUTION}",
        "staging": f".temp/exec_{EXECUTION}/artifacts_staging",
        "errored": f".errored/exec_{EXECUTION}_20260304T050607Z",
        "pass": "runs/v1/passes/2",
        "superseded": f"runs/v1/checkpoint_0_x/superseded/{EXECUTION}",
    }


def test_archives_are_named_after_what_created_them() -> None:
    assert {
        "rollback": layout.rollback_folder(ROLLBACK, AT),
        "run": layout.archived_run(3, RUN),
        "test run": layout.archived_run(None, RUN),
        "execution": layout.archived_execution(2, RUN, 4),
        "superseded": layout.archived_execution(2, RUN, 4, EXECUTION),
        "definition": layout.definition_archive(5, AT),
        "drift": layout.drift_folder(AT),
        "pipeline": layout.deleted_pipeline(PIPELINE, AT),
    } == {
        "rollback": f".archived/rollback_{ROLLBACK}_20260304T050607Z",
        "run": "archived_data/v3",
        "test run": "archived_data/test_7d0b8f0e",
        "execution": "archived_data/v2_checkpoint_4",
        "superseded": f"archived_data/v2_checkpoint_4/superseded/{EXECUTION}",
        "definition": ".archived/definition_v5_20260304T050607Z",
        "drift": ".archived/drift_20260304T050607Z",
        "pipeline": f".archived/{PIPELINE}_20260304T050607Z",
    }


def test_times_in_names_are_utc() -> None:
    here = timezone(timedelta(hours=2))
    assert layout.stamp(datetime(2026, 1, 1, 1, 0, tzinfo=here)) == "20251231T230000Z"


@pytest.mark.parametrize(
    ("name", "file_name"),
    [
        ("Business Objectives", "Business Objectives"),
        ("../secret", "_secret"),
        ("a/b\\c:d", "a_b_c_d"),
        ("..", "artifact"),
        ("", "artifact"),
        ("nul\0byte\n", "nul_byte_"),
        ("evil\u202etxt.exe", "evil_txt.exe"),
        ("\ud800", "_"),
        ("größe 🚀", "größe 🚀"),
        ("ä" * 200, "ä" * 90),
    ],
)
def test_artifact_names_cannot_be_paths(name: str, file_name: str) -> None:
    assert layout.file_name(name) == file_name


@given(name=st.text(), format=st.text(min_size=1), position=st.integers(0, 199))
def test_any_name_becomes_one_valid_path_component(name: str, format: str, position: int) -> None:
    """For any text in a definition."""
    names = (
        layout.checkpoint_folder(position, name),
        layout.staged_name(name, ARTIFACT, format),
        layout.permanent_name(name, ARTIFACT, format, None, RUN),
        layout.permanent_name(name, ARTIFACT, format, 12345, RUN),
    )
    for component in names:
        assert layout.split_path(component) == [component]
        assert len(component.encode()) <= 255
        assert not component.startswith(".")
        assert unicodedata.is_normalized("NFC", component)


@pytest.mark.parametrize("path", ["", "/etc", "a//b", "a/./b", "../a", "a/..", "a\0b", "a/"])
def test_paths_outside_the_folder_are_refused(path: str) -> None:
    with pytest.raises(UnsafePath):
        layout.split_path(path)


@pytest.mark.parametrize("id", ["", ".archived", "..", "a/b", "a\0"])
def test_ids_that_are_paths_are_refused(id: str) -> None:
    with pytest.raises(UnsafePath):
        layout.checked_id(id)
