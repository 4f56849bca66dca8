"""Files that an editor or a CI job sends one by one, or as a diff, on top of the index."""

from collections.abc import Callable
from typing import Any

import pytest
from running_stack import Json, RunningStack, blob_of
from source_repos import FILES, SEEN, SKIPPED, GitRepo

SECRET_LINE = 'AWS_KEY = "AKIA' + "Z7QX3M5K2VSTD4RW" + '"\n'


class Edited:
    """A repository of the shared stack, and requests that edit it."""

    def __init__(self, stack: RunningStack, repo: GitRepo, name: str) -> None:
        self.stack, self.repo, self.name = stack, repo, name
        self.commit = stack.index(repo.folder, "--name", name)["commit"]

    def post(self, what: str, status: int = 202, **body: Any) -> Json:
        with self.stack.http() as http:
            answer = http.post(f"/api/v1/ingest/{what}", json={"repo": self.name, **body})
        assert answer.status_code == status, answer.text
        return answer.json()["error"] if status != 202 else self.stack.ended_job(answer.json()["job"]["job"])

    def diff(self, status: int = 202, **body: Any) -> Json:
        self.repo.git("add", "--all")
        return self.post(
            "diff", status, base_commit=self.commit, diff=self.repo.git("diff", "--cached") + "\n", **body
        )

    async def read(self, path: str) -> str:
        async with self.stack.agent(self.name) as agent:
            return (await agent.ask("read_file", file_path=path))["content"]


@pytest.fixture
def edited(shared_stack: RunningStack, make_repo: Callable[..., GitRepo], request) -> Edited:
    number = abs(hash(request.node.name))
    files = {**FILES, "secret.py": SECRET_LINE + "A = 1\n", "empty.py": ""}
    return Edited(shared_stack, make_repo(files=files), f"edits/r{number}")


async def test_one_file_changes_in_the_live_lane(edited: Edited) -> None:
    job = edited.post("file", path="bank/account.py", content="def edited_alone():\n    return 1\n")
    assert (job["state"], job["lane"], job["commit"], job["dirty"]) == (
        "complete",
        "live",
        edited.commit,
        True,
    )
    assert (job["counts"]["seen"], job["counts"]["indexed"], job["counts"]["removed"]) == (1, 1, 0)
    assert await edited.read("bank/account.py") == "def edited_alone():\n    return 1\n"
    async with edited.stack.agent(edited.name) as agent:
        coverage = await agent.ask("index_coverage")
    assert coverage["indexed"] == SEEN - SKIPPED + 2


async def test_a_file_is_removed_and_added(edited: Edited) -> None:
    assert edited.post("file", path="docs/guide.md", removed=True)["counts"]["removed"] == 1
    assert edited.post("file", path="docs/guide.md", removed=True)["expected"] == 0
    edited.post("file", path="docs/new.md", content_base64="IyBOZXcK")
    assert await edited.read("docs/new.md") == "# New\n"


async def test_an_edit_of_another_version_is_refused(edited: Edited) -> None:
    first = "V = 1\n"
    edited.post("file", path="v.py", content=first, base_blob="")
    error = edited.post("file", 409, path="v.py", content="V = 2\n", base_blob="")
    assert (error["code"], error["details"]["blob"]) == ("base_mismatch", blob_of(first.encode()))
    edited.post("file", path="v.py", content="V = 2\n", base_blob=blob_of(first.encode()))
    assert await edited.read("v.py") == "V = 2\n"


async def test_a_diff_changes_the_index_as_git_changes_the_tree(edited: Edited) -> None:
    edited.repo.write(
        {
            "bank/account.py": str(FILES["bank/account.py"]).replace("def ", "def new_"),
            "fresh.py": "F = 1",
            "empty.py": "E = 1\n",
        }
    )
    edited.repo.git("mv", "docs/guide.md", "docs/manual.md")
    (edited.repo.folder / "cache/lru.go").unlink()
    job = edited.diff(commit="c" * 40)
    assert (job["state"], job["commit"], job["dirty"]) == ("complete", "c" * 40, False)
    again = edited.stack.index(edited.repo.folder, "--name", edited.name)
    assert again["counts"]["indexed"] == again["counts"]["removed"] == 0


def test_a_diff_that_does_not_apply_is_refused(edited: Edited) -> None:
    edited.repo.write(
        {"bank/account.py": "# nothing alike\n" + str(FILES["bank/account.py"]).replace("def", "DEF")}
    )
    edited.post("file", path="bank/account.py", content="other = 1\n")
    error = edited.diff(409)
    assert (error["code"], error["details"]["path"]) == ("diff_not_applicable", "bank/account.py")
    assert error["details"]["hunk"] == 1
    unknown = edited.post("diff", 409, base_commit="d" * 40, files=[{"path": "a.py", "content": ""}])
    assert (unknown["code"], unknown["details"]["indexed_commit"]) == ("base_mismatch", edited.commit)


def test_a_diff_of_a_redacted_file_is_refused(edited: Edited) -> None:
    edited.repo.write({"secret.py": SECRET_LINE + "A = 2\n"})
    error = edited.diff(409)
    assert error["code"] == "diff_not_applicable"
    assert "redacted" in error["message"]


async def test_edits_redact_secrets_and_skip_binaries(edited: Edited) -> None:
    edited.post("file", path="s.py", content=SECRET_LINE)
    assert "AKIA" not in await edited.read("s.py")
    job = edited.post("file", path="b.py", content_base64="AAECAwA=")
    assert job["counts"]["skipped"] == 1


@pytest.mark.parametrize(
    ("what", "body", "status", "code"),
    [
        ("file", {"path": "../a", "content": ""}, 400, "invalid_path"),
        ("file", {"path": "/a", "content": ""}, 400, "invalid_path"),
        ("file", {"path": "a\0b", "content": ""}, 400, "invalid_path"),
        ("file", {"path": ".git/hooks/x", "content": ""}, 400, "invalid_path"),
        ("file", {"path": "a.py"}, 400, "invalid_argument"),
        ("file", {"path": "a.py", "content": "", "removed": True}, 400, "invalid_argument"),
        ("file", {"path": "a.py", "content_base64": "?"}, 400, "invalid_argument"),
        ("file", {"path": "a.py", "content": "", "repo": "no/such"}, 404, "repo_not_found"),
        ("file", {"path": "a.py", "content": "", "layer": "topic"}, 400, "invalid_argument"),
        ("file", {"path": "a.py", "content": "x" * (8 * 1024 * 1024)}, 413, "payload_too_large"),
        ("diff", {"diff": "x"}, 400, "invalid_argument"),
        ("diff", {"base_commit": "?"}, 400, "invalid_argument"),
        ("diff", {"base_commit": "", "diff": "x"}, 400, "invalid_argument"),
    ],
)
def test_invalid_edits_are_refused_with_a_next_action(
    shared_stack: RunningStack, ledger: Json, what, body, status, code
) -> None:
    with shared_stack.http() as http:
        answer = http.post(f"/api/v1/ingest/{what}", json={"repo": "acme/ledger", **body})
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert answer.json()["error"]["next_action"]
