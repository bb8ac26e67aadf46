from __future__ import annotations

import pytest

from lightproof.core import atomic
from lightproof.core.atomic import whole_file
from lightproof.errors import CannotWrite


def test_what_was_written_is_there_and_nothing_else(tmp_path):
    with whole_file(tmp_path / "a") as file:
        file.write(b"first")
        assert not (tmp_path / "a").exists()
    with whole_file(tmp_path / "a") as file:
        file.write(b"second")
        assert (tmp_path / "a").read_bytes() == b"first"
    assert (tmp_path / "a").read_bytes() == b"second"
    assert list(tmp_path.iterdir()) == [tmp_path / "a"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_while_writing_leaves_everything_as_it_was(tmp_path, error):
    def fails_half_way():
        with whole_file(tmp_path / "a") as file:
            file.write(b"half")
            raise error

    (tmp_path / "a").write_bytes(b"first")
    with pytest.raises(error):
        fails_half_way()
    assert (tmp_path / "a").read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [tmp_path / "a"]


def test_an_error_while_it_takes_its_place_leaves_no_draft(tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, "replace", full)
    sentence = r"a must be a place that can be written; got: No space left on device\.$"
    with pytest.raises(CannotWrite, match=sentence), whole_file(tmp_path / "a") as file:
        file.write(b"all")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(CannotWrite, match="got: No such file or directory"), whole_file(tmp_path / "no" / "a"):
        pass
