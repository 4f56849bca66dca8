"""Snapshots of commits: refs, trees, blobs."""

import subprocess
import threading

import pytest

from prism_contracts.code import SkipReason
from prism_contracts.errors import ErrorCode, PrismError
from prism_source.blobs import BlobReader
from prism_source.gittree import is_ref_name, resolve_ref, snapshot_changes, snapshot_git
from prism_source.limits import SourceLimits
from prism_source.snapshot import blob_hash


def refusal(folder, ref="", limits=None) -> PrismError:
    with pytest.raises(PrismError) as caught:
        snapshot_git(folder, ref, limits or SourceLimits())
    assert caught.value.body.next_action
    return caught.value


def test_branch_tag_commit_and_default_are_resolved(repo):
    first = repo.commit(**{"a.py": "1\n"})
    repo.git("tag", "--annotate", "v1", "--message", "one")
    second = repo.commit(**{"a.py": "2\n"})
    repo.git("branch", "feature/x", first)
    assert resolve_ref(repo.folder) == (second, "main")
    assert resolve_ref(repo.folder, "HEAD") == (second, "main")
    assert resolve_ref(repo.folder, "v1") == (first, "v1")
    assert resolve_ref(repo.folder, "feature/x") == (first, "feature/x")
    assert resolve_ref(repo.folder, "refs/heads/feature/x").commit == first
    assert resolve_ref(repo.folder, first) == (first, "")
    assert resolve_ref(repo.folder, first[:8]) == (first, "")
    with snapshot_git(repo.folder, "v1") as snapshot:
        assert (snapshot.commit, snapshot.ref, snapshot.read(0)) == (first, "v1", b"1\n")


def test_a_branch_wins_over_a_tag_or_commit_of_its_name(repo):
    first = repo.commit(**{"a.py": "1\n"})
    second = repo.commit(**{"a.py": "2\n"})
    repo.git("tag", "both", first)
    repo.git("branch", "both", second)
    repo.git("branch", first[:8], second)
    assert resolve_ref(repo.folder, "both").commit == second
    assert resolve_ref(repo.folder, first[:8]) == (second, first[:8])


def test_an_unknown_ref_is_refused_with_similar_names(repo):
    repo.commit(**{"a.py": "1\n"})
    repo.git("branch", "feature/login")
    error = refusal(repo.folder, "feature/logn")
    assert error.code is ErrorCode.REF_NOT_FOUND
    assert error.body.details["suggestions"] == ["feature/login"]
    assert refusal(repo.folder, "0" * 40).code is ErrorCode.REF_NOT_FOUND


@pytest.mark.parametrize(
    "ref",
    [
        "--output=/tmp/x",
        "-x",
        "a..b",
        "HEAD~1",
        "main^",
        "main:a.py",
        "@{-1}",
        "a b",
        "a\nb",
        "",
        "x" * 1_001,
    ],
)
def test_revision_expressions_are_not_refs(repo, ref):
    repo.commit(**{"a.py": "1\n"})
    assert not is_ref_name(ref)
    if ref:
        assert refusal(repo.folder, ref).code is ErrorCode.REF_NOT_FOUND


def test_every_kind_of_entry_is_listed(repo, tmp_path):
    repo.write("run.sh", "#!/bin/sh\n").chmod(0o755)
    (repo.folder / "link").symlink_to("/etc/passwd")
    repo.write("big.txt", "x\n" * 20)
    repo.write("binary", b"\0")
    repo.git("init", "--quiet", "sub")
    repo.git("-C", "sub", "commit", "--quiet", "--allow-empty", "--message", "x")
    repo.commit()
    with snapshot_git(repo.folder, limits=SourceLimits(file_bytes_max=39)) as snapshot:
        assert {file.path: file.skipped for file in snapshot.files} == {
            "big.txt": SkipReason.TOO_LARGE,
            "binary": None,
            "link": SkipReason.SYMLINK,
            "run.sh": None,
            "sub": SkipReason.SUBMODULE,
        }
        assert snapshot.files[0].detail == "40 bytes, the limit is 39"
        with pytest.raises(PrismError) as caught:
            snapshot.read(0)
        assert caught.value.code is ErrorCode.FILE_SKIPPED


def test_entries_of_a_hostile_tree_are_only_listed(repo):
    """A tree may contain names that no file system allows: git mktree writes them, fsck would refuse them."""
    blob = repo.git("hash-object", "-w", "--stdin", input="x")
    inner = repo.git("mktree", input=f"100644 blob {blob}\tevil.py\n")
    raw = b"".join(
        mode + b" " + name + b"\0" + bytes.fromhex(digest)
        for mode, name, digest in [
            (b"40000", b"..", inner),
            (b"100644", b"a\\..\\b", blob),
            (b"100644", b"ok.py", blob),
        ]
    )
    done = subprocess.run(
        ["git", "hash-object", "-t", "tree", "-w", "--stdin", "--literally"],
        cwd=repo.folder,
        input=raw,
        capture_output=True,
        check=True,
    )
    repo.git(
        "update-ref", "refs/heads/main", repo.git("commit-tree", done.stdout.decode().strip(), "-m", "evil")
    )
    with snapshot_git(repo.folder) as snapshot:
        found = {file.path: file.skipped for file in snapshot.files}
    assert found.pop("ok.py") is None
    assert set(found.values()) == {SkipReason.PATH_INVALID}
    assert all(path.startswith("invalid-path-") for path in found)


def test_an_exponential_tree_is_stopped(repo):
    tree = repo.git("mktree", input=f"100644 blob {repo.git('hash-object', '-w', '--stdin', input='x')}\tf\n")
    for _ in range(9):
        tree = repo.git("mktree", input="".join(f"040000 tree {tree}\t{name}\n" for name in "abcdefghij"))
    repo.git("update-ref", "refs/heads/main", repo.git("commit-tree", tree, "-m", "bomb"))
    assert refusal(repo.folder, limits=SourceLimits(files_max=1_000)).code is ErrorCode.PAYLOAD_TOO_LARGE


def test_files_are_limited_at_the_limit_and_just_past_it(repo):
    repo.commit(a="1", b="2")
    with snapshot_git(repo.folder, limits=SourceLimits(files_max=2)) as snapshot:
        assert len(snapshot.files) == 2
    assert refusal(repo.folder, limits=SourceLimits(files_max=1)).code is ErrorCode.PAYLOAD_TOO_LARGE


def test_attributes_of_the_commit_apply_not_those_on_disk(repo):
    repo.commit(
        **{".gitattributes": "*.x linguist-language=Go linguist-generated\n", "a.x": "1\n", "s/b.x": "1\n"}
    )
    repo.write(".gitattributes", "")
    with snapshot_git(repo.folder) as snapshot:
        found = {file.path: file for file in snapshot.files}
    assert found["s/b.x"].flags.generated
    assert found["a.x"].language == "go"


def test_flags_by_text_obey_the_attributes(repo):
    repo.commit(**{".gitattributes": "mine.go -linguist-generated\n", "mine.go": "x\n", "other.go": "x\n"})
    marker = "// Code generated by x. DO NOT EDIT.\n"
    with snapshot_git(repo.folder) as snapshot:
        flags = {
            file.path: snapshot.flags(ordinal, marker).generated
            for ordinal, file in enumerate(snapshot.files)
        }
    assert flags == {".gitattributes": True, "mine.go": False, "other.go": True}


def test_empty_repositories_and_commits_are_refused(repo, tmp_path):
    assert refusal(repo.folder).code is ErrorCode.SOURCE_EMPTY
    repo.commit()
    assert refusal(repo.folder).code is ErrorCode.SOURCE_EMPTY
    assert refusal(tmp_path / "nowhere").code is ErrorCode.SOURCE_NOT_FOUND
    assert refusal(tmp_path).code is ErrorCode.SOURCE_NOT_FOUND


def test_blobs_of_every_size_are_read_from_many_threads(repo):
    contents = [b"", b"\n", b"x" * 200_000, b"a\nb\0c\n", "ü\n".encode()]
    for number, content in enumerate(contents):
        repo.write(f"{number}.bin", content)
    repo.commit()
    with snapshot_git(repo.folder) as snapshot:
        wrong = []

        def read_all() -> None:
            wrong.extend(
                ordinal for ordinal, content in enumerate(contents) if snapshot.read(ordinal) != content
            )

        threads = [threading.Thread(target=read_all) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []


def test_a_reader_continues_after_errors_and_a_dead_process(repo):
    repo.commit(**{"a.py": "1\n", "big": "x" * 100})
    reader = BlobReader(repo.folder / ".git", SourceLimits(file_bytes_max=50))
    with pytest.raises(PrismError) as missing:
        reader.blob("0" * 40)
    with pytest.raises(PrismError) as too_large:
        reader.blob(blob_hash(b"x" * 100))
    assert (missing.value.code, too_large.value.code) == (
        ErrorCode.FILE_NOT_FOUND,
        ErrorCode.PAYLOAD_TOO_LARGE,
    )
    assert reader.blob(blob_hash(b"1\n")) == b"1\n"
    reader._process.kill()
    reader._process.wait()
    with pytest.raises(PrismError) as died:
        reader.blob(blob_hash(b"1\n"))
    assert died.value.code is ErrorCode.SOURCE_UNREADABLE
    assert reader.blob(blob_hash(b"1\n")) == b"1\n"
    reader.close()
    reader.close()


def changes_of(changes) -> tuple[dict[str, bytes], tuple[str, ...]]:
    with changes.snapshot as snapshot:
        files = {file.path: snapshot.read(at) for at, file in enumerate(snapshot.files)}
    return files, changes.removed


def test_changes_are_the_differences_of_two_trees(repo):
    old = repo.commit(**{"same.py": "1\n", "a/changed.py": "1\n", "a/gone.py": "1\n", "from.py": "moved\n"})
    repo.git("rm", "--quiet", "a/gone.py")
    repo.git("mv", "from.py", "to.py")
    new = repo.commit(**{"a/changed.py": "2\n", "-n": "an option?\n", ":(glob)*": "magic?\n"})
    files, removed = changes_of(snapshot_changes(repo.folder, old, new))
    assert files == {
        "a/changed.py": b"2\n", "to.py": b"moved\n", "-n": b"an option?\n", ":(glob)*": b"magic?\n",
    }  # fmt: skip
    assert removed == ("a/gone.py", "from.py")
    assert len(snapshot_changes(repo.folder, old, new).added) == 3
    assert changes_of(snapshot_changes(repo.folder, new, new)) == ({}, ())


def test_a_changed_file_equals_its_entry_in_the_snapshot(repo):
    rules = {
        ".gitattributes": "*.gen linguist-generated\n",
        "sub/.gitattributes": "*.x linguist-language=Go\n",
    }
    old = repo.commit(**rules)
    new = repo.commit(**{"sub/deep/a.x": "1\n", "sub/b.gen": "2\n", "c.x": "3\n"})
    changes = snapshot_changes(repo.folder, old, new)
    with snapshot_git(repo.folder) as whole, changes.snapshot as some:
        assert set(some.files) == {file for file in whole.files if "attributes" not in file.path}
    assert {file.path: file.language for file in some.files if file.language} == {"sub/deep/a.x": "go"}


def test_only_removals_are_changes(repo):
    old = repo.commit(**{"a.py": "1\n", "b.py": "1\n"})
    repo.git("rm", "--quiet", "a.py")
    assert changes_of(snapshot_changes(repo.folder, old, repo.commit())) == ({}, ("a.py",))


def test_changes_of_unknown_trees_are_none(repo):
    old = repo.commit(**{"a.py": "1\n"})
    new = repo.commit(**{"bad\nname.py": "1\n"})
    assert snapshot_changes(repo.folder, old, new) is None
    assert snapshot_changes(repo.folder, "0" * 39 + "1", old) is None
