"""`prism wiki`."""

from pathlib import Path

import httpx
import pytest
from cli_server import Server
from rich.console import Console
from typer.testing import CliRunner

from prism_cli import target, terminal, wiki
from prism_cli.exits import Exit
from prism_cli.main import app
from prism_cli.target import ServerTarget

MADE = f"{wiki.MARK}`c0ffee` of acme/depot.*"


def page_summary(key: str, title: str, commit: str = "c0ffee") -> dict[str, object]:
    return {
        "key": key,
        "title": title,
        "commit": commit,
        "written_at": "2026-11-25T09:30:00Z" if commit else None,
    }


def contents(state: str = "complete", **changes: object) -> dict[str, object]:
    return {
        "repo": "acme/depot",
        "state": state,
        "commit": "c0ffee",
        "is_stale": False,
        "pages": [page_summary("overview", "Overview"), page_summary("flows", "Entry points and flows")],
        "failed_pages": [],
        "error": "",
    } | changes


def page(content: str) -> dict[str, object]:
    return {"repo": "acme/depot", "content": content} | page_summary("overview", "Overview")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server()
    monkeypatch.setattr(wiki, "Prism", lambda _: server.prism())
    monkeypatch.setattr(wiki, "POLL_S", 0.0)
    monkeypatch.setattr(target, "find_target", lambda: ServerTarget("https://prism.test", "secret"))
    return server


def answer(server: Server, *bodies: dict[str, object]) -> None:
    server.answers = [httpx.Response(200, json=body) for body in bodies]


def run(*arguments: str):
    return CliRunner().invoke(app, ["wiki", *arguments])


def test_generate_follows_the_run_to_its_end(server: Server) -> None:
    planning = contents("planning", pages=[])
    running = contents("running", pages=[page_summary("overview", "Overview", commit="")])
    answer(server, planning, running, contents())

    shown = run("generate", "acme/depot")

    assert shown.exit_code == 0, shown.output
    assert "acme/depot@c0ffee: complete" in shown.output
    asked = [(request.method, request.url.path) for request in server.requests]
    assert asked == [
        ("POST", "/api/v1/repos/acme/depot/wiki"),
        *[("GET", "/api/v1/repos/acme/depot/wiki")] * 2,
    ]


def test_generate_returns_at_once_if_it_is_not_to_wait(server: Server) -> None:
    answer(server, contents("planning", pages=[]))

    shown = run("generate", "acme/depot", "--no-wait")

    assert shown.exit_code == 0, shown.output
    assert len(server.requests) == 1


def test_generate_reports_pages_that_failed(server: Server) -> None:
    failed = {"key": "flows", "title": "Flows", "error": "atlas is not running", "attempts": 3}
    answer(server, contents("complete_with_errors", failed_pages=[failed]))

    shown = run("generate", "acme/depot")

    assert shown.exit_code == Exit.FAILED
    assert "failed: flows after 3 attempts: atlas is not running" in shown.output


def test_generate_gives_up_on_a_run_that_stopped(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wiki, "STALLED_S", -1.0)
    answer(server, contents("running"))

    shown = run("generate", "acme/depot")

    assert shown.exit_code == Exit.FAILED
    assert shown.exception.code == "wiki_stalled"


def test_list_shows_pages_that_are_not_written(server: Server) -> None:
    answer(server, contents("running", pages=[page_summary("types", "Data types", commit="")], is_stale=True))

    shown = run("list", "acme/depot").output

    assert "types" in shown
    assert "not written yet" in shown
    assert "The index has moved on since." in shown


def test_show_prints_the_markdown_into_a_pipe(server: Server) -> None:
    answer(server, page("# Overview\n\n- a \x1b[31mred\n"))

    shown = run("show", "acme/depot")

    assert shown.output == "# Overview\n\n- a \N{REPLACEMENT CHARACTER}[31mred\n"
    assert server.requests[0].url.path == "/api/v1/repos/acme/depot/wiki/overview"


def test_show_returns_the_text_of_a_commit(server: Server) -> None:
    answer(server, page("# Overview\n"))

    run("show", "acme/depot", "flows", "--commit", "c0ffee")

    assert dict(server.requests[0].url.params) == {"commit": "c0ffee"}


def test_search_shows_places_with_their_lines(server: Server) -> None:
    hit = {"key": "run-and-test", "start_line": 9, "heading": "Commands", "excerpt": "- `make test`"}
    answer(server, contents(hits=[hit]), contents(hits=[]))

    shown = run("search", "acme/depot", "run tests", "--limit", "3")

    assert shown.output == "run-and-test:9 Commands\n- `make test`\n"
    assert dict(server.requests[0].url.params) == {"query": "run tests", "limit": "3"}
    assert "No section" in run("search", "acme/depot", "zebra").output


def test_show_lays_a_page_out_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(terminal, "out", Console(width=60, force_terminal=True, color_system=None))

    wiki.show_page(page("# Overview\n\nIt **plans** the way.\n"))

    assert "It plans the way." in capsys.readouterr().out


PAGE = f"# Overview\n\n{MADE}\n\nSee [flows](flows) and [x](other).\n\n```\nx](flows)\n```\n"


def test_export_writes_files_whose_links_work(server: Server, tmp_path: Path) -> None:
    answer(server, contents(), page(PAGE), page("# Flows\n"))

    shown = run("export", "acme/depot", str(tmp_path / "wiki"))

    assert shown.exit_code == 0, shown.output
    overview = (tmp_path / "wiki" / "overview.md").read_text()
    assert overview == PAGE.replace("[flows](flows)", "[flows](flows.md)")
    listed = (tmp_path / "wiki" / "README.md").read_text()
    assert "- [Overview](overview.md)\n- [Entry points and flows](flows.md)\n" in listed


def test_export_removes_pages_that_the_wiki_lost_and_nothing_else(server: Server, tmp_path: Path) -> None:
    (tmp_path / "component-old.md").write_text(f"# Old\n\n{MADE}\n")
    (tmp_path / "notes.md").write_text("# Notes\n")
    answer(server, contents(), page(PAGE), page("# Flows\n"))

    shown = run("export", "acme/depot", str(tmp_path))

    assert shown.exit_code == 0, shown.output
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "README.md",
        "flows.md",
        "notes.md",
        "overview.md",
    ]


def test_export_replaces_no_file_of_another_origin(server: Server, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# My project\n")
    answer(server, contents(), page(PAGE), page("# Flows\n"))

    shown = run("export", "acme/depot", str(tmp_path))

    assert shown.exit_code == Exit.FAILED
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]
    assert (tmp_path / "README.md").read_text() == "# My project\n"


@pytest.mark.parametrize("key", ["../outside", "a/b", "A", ""])
def test_export_leaves_out_keys_that_are_no_file_names(server: Server, tmp_path: Path, key: str) -> None:
    answer(server, contents(pages=[page_summary(key, "x")]), page(PAGE))

    run("export", "acme/depot", str(tmp_path / "wiki"))

    assert [path.name for path in (tmp_path / "wiki").iterdir()] == ["README.md"]
