"""A file is there whole or not at all, and no host chooses where it lies."""

from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from aui_tui.errors import BadValue, ConfigError
from aui_tui.files import create, replace


def test_a_file_is_replaced_in_one_step(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    assert replace(path, ["old"]) == 3
    path.chmod(0o640)
    assert replace(path, ["né", "w"]) == 4
    assert path.read_text(encoding="utf-8") == "néw"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


def broken() -> Iterator[str]:
    yield "half"
    raise KeyboardInterrupt


def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        replace(path, broken())
    with pytest.raises(KeyboardInterrupt):
        create(tmp_path / "new.json", broken())
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("force", [False, True])
def test_a_new_file_has_its_name_only_when_it_is_whole(tmp_path: Path, force: bool) -> None:
    def watched() -> Iterator[str]:
        yield "half"
        assert not (tmp_path / "new.json").exists()
        yield " and half"

    create(tmp_path / "new.json", watched(), force=force)
    assert (tmp_path / "new.json").read_text() == "half and half"
    assert [path.name for path in tmp_path.iterdir()] == ["new.json"]


def test_a_file_that_came_meanwhile_is_left_alone(tmp_path: Path) -> None:
    def meanwhile() -> Iterator[str]:
        (tmp_path / "a.txt").write_text("theirs")
        yield "ours"

    with pytest.raises(BadValue, match="is already there"):
        create(tmp_path / "a.txt", meanwhile())
    assert (tmp_path / "a.txt").read_text() == "theirs"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_full_disk_gives_one_sentence_and_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
        with pytest.raises(ConfigError) as caught:
            replace(path, ["x" * 1000] * 100)
        with pytest.raises(ConfigError, match="larger than allowed"):
            create(tmp_path / "new.json", ["x" * 1000] * 100)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert str(caught.value) == (
        f"Cannot write {path}: the file would be larger than allowed. The old file is unchanged."
    )
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_device_without_space_gives_one_sentence() -> None:
    with pytest.raises(ConfigError, match="Cannot write /dev/full: the disk is full"):
        replace(Path("/dev/full"), ["x" * 100_000])


def test_a_device_is_written_to_and_stays() -> None:
    assert replace(Path(os.devnull), ["x"]) == 1
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_a_link_that_a_person_named_is_followed_and_stays(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("old")
    link.symlink_to(real)
    replace(link, ["new"])
    assert link.is_symlink()
    assert real.read_text() == "new"


@pytest.mark.parametrize("force", [False, True])
def test_a_planted_link_is_not_followed_under_a_name_of_ours(tmp_path: Path, force: bool) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "a.txt").symlink_to(victim)
    if force:
        create(folder / "a.txt", ["new"], force=True)
        assert not (folder / "a.txt").is_symlink()
    else:
        with pytest.raises(BadValue, match="is already there; --replace replaces it"):
            create(folder / "a.txt", ["new"])
    assert victim.read_text() == "precious"


def test_a_file_that_is_there_is_left_alone_without_force(tmp_path: Path) -> None:
    create(tmp_path / "deep" / "er" / "a.txt", ["one"])
    with pytest.raises(BadValue):
        create(tmp_path / "deep" / "er" / "a.txt", ["two"])
    assert (tmp_path / "deep" / "er" / "a.txt").read_text() == "one"
    create(tmp_path / "deep" / "er" / "a.txt", ["two"], force=True)
    assert (tmp_path / "deep" / "er" / "a.txt").read_text() == "two"


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("missing/out.json", "the folder does not exist"),
        ("file/out.json", "the folder is a file"),
        ("", "it is a folder"),
        ("n" * 300, "the name is too long"),
    ],
)
def test_what_cannot_be_written_is_said_in_one_sentence(tmp_path: Path, path: str, words: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigError, match=words):
        replace(tmp_path / path, ["x"])


def test_a_file_where_a_folder_should_be_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in ("file/out.json", "file/deeper/out.json"):
        with pytest.raises(ConfigError, match="the folder is a file"):
            create(tmp_path / path, ["x"])


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A folder like /tmp, in which another user has put things."""
    if os.geteuid() != 0:
        pytest.skip("only root can act as another user")
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


@pytest.mark.parametrize("deep", [False, True])
def test_another_users_link_in_a_shared_folder_is_not_followed(shared: Path, tmp_path: Path, deep: bool) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "precious").write_text("old")
    link = shared / "out"
    link.symlink_to(mine if deep else mine / "precious")
    os.lchown(link, 65534, 65534)
    (tmp_path / "first").symlink_to(link)
    for way in (link, tmp_path / "first"):
        with pytest.raises(ConfigError, match="another user"):
            replace(way / "precious" if deep else way, ["new"])
    assert (mine / "precious").read_text() == "old"
    os.lchown(link, os.geteuid(), -1)
    replace(link / "precious" if deep else link, ["new"])
    assert (mine / "precious").read_text() == "new"


def test_another_users_pipe_in_a_shared_folder_is_not_waited_for(shared: Path) -> None:
    os.mkfifo(shared / "out")
    os.chown(shared / "out", 65534, 65534)
    with pytest.raises(ConfigError, match="another user"):
        replace(shared / "out", ["new"])


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "out[1].json"
    code = "import os, sys, pathlib\nfrom aui_tui.files import replace\n" + (
        "def endless():\n    yield 'x' * 100\n    os.kill(os.getpid(), 9)\n    yield ''\n"
        "replace(pathlib.Path(sys.argv[1]), endless())"
    )
    for _ in range(3):
        subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert len(list(tmp_path.iterdir())) >= 1
    other = tmp_path / ".other.json.0123abcd.tmp"
    other.write_text("of somebody else")

    def watched() -> Iterator[str]:
        yield "half"
        create(path, ["new"])
        assert path.read_text() == "new"
        assert len(list(tmp_path.glob(".out*.tmp"))) == 1
        yield " and half"

    replace(path, watched())
    assert sorted(tmp_path.iterdir()) == sorted([path, other])
    assert path.read_text() == "half and half"
