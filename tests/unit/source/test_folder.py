"""Snapshots of plain folders: what is included, what is excluded, and what is only listed."""

import hashlib
import os
import socket
import stat
from pathlib import Path

import pytest

from prism_contracts.code import SkipReason
from prism_contracts.errors import ErrorCode, PrismError
from prism_source import files as files_module
from prism_source import folder as folder_module
from prism_source.folder import snapshot_folder
from prism_source.limits import FILE_BYTES_MAX, SourceLimits
from prism_source.snapshot import blob_hash


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "plain"
    folder.mkdir()
    return folder


def write(root: Path, path: str, content: str | bytes = "text\n") -> Path:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content.encode() if isinstance(content, str) else content)
    return target


def paths(root: Path) -> list[str]:
    return [file.path for file in snapshot_folder(root).files]


def skips(root: Path) -> dict[str, SkipReason]:
    return {file.path: file.skipped for file in snapshot_folder(root).files if file.skipped}


def refusal(folder: Path, limits: SourceLimits | None = None) -> PrismError:
    with pytest.raises(PrismError) as caught:
        snapshot_folder(folder, limits or SourceLimits())
    assert caught.value.body.next_action
    return caught.value


def test_files_are_sorted_with_their_hashes_and_sizes(root):
    write(root, "b/z.py", "z = 1\n")
    write(root, "b.py", b"\xff\xfe\n")
    write(root, "a b/ü.txt", "")
    snapshot = snapshot_folder(root)
    assert [file.path for file in snapshot.files] == ["a b/ü.txt", "b.py", "b/z.py"]
    assert snapshot.files[0].blob == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    for ordinal, file in enumerate(snapshot.files):
        assert blob_hash(snapshot.read(ordinal)) == file.blob
        assert len(snapshot.read(ordinal)) == file.size_bytes


def test_the_commit_is_a_digest_of_the_files(root):
    write(root, "a.py", "1")
    first = snapshot_folder(root)
    digest = hashlib.sha256(f"a.py\0{blob_hash(b'1')}\n".encode()).hexdigest()
    assert (first.commit, first.ref, first.dirty) == (f"tree:{digest}", "", False)
    write(root, "a.py", "2")
    assert snapshot_folder(root).commit != first.commit


def test_nested_ignore_files_with_negation(root):
    write(root, ".gitignore", "*.log\nbuild/\n/only-root\n!keep.log\n# comment\n\\#hash\ntrailing   \n")
    write(root, "sub/.gitignore", "!special.log\n*.tmp\n")
    for path in (
        "a.log",
        "keep.log",
        "build/x",
        "only-root",
        "#hash",
        "trailing",
        "sub/special.log",
        "sub/x.tmp",
    ):
        write(root, path)
    for path in ("sub/only-root", "sub/build/x", "x.tmp", "sub/b.log", "src/build"):
        write(root, path)
    expected = [
        ".gitignore",
        "keep.log",
        "src/build",
        "sub/.gitignore",
        "sub/only-root",
        "sub/special.log",
        "x.tmp",
    ]
    assert paths(root) == expected


def test_a_file_in_an_ignored_folder_cannot_be_included(root):
    write(root, ".gitignore", "out/\n!out/keep.py\n")
    write(root, "out/keep.py")
    assert paths(root) == [".gitignore"]


def test_an_allow_list_of_patterns_works(root):
    write(root, ".gitignore", "*\n!*/\n!*.py\n")
    write(root, "src/deep/a.py")
    write(root, "src/deep/a.txt")
    assert paths(root) == ["src/deep/a.py"]


def test_a_rule_of_a_folder_does_not_apply_below(root):
    write(root, ".gitignore", "b*\n!src/\n")
    write(root, "src/src/build/x.py")
    write(root, "src/src/a.py")
    assert paths(root) == [".gitignore", "src/src/a.py"]


def test_ignore_rules_the_git_folder_and_folders_of_tools_exclude(root):
    for path in ("node_modules/a.js", ".env", "__pycache__/x.pyc", "sub/.git/config", "sub/a.py"):
        write(root, path)
    assert paths(root) == [".env", "sub/a.py"]


def test_links_are_listed_and_never_followed(root):
    write(root, "real/a.py")
    (root / "file-link").symlink_to("real/a.py")
    (root / "folder-link").symlink_to("real")
    (root / "real/loop").symlink_to("..")
    (root / "dangling").symlink_to("nowhere")
    (root / ".gitignore").symlink_to("real/a.py")
    names = {"file-link", "folder-link", "real/loop", "dangling", ".gitignore"}
    assert skips(root) == dict.fromkeys(names, SkipReason.SYMLINK)
    link = next(file for file in snapshot_folder(root).files if file.path == "file-link")
    assert link.blob == blob_hash(b"real/a.py")


def test_pipes_and_sockets_are_listed_and_never_opened(root, monkeypatch):
    write(root, "a.py")
    os.mkfifo(root / "pipe")
    monkeypatch.chdir(root)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        assert skips(root) == {"pipe": SkipReason.SPECIAL, "socket": SkipReason.SPECIAL}


def test_a_pipe_that_replaced_a_file_does_not_hang(root):
    write(root, "a.py")
    snapshot = snapshot_folder(root)
    (root / "a.py").unlink()
    os.mkfifo(root / "a.py")
    with pytest.raises(PrismError) as caught:
        snapshot.read(0)
    assert caught.value.code is ErrorCode.SOURCE_UNREADABLE


def test_a_link_that_replaced_a_file_is_not_followed(root):
    write(root, "a.py")
    secret = write(root.parent, "secret", "secret")
    snapshot = snapshot_folder(root)
    (root / "a.py").unlink()
    (root / "a.py").symlink_to(secret)
    with pytest.raises(PrismError):
        snapshot.read(0)


def test_undecodable_names_are_listed_and_distinct(root):
    for name in (b"caf\xe9.py", b"a\nb.py", b"x\xff", b"x\\xff", b"tab\t"):
        Path(os.fsdecode(os.fsencode(root) + b"/" + name)).write_text("x")
    found = {file.path: file.skipped for file in snapshot_folder(root).files}
    invalid = {"caf\\xe9.py", "a\\x0ab.py", "x\\xff~", "tab\\x09"}
    assert found == {"x\\xff": None, **dict.fromkeys(invalid, SkipReason.PATH_INVALID)}
    assert list(found) == sorted(found)


def test_contents_decide_what_is_searchable(root):
    write(root, "binary", b"\0\1")
    write(root, "pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n")
    write(root, "long.json", "x" * 600_000)
    write(root, "utf16.txt", "text\n".encode("utf-16"))
    write(root, "dos.txt", "a\r\nb\r\n")
    assert skips(root) == {
        "binary": SkipReason.BINARY,
        "pointer": SkipReason.LFS_POINTER,
        "long.json": SkipReason.LINE_TOO_LONG,
    }


def test_a_huge_file_is_not_even_opened(root, monkeypatch):
    huge = write(root, "huge")
    with huge.open("wb") as file:
        file.truncate(1 << 40)
    monkeypatch.setattr(files_module, "read_regular", lambda *_: pytest.fail("was opened"))
    assert skips(root) == {"huge": SkipReason.TOO_LARGE}


def test_size_is_limited_at_the_limit_and_just_past_it(root):
    write(root, "at", "x\n" * (FILE_BYTES_MAX // 2))
    write(root, "past", "x\n" * (FILE_BYTES_MAX // 2) + "y")
    assert skips(root) == {"past": SkipReason.TOO_LARGE}


def test_an_unreadable_file_is_listed(root, monkeypatch):
    write(root, "a.py")
    write(root, "closed.py")
    real_open = os.open

    def guarded(path, *arguments):
        if path.endswith(b"closed.py"):
            raise PermissionError(13, "Permission denied")
        return real_open(path, *arguments)

    monkeypatch.setattr(files_module.os, "open", guarded)
    assert skips(root) == {"closed.py": SkipReason.UNREADABLE}


def test_an_unreadable_folder_is_listed(root, monkeypatch):
    write(root, "a.py")
    write(root, "closed/b.py")
    real_scandir = os.scandir

    def guarded(path):
        if path.endswith(b"closed"):
            raise PermissionError(13, "Permission denied")
        return real_scandir(path)

    monkeypatch.setattr(os, "scandir", lambda path: guarded(path.rstrip(b"/")))
    found = {file.path: (file.skipped, file.detail) for file in snapshot_folder(root).files}
    assert found["closed"] == (SkipReason.UNREADABLE, "a folder: permission denied")


def test_a_file_deleted_during_listing_is_skipped(root, monkeypatch):
    write(root, "a.py")
    write(root, "gone.py")
    real_describe = folder_module.describe

    def racing(base, found, *arguments):
        (root / "gone.py").unlink(missing_ok=True)
        return real_describe(base, found, *arguments)

    monkeypatch.setattr(folder_module, "describe", racing)
    assert paths(root) == ["a.py"]


def test_a_file_changed_before_reading_is_an_error(root):
    write(root, "a.py")
    write(root, "b.py")
    snapshot = snapshot_folder(root)
    (root / "a.py").unlink()
    (root / "b.py").write_bytes(b"x" * (FILE_BYTES_MAX + 1))
    with pytest.raises(PrismError) as gone:
        snapshot.read(0)
    with pytest.raises(PrismError) as grown:
        snapshot.read(1)
    assert (gone.value.code, grown.value.code) == (ErrorCode.FILE_NOT_FOUND, ErrorCode.PAYLOAD_TOO_LARGE)


def test_a_file_edited_before_reading_has_another_hash(root):
    write(root, "a.py", "old")
    snapshot = snapshot_folder(root)
    write(root, "a.py", "new")
    assert blob_hash(snapshot.read(0)) != snapshot.files[0].blob


def test_a_skipped_file_is_not_read(root):
    write(root, "binary", b"\0")
    with pytest.raises(PrismError) as caught:
        snapshot_folder(root).read(0)
    assert caught.value.code is ErrorCode.FILE_SKIPPED


def test_attributes_of_a_plain_folder_apply(root):
    write(root, ".gitattributes", "*.gen linguist-generated linguist-language=Python\n")
    write(root, "sub/.gitattributes", "mine/** -linguist-vendored\n*.py -linguist-generated\n")
    write(root, "a.gen")
    write(root, "sub/mine/vendor/a.c")
    write(root, "sub/b.py", "# @generated\n")
    snapshot = snapshot_folder(root)
    found = {file.path: file for file in snapshot.files}
    assert found["a.gen"].flags.generated
    assert found["a.gen"].language == "python"
    assert not found["sub/mine/vendor/a.c"].flags.vendored
    assert not found["sub/b.py"].flags.generated
    ordinal = snapshot.files.index(found["sub/b.py"])
    assert not snapshot.flags(ordinal, "# @generated\n").generated


def test_the_first_lines_flag_a_file(root):
    write(root, "a.go", "// Code generated by x. DO NOT EDIT.\n")
    assert snapshot_folder(root).files[0].flags.generated


def test_refusals_have_a_next_action(root, tmp_path, monkeypatch):
    assert refusal(tmp_path / "missing").code is ErrorCode.SOURCE_NOT_FOUND
    assert refusal(write(tmp_path, "file")).code is ErrorCode.SOURCE_NOT_FOUND
    assert refusal(tmp_path / "file/below").code is ErrorCode.SOURCE_NOT_FOUND
    assert refusal(root).code is ErrorCode.SOURCE_EMPTY
    write(root, "a")
    write(root, "b")
    assert refusal(root, SourceLimits(files_max=1)).code is ErrorCode.PAYLOAD_TOO_LARGE
    assert len(snapshot_folder(root, SourceLimits(files_max=2)).files) == 2

    def closed(_path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", closed)
    assert refusal(root).code is ErrorCode.SOURCE_UNREADABLE


def test_nothing_is_written(root):
    write(root, "a.py")
    before = sorted(
        (path, path.stat().st_mtime_ns, stat.S_IMODE(path.stat().st_mode)) for path in root.rglob("*")
    )
    snapshot_folder(root)
    assert before == sorted(
        (path, path.stat().st_mtime_ns, stat.S_IMODE(path.stat().st_mode)) for path in root.rglob("*")
    )
