"""`prism documents`."""

import json
import tarfile
from pathlib import Path

import httpx
import pytest
from cli_server import Server
from typer.testing import CliRunner

from prism_cli import document_folders, documents, target
from prism_cli.exits import Exit
from prism_cli.main import app
from prism_cli.target import ServerTarget
from prism_contracts.types import DOCUMENT_CHARS_MAX

METADATA = {"title": "Retries", "version": 2, "is_draft": True}
FOUND = {"document_id": "d1", "path": "generated/retries.md", "content": "Three times.\n"}
FOUND |= {"metadata": METADATA, "frontmatter": "title: Retries\n"}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server()
    for module in (documents, document_folders):
        monkeypatch.setattr(module, "Prism", lambda _: server.prism())
    monkeypatch.setattr(target, "find_target", lambda: ServerTarget("https://prism.test", "secret"))
    return server


def answer(server: Server, *bodies: dict[str, object]) -> None:
    server.answers = [httpx.Response(200, json=body) for body in bodies]


def run(*arguments: str | Path, text: str | None = None):
    return CliRunner().invoke(app, ["documents", *map(str, arguments)], input=text)


def body(request: httpx.Request) -> dict[str, object]:
    return json.loads(request.content)


def test_documents_are_listed_with_the_rest_of_them(server: Server) -> None:
    one = FOUND | {
        "title": "Retries",
        "tags": ["delivery"],
        "is_draft": True,
        "modified_at": "2026-03-14T09:26:53Z",
    }
    answer(server, {"documents": [one], "total": 3, "limit": 1, "offset": 0})
    shown = run("list", "--tag", "delivery", "--captured", "--limit", "1")
    assert "generated/retries.md (draft)" in shown.output
    assert "More of 3: --offset 1" in shown.output
    asked = dict(server.requests[0].url.params)
    assert asked == {"tag": "delivery", "is_generated": "false", "limit": "1", "offset": "0"}


def test_a_document_is_shown_by_path_and_by_id(server: Server) -> None:
    answer(server, FOUND, FOUND)
    assert "---\ntitle: Retries\n---\n\nThree times." in run("show", FOUND["path"]).output
    assert run("show", "d1", "--version", "3").exit_code == 0
    by_path, by_id = server.requests
    assert (by_path.url.path, by_path.url.params["path"]) == ("/api/v1/documents/by-path", FOUND["path"])
    assert (by_id.url.path, by_id.url.params["version"]) == ("/api/v1/documents/d1", "3")


def test_versions_and_a_diff_are_shown(server: Server) -> None:
    version = {
        "version": "c" * 40,
        "is_draft": False,
        "at": "2026-03-14",
        "author": "ann",
        "message": "Write",
    }
    answer(server, FOUND, {"versions": [version]}, FOUND, {"diff": "+Three.\n"})
    assert "cccccccccccc 2026-03-14 ann: Write" in run("show", "d1", "--versions").output
    assert run("show", "d1", "--diff").output == "+Three.\n"


def test_a_document_is_written_from_standard_input_and_changed_in_its_version(server: Server) -> None:
    answer(server, FOUND | {"version": 1}, FOUND, FOUND | {"version": 3})
    assert run("write", "-", "--title", "Retries", text="Three.\n").exit_code == 0
    assert run("write", "-", "--update", "d1", text="Four.\n").exit_code == 0
    created, _, changed = server.requests
    assert body(created) == {"title": "Retries", "content": "Three.\n"}
    assert body(changed) == {"updates": {"content": "Four.\n"}, "version": 2}
    assert run("write", "-", text="No title.\n").exit_code == Exit.FAILED


def test_a_folder_is_imported_with_a_reason_for_each_file_that_is_not(server: Server, tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "notes.md").write_text("hidden")
    (tmp_path / "deep" / "er" / "a.md").write_bytes(b"# A\r\n")
    (tmp_path / "generated").mkdir()
    (tmp_path / "generated" / "b.md").write_text("B\n")
    (tmp_path / "generated" / "README.md").write_text("of Prism\n")
    (tmp_path / "logo.png").write_bytes(b"\x89PNG")
    (tmp_path / "latin.md").write_bytes("Über".encode("latin-1"))
    (tmp_path / "large.md").write_text("x" * (DOCUMENT_CHARS_MAX + 1))
    (tmp_path / "link.md").symlink_to(tmp_path / "latin.md")
    sent = ["documents/handbook/deep/er/a.md", "generated/b.md"]
    results = [{"path": path, "outcome": "created", "message": ""} for path in sent]
    answer(server, {"files": results})
    shown = run("import", tmp_path, "--to", "documents/handbook", "--json")
    found = json.loads(shown.output[: shown.output.rindex("}") + 1])
    assert {one["path"]: one["outcome"] for one in found["files"]} == {
        "documents/handbook/deep/er/a.md": "created",
        "documents/handbook/large.md": "refused",
        "documents/handbook/latin.md": "refused",
        "documents/handbook/link.md": "skipped",
        "documents/handbook/logo.png": "skipped",
        "generated/README.md": "skipped",
        "generated/b.md": "created",
    }
    assert all(one["message"] for one in found["files"] if one["outcome"] != "created")
    assert sorted(file["path"] for file in body(server.requests[0])["files"]) == sent
    assert shown.exit_code == Exit.FAILED


def test_a_large_folder_is_sent_in_batches(server: Server, tmp_path: Path) -> None:
    for number in range(250):
        (tmp_path / f"{number:03}.md").write_text("x\n")
    paths = [f"documents/{number:03}.md" for number in range(250)]
    batches = [paths[start : start + 100] for start in range(0, 250, 100)]
    answer(
        server,
        *(
            {"files": [{"path": path, "outcome": "unchanged", "message": ""} for path in batch]}
            for batch in batches
        ),
    )
    assert "250 unchanged" in run("import", tmp_path).output
    assert [[file["path"] for file in body(one)["files"]] for one in server.requests] == batches
    assert run("import", tmp_path, "--to", "elsewhere").exit_code == Exit.FAILED


def test_documents_are_exported_into_a_folder_or_a_tar_file(server: Server, tmp_path: Path) -> None:
    pages = (
        {"files": [{"path": "documents/a.md", "text": "A\n"}], "next_cursor": "documents/a.md"},
        {"files": [{"path": "generated/b.md", "text": "B\n"}], "next_cursor": ""},
    )
    answer(server, *pages, *pages, *pages)
    folder, tar = tmp_path / "out", tmp_path / "out.tar"
    assert "2 documents" in run("export", folder).output
    assert (folder / "generated" / "b.md").read_text() == "B\n"
    assert "0 written" in run("export", folder).output
    run("export", tar)
    with tarfile.open(tar) as found:
        assert found.getnames() == ["documents/a.md", "generated/b.md"]


@pytest.mark.parametrize("path", ["../a.md", "/a.md", "link/a.md"])
def test_an_export_stays_in_its_folder(server: Server, tmp_path: Path, path: str) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    answer(server, {"files": [{"path": path, "text": "A\n"}], "next_cursor": ""})
    assert run("export", folder).exit_code == Exit.FAILED
    assert not (tmp_path / "a.md").exists()
