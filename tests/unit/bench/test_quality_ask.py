import subprocess

import pytest

from bench.quality.ask import laid_out
from bench.quality.questions import Corpus


def git(folder, *arguments: str) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def clone(tmp_path):
    """A clone whose newest commit is not the tested one."""
    folder = tmp_path / "shop"
    (folder / "src").mkdir(parents=True)
    git(folder, "init", "-q")
    for text in ("old", "new"):
        (folder / "src" / "a.py").write_text(text)
        (folder / "setup.py").write_text(text)
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", text)
    return folder


def found(folder) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()
    }


def test_clone_yields_the_revision_below_the_root(clone) -> None:
    corpus = Corpus(name="shop", language="python", revision=git(clone, "rev-parse", "HEAD~1"), root="src")
    with laid_out(corpus, clone) as folder:
        assert found(folder) == {"src/a.py": "old"}
    assert not folder.exists()


def test_clone_without_a_root_yields_the_whole_revision(clone) -> None:
    with laid_out(Corpus(name="shop", language="python"), clone) as folder:
        assert found(folder) == {"src/a.py": "new", "setup.py": "new"}


def test_a_folder_that_is_not_a_clone_is_used_unchanged(tmp_path) -> None:
    (tmp_path / "a.py").write_text("text")
    with laid_out(Corpus(name="shop", language="python", root="src"), tmp_path) as folder:
        assert folder == tmp_path
    assert found(tmp_path) == {"a.py": "text"}


def test_a_revision_missing_in_the_clone_is_an_error(clone) -> None:
    corpus = Corpus(name="shop", language="python", revision="0" * 40)
    with pytest.raises(subprocess.CalledProcessError), laid_out(corpus, clone):
        pass
