"""A folder and its commit have the same files."""

from prism_source.folder import snapshot_folder
from prism_source.gittree import snapshot_git
from prism_source.snapshot import blob_hash


def test_a_clean_work_tree_and_its_commit_are_the_same_files(repo):
    commit = repo.commit(**{"src/a.py": "a = 1\n", "README.md": "# a\n", "b.txt": ""})
    folder = snapshot_folder(repo.folder)
    with snapshot_git(repo.folder) as tree:
        assert folder.files == tree.files
        assert (folder.commit, folder.ref, folder.dirty) == (commit, "main", False)
        assert (tree.commit, tree.ref, tree.dirty) == (commit, "main", False)
        for ordinal, file in enumerate(tree.files):
            assert tree.read(ordinal) == folder.read(ordinal)
            assert blob_hash(tree.read(ordinal)) == file.blob
    assert [file.path for file in folder.files] == ["README.md", "b.txt", "src/a.py"]
