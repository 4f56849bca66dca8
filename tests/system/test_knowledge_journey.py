"""Knowledge about a repository that is pushed to, as an agent writes and reads it on a running stack."""

from collections.abc import Iterator

import pytest
from forge import Forge
from git_server import git_server
from running_stack import Agent, Json, RunningStack

DOCUMENTS = "prism/documents"


@pytest.fixture(scope="module")
def forge(shared_stack: RunningStack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forge]:
    root = tmp_path_factory.mktemp("forge")
    (root / "served").mkdir()
    with git_server(root / "served") as url:
        yield Forge(root, url, shared_stack)


async def indexed(agent: Agent, document: str) -> None:
    """Waits until the newest content of a document is indexed."""
    await agent.until(
        lambda found: found["metadata"]["is_indexed"], "get_document_metadata", document_id=document
    )


async def found_in_documents(stack: RunningStack, pattern: str, commit: str = "") -> Json:
    """Returns the lines that match; with `commit`, once the index names it."""
    async with stack.agent(DOCUMENTS) as agent:
        return await agent.until(
            lambda found: commit in ("", found["receipt"]["indexed_commit"]), "grep_code", pattern=pattern
        )


async def test_a_document_is_found_committed_and_found_again(shared_stack: RunningStack) -> None:
    async with shared_stack.agent() as agent:
        text = "# Retries\n\nThe zygomorphic courier tries thrice.\n"
        made = await agent.ask("create_document", title="Retries", content=text)
        await indexed(agent, made["document_id"])
        found = await found_in_documents(shared_stack, "zygomorphic")
        assert [one["file_path"] for one in found["matches"]] == [made["path"]]
        await agent.ask("generate_embeddings", document_id=made["document_id"], force_regenerate=True)
        embedded = await agent.until(
            lambda answer: answer["embeddings_created"],
            "generate_embeddings",
            document_id=made["document_id"],
        )
        assert embedded["chunks_processed"] == 1
        assert embedded["model_used"]
        change = {"content": "The actinomorphic courier.\n"}
        await agent.ask("update_document", document_id=made["document_id"], updates=change)
        await indexed(agent, made["document_id"])
        done = await agent.ask("commit_to_git", message="Say how often", paths=[made["path"]])
    found = await found_in_documents(shared_stack, "actinomorphic", done["commit_hash"])
    assert [one["file_path"] for one in found["matches"]] == [made["path"]]


async def test_a_push_makes_what_is_written_about_the_code_stale(forge: Forge) -> None:
    name = "forge/written-about"
    repo = forge.repository(name)
    async with forge.stack.agent(name) as agent:
        # Other repositories of the shared stack have the same path, so the text names its repository.
        text = f"`Account.withdraw` in `{name}:bank/account.py` keeps the sesquipedalian limit.\n"
        made = await agent.ask("create_document", title="Limits of accounts", content=text)
        await agent.until(
            lambda ready: [one["title"] for one in ready["concerning"]] == ["Limits of accounts"],
            "prepare_to_edit",
            symbol="Account.withdraw",
        )
        code = (repo.folder / "bank/account.py").read_text()
        repo.write(
            {
                "bank/account.py": code.replace(
                    "self.balance_cents -= cents", "self.balance_cents -= abs(cents)"
                )
            }
        )
        repo.commit()
        commit = forge.push(repo)
        forge.post(forge.payload(name, commit))
        stale = await agent.until(
            lambda found: bool(found["metadata"]["stale"]),
            "get_document_metadata",
            document_id=made["document_id"],
        )
        assert {one["commit"] for one in stale["metadata"]["stale"]} == {commit}
        hits = await agent.ask("search_documents", query="sesquipedalian limit")
        assert hits["results"][0]["document_id"] == made["document_id"]
        assert hits["results"][0]["metadata"]["stale"] == stale["metadata"]["stale"]
