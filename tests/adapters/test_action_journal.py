"""The journal of actions on a real disk: torn lines, a full disk, several processes and links."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from cairn.adapters.action_journal import MAX_SERVERS, FileJournal
from cairn.ports.journal import JournalError
from tests.mentions import mentions

HOLD = """
import sys
from pathlib import Path
from cairn.adapters.action_journal import FileJournal
journal = FileJournal(Path(sys.argv[1]))
journal.append({"by": "another process"})
print(journal.id, flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[FileJournal]:
    with closing(FileJournal(tmp_path / "journals")) as opened:
        yield opened


def numbers(journal: FileJournal) -> list[object]:
    return [line["n"] for line in journal.read()]


def file_of(journal: FileJournal) -> Path:
    return journal.folder / f"{journal.id}.jsonl"


@contextmanager
def room_for(size: int) -> Generator[None]:
    """Let files of this process grow to this size only, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_lines_are_read_in_the_order_in_which_they_were_written(journal: FileJournal) -> None:
    assert numbers(journal) == []
    for n in range(3):
        journal.append({"n": n, "text": "Grüße\n"})
    assert list(journal.read()) == [{"n": n, "text": "Grüße\n"} for n in range(3)]


def test_a_journal_is_only_for_its_owner(journal: FileJournal) -> None:
    journal.append({"n": 1})
    assert (journal.folder.stat().st_mode & 0o777, file_of(journal).stat().st_mode & 0o777) == (0o700, 0o600)


def test_the_next_process_continues_the_same_journal(journal: FileJournal, tmp_path: Path) -> None:
    journal.append({"n": 1})
    name = journal.id
    journal.close()
    with closing(FileJournal(tmp_path / "journals")) as following:
        following.append({"n": 2})
        assert (following.id, numbers(following)) == (name, [1, 2])


def test_every_installation_has_its_own_folder(journal: FileJournal) -> None:
    journal.select("one")
    journal.append({"n": 1})
    first = journal.id
    journal.select("other")
    assert numbers(journal) == []
    journal.append({"n": 2})
    assert (journal.id != first, numbers(journal), journal.folder.name) == (True, [2], "other")


def test_the_id_is_not_used_again_in_another_folder(tmp_path: Path) -> None:
    """Machines that share a database count the starts of their own journals."""
    with closing(FileJournal(tmp_path / "a")) as one, closing(FileJournal(tmp_path / "b")) as other:
        assert one.id != other.id


@pytest.mark.parametrize("torn", [b'{"n": 2', b'{"n": 2}', b"\x00\x00\x00", b"\xff{", b"[]\n", b"\n"])
def test_a_line_that_a_crash_cut_off_is_ignored_and_the_next_one_is_whole(journal: FileJournal, torn: bytes) -> None:
    journal.append({"n": 1})
    file = file_of(journal)
    journal.close()
    with file.open("ab") as end:
        end.write(torn)
    before = [2] if torn == b'{"n": 2}' else []  # complete but for its end
    assert numbers(journal) == [1, *before]
    journal.append({"n": 3})
    assert numbers(journal) == [1, *before, 3]


def test_a_line_that_does_not_fit_on_the_disk_is_an_error_and_the_next_one_is_whole(journal: FileJournal) -> None:
    journal.append({"n": 1})
    with room_for(file_of(journal).stat().st_size + 5):
        for n in (2, 3):  # a part of the first one fits, and nothing of the second one
            with pytest.raises(JournalError) as raised:
                journal.append({"n": n})
            assert str(raised.value) == mentions(journal.folder)
        assert numbers(journal) == [1]
    journal.append({"n": 4})
    assert numbers(journal) == [1, 4]


def test_a_journal_that_was_cut_off_opens_on_a_full_disk(journal: FileJournal) -> None:
    journal.append({"n": 1})
    file = file_of(journal)
    journal.close()
    with file.open("ab") as end:
        end.write(b"{")
    with room_for(file.stat().st_size):
        assert journal.id == file.stem
        with pytest.raises(JournalError):
            journal.append({"n": 2})
    journal.append({"n": 3})
    assert numbers(journal) == [1, 3]


def test_another_process_gets_its_own_file(journal: FileJournal) -> None:
    command = [sys.executable, "-c", HOLD, str(journal.folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        journal.append({"by": "this process"})
        assert journal.id != name
        assert sorted(line["by"] for line in journal.read()) == ["another process", "this process"]
        process.kill()
    with closing(FileJournal(journal.folder)) as following:
        assert following.id == name  # the lock ended with the process


def test_too_many_processes_are_an_error(journal: FileJournal) -> None:
    opened = [FileJournal(journal.folder) for _ in range(MAX_SERVERS)]
    try:
        assert len({each.id for each in opened}) == MAX_SERVERS
        with pytest.raises(JournalError) as raised:
            journal.append({"n": 1})
        assert str(raised.value) == mentions(MAX_SERVERS)
    finally:
        for each in opened:
            each.close()


def test_threads_share_one_file(journal: FileJournal) -> None:
    def append(n: int) -> None:
        journal.append({"n": n, "text": "x" * 3_000})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(append, range(80)))
    assert sorted(numbers(journal), key=str) == sorted(range(80), key=str)
    assert len(list(journal.folder.iterdir())) == 1


def test_a_link_is_refused(journal: FileJournal, tmp_path: Path) -> None:
    journal.folder.mkdir()
    target = tmp_path / "target"
    target.write_bytes(b'{"n": 1}\n')
    (journal.folder / "journal-link.jsonl").symlink_to(target)
    for use in (lambda: journal.append({"n": 2}), lambda: journal.id, lambda: list(journal.read())):
        with pytest.raises(JournalError):
            use()
    assert target.read_bytes() == b'{"n": 1}\n'


def test_a_folder_that_can_not_be_created_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with closing(FileJournal(tmp_path / "file" / "journals")) as journal:
        for use in (lambda: journal.append({"n": 2}), lambda: journal.id):
            with pytest.raises(JournalError) as raised:
                use()
            assert str(raised.value) == mentions(journal.folder)


def test_a_line_that_is_too_long_is_not_written(journal: FileJournal) -> None:
    """It could not be read again."""
    with pytest.raises(JournalError):
        journal.append({"text": "x" * 70_000})
    journal.append({"n": 1})
    assert numbers(journal) == [1]
