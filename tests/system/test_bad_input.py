"""Bad input gets the right answer or an error with a code; nothing is lost, nothing hangs."""

import asyncio
import os
import subprocess
from pathlib import Path

import pytest
from running_stack import RunningStack
from source_repos import GitRepo

ODD = "acme/odd"
MIB = 1024 * 1024
BRACKETS = 100_000
OUTSIDE = "this line is outside of the repository"
# Invented secrets in real formats, assembled here so that scanners do not flag this file.
AWS_KEY = "AKIA" + "Q3EXRZ5TWMV7LKYC"
GITHUB_TOKEN = "ghp_" + "Vb7nQ2kLx9RfT4mZc8WpYs3HdJg6NaEu5KiX"
PASSWORD_URL = "postgres://ledger:" + "s7Qw9zLkP2vXn4" + "@db.internal/books"

# One repository with everything that is hard to import.
TEXTS: dict[str, bytes] = {
    "with space/a file.py": b"def spaced_out():\n    return 1\n",
    "umlaut/gr\u00fc\u00dfe.py": b"def greetings():\n    return 2\n",
    "broken.py": b"def broken_utf8():\n    return '\xff\xfe\xfa'\n",
    "latin1.txt": "Grüße aus Köln, ein Satz in Latin-1\n".encode("latin-1"),
    "crlf.py": b"def windows_ends():\r\n    return 3\r\n",
    "no_newline.py": b"LAST_LINE_WITHOUT_END = 1",
    "empty.py": b"",
    "only_newlines.py": b"\n\n\n",
    "deep.py": b"x = " + b"[" * BRACKETS + b"]" * BRACKETS + b"\n# deep_python_marker\n",
    "deep.js": b"let x = " + b"(" * BRACKETS + b"1" + b")" * BRACKETS + b";\n// deep_js_marker\n",
    "deep.json": b'{"deep_json_marker": 1, "x":\n' + b"[" * BRACKETS + b"]" * BRACKETS + b"}\n",
    "deep.c": b"int x = " + b"(" * BRACKETS + b"1" + b")" * BRACKETS + b";\n// deep_c_marker\n",
    "open_brackets.c": b"int f() " + b"{" * BRACKETS + b"\n// open_brackets_marker\n",
    "settings.py": (
        f'AWS = "{AWS_KEY}"\nTOKEN = "{GITHUB_TOKEN}"\nDATABASE = "{PASSWORD_URL}"\nVISIBLE = "beside_the_secrets"\n'
    ).encode(),
}
SKIPPED: dict[str, tuple[bytes, str]] = {
    "huge.log": (b"a line of a log\n" * (50 * MIB // 16), "too_large"),
    "one_line.js": (b"var a=1;" * (5 * MIB // 8), "too_large"),
    "long_line.json": (b"[" + b"1," * (400 * 1024) + b"1]\n", "line_too_long"),
    "nul.py": (b"x = 1\n\0\0\0\ny = 2\n", "binary"),
}


@pytest.fixture(scope="module")
def odd(shared_stack: RunningStack, tmp_path_factory: pytest.TempPathFactory) -> dict:
    """The job of a repository with all of these files."""
    folder = tmp_path_factory.mktemp("odd")
    (folder / "outside.txt").write_text(OUTSIDE + "\n")
    inner = GitRepo(folder / "inner", {"inner.py": b"INSIDE_A_SUBMODULE = 1\n"})
    repo = GitRepo(folder / "a repo")
    repo.write(TEXTS | {name: content for name, (content, _) in SKIPPED.items()})
    not_utf8 = os.fsencode(repo.folder) + b"/caf\xe9.py"
    Path(os.fsdecode(not_utf8)).write_bytes(b"NAME_IS_LATIN_1 = 1\n")
    (repo.folder / "link_out.txt").symlink_to(folder / "outside.txt")
    (repo.folder / "link_folder").symlink_to(folder)
    (repo.folder / "link_inside.py").symlink_to("broken.py")
    (repo.folder / "dangling").symlink_to("nowhere")
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(inner.folder), "vendored")
    repo.commit()
    os.mkfifo(repo.folder / "pipe")
    job = shared_stack.index(repo.folder, "--name", ODD)
    return job | {"folder": repo.folder}


def test_job_ends_and_counts_unsupported_files(odd) -> None:
    assert odd["state"] == "complete"
    assert odd["counts"]["failed"] == 0


async def test_each_file_is_searchable_or_reported(shared_stack: RunningStack, odd) -> None:
    async with shared_stack.agent(ODD) as agent:
        listed = await agent.ask("list_files", limit=1_000)
        coverage = await agent.ask("index_coverage")
    paths = {file["file_path"] for file in listed["files"]}
    assert set(TEXTS) <= paths
    reasons = {problem["file_path"]: problem["reason"] for problem in coverage["problems"]}
    expected = {name: reason for name, (_, reason) in SKIPPED.items()} | {
        "link_out.txt": "symlink",
        "link_folder": "symlink",
        "link_inside.py": "symlink",
        "dangling": "symlink",
        "vendored": "submodule",
    }
    assert expected.items() <= reasons.items()
    assert coverage["files"] == coverage["indexed"] + coverage["skipped"] + coverage["failed"]
    assert coverage["skipped"] == len(reasons) == odd["counts"]["skipped"]
    latin = [path for path in paths | reasons.keys() if path.startswith("caf")]
    assert len(latin) == 1, "the file whose name is not UTF-8 is neither listed nor reported"


@pytest.mark.parametrize("name", sorted(TEXTS))
async def test_texts_are_read_back_unchanged(shared_stack: RunningStack, odd, name: str) -> None:
    if name == "settings.py":
        return  # covered by the test of secrets
    async with shared_stack.agent(ODD) as agent:
        answer = await agent.ask("read_file", file_path=name, max_tokens=100_000)
    assert answer["content"] == TEXTS[name].decode(errors="replace")[: len(answer["content"])]
    assert answer.get("truncated") or len(answer["content"]) == len(TEXTS[name].decode(errors="replace"))


@pytest.mark.parametrize(
    "marker", ["deep_python_marker", "deep_js_marker", "deep_json_marker", "deep_c_marker"]
)
async def test_deep_nesting_does_not_hide_the_rest_of_a_file(shared_stack: RunningStack, odd, marker) -> None:
    async with shared_stack.agent(ODD) as agent:
        answer = await agent.ask("grep_code", pattern=marker)
    assert len(answer["matches"]) == 1


async def test_an_empty_file_is_found_by_its_name(shared_stack: RunningStack, odd) -> None:
    async with shared_stack.agent(ODD) as agent:
        answer = await agent.ask("search_code", query="empty.py")
    assert ("empty.py", "") in [(hit["file_path"], hit["content"]) for hit in answer["results"]]


async def test_nothing_outside_the_tree_is_found(shared_stack: RunningStack, odd) -> None:
    async with shared_stack.agent(ODD) as agent:
        for line in (OUTSIDE, "INSIDE_A_SUBMODULE"):
            assert (await agent.ask("grep_code", pattern=line))["matches"] == []
            found = await agent.ask("search_code", query=line, detail="full")
            assert all(line not in hit["content"] for hit in found["results"])
        for path in ("../outside.txt", "/etc/passwd", "link_folder/outside.txt", "link_out.txt", "a/../../b"):
            assert (await agent.fails("read_file", file_path=path))["code"] in (
                "file_not_found", "invalid_path", "file_skipped",
            ), path  # fmt: skip
    points = str(shared_stack.points(odd["repo"]))
    assert OUTSIDE not in points


async def test_secrets_are_stored_nowhere_and_reported(shared_stack: RunningStack, odd) -> None:
    secrets = (AWS_KEY, GITHUB_TOKEN, "s7Qw9zLkP2vXn4")
    async with shared_stack.agent(ODD) as agent:
        read = await agent.ask("read_file", file_path="settings.py")
        beside = await agent.ask("grep_code", pattern="beside_the_secrets")
        answers = [
            read,
            await agent.ask("grep_code", pattern="AWS|TOKEN|DATABASE", regex=True),
            await agent.ask("search_code", query="aws token and database settings", detail="full"),
            await agent.ask("get_symbol_definition", symbol="TOKEN", include_body=True),
            await agent.ask("get_file_outline", file_path="settings.py"),
        ]
        for secret in secrets:
            assert (await agent.ask("grep_code", pattern=secret))["matches"] == []
            found = await agent.ask("search_code", query=secret, detail="full")
            answers.append({**found, "diagnostics": {}, "next_actions": []})
        coverage = await agent.ask("index_coverage")
    assert read["content"].count("[REDACTED:") == 3
    assert [match["line"] for match in beside["matches"]] == [4]
    everything = str(answers) + str(shared_stack.points(odd["repo"])) + shared_stack.logs(whole=True)
    for secret in secrets:
        assert secret not in everything
    assert coverage["redacted_files"] == 1
    assert {"aws-access-key-id", "github-token", "basic-auth-url"} <= coverage["redactions"].keys()


def test_a_second_run_changes_nothing(shared_stack: RunningStack, odd) -> None:
    again = shared_stack.index(odd["folder"], "--name", ODD)
    assert again["nothing_changed"]
    assert again["counts"]["skipped"] == odd["counts"]["skipped"]


@pytest.mark.parametrize(
    ("kind", "code"),
    [("missing", "source_not_found"), ("empty git", "source_empty"), ("empty folder", "source_empty"),
     ("file", "source_not_found")],
)  # fmt: skip
def test_invalid_sources_are_refused(
    shared_stack: RunningStack, tmp_path: Path, kind: str, code: str
) -> None:
    folder = tmp_path / "a source"
    if kind == "file":
        folder.write_text("not a folder\n")
    elif kind != "missing":
        folder.mkdir()
    if kind == "empty git":
        subprocess.run(["git", "init", "--quiet", folder], check=True)
    error = shared_stack.prism_json("index", str(folder), "--wait", exit_code=1)["error"]
    assert error["code"] == code
    assert error["next_action"]


@pytest.mark.usefixtures("ledger")
async def test_patterns_of_every_kind_are_answered(shared_stack: RunningStack) -> None:
    invalid = (
        "(", "[", "a{2,1}", "(?<=x)y", r"(a)\1", "*", "a\nb", "(?P<n", "a{", "(?x)a b", r"a\nb", r"\w{1000}",
        "((a{100}){100}){100}", "a{2001}", r"(?-u:\xff)", r"\p{Foo}", r"\x{110000}", "a\0",
    )  # fmt: skip
    async with shared_stack.agent("acme/ledger") as agent:
        for pattern in invalid:
            assert (await agent.fails("grep_code", pattern=pattern, regex=True))["code"] == "invalid_regex", (
                pattern
            )
        assert (await agent.fails("grep_code", pattern=""))["code"] == "empty_query"
        assert (await agent.fails("grep_code", pattern="x" * 100_000))["code"] == "query_too_long"
        # Matches the empty string, and so every line.
        every = await agent.ask("grep_code", pattern="z*", regex=True, path_filter="deploy/service.yaml")
        assert [match["line"] for match in every["matches"]] == [1, 2, 3]
        for hostile in (
            "(a+)+$" * 20,
            "[ab]*a[ab]{990}c",
            "(?:(?:a?){30}){30}zq",
            "(" * 200 + "zq" + ")" * 200,
        ):
            assert (await agent.ask("grep_code", pattern=hostile, regex=True))["complete"], hostile
        for plain in (
            "\x01",
            "\x1b[31m",
            "\r",
            "🦀",
            "\u202e",
            "\ufeff",
            "!@#$%^&*",
            "[[[",
            "\\\\",
            "x" * 1_000,
        ):
            answer = await agent.ask("grep_code", pattern=plain)
            assert (answer["matches"], answer["complete"]) == ([], True), plain
        for empty in ("|", "()", "^", "x*", r"\b|", r"\z"):
            assert (await agent.ask("grep_code", pattern=empty, regex=True, limit=5))["matches"], empty
        for filters in (
            {"path_filter": "none/**"},
            {"path_filter": "["},
            {"path_filter": "\0"},
        ):
            answer = await agent.ask("grep_code", pattern="withdraw", **filters)
            assert (answer["matches"], answer["complete"]) == ([], True), filters
        for glob in ("x" * 2_000, "{" * 30):
            assert (await agent.fails("grep_code", pattern="e", path_filter=glob))[
                "code"
            ] == "invalid_argument"
        none = await agent.ask("grep_code", pattern="no such line anywhere")
        assert (none["matches"], none["complete"]) == ([], True)
        literal = await agent.ask("grep_code", pattern=".*")
        assert literal["complete"]


@pytest.mark.usefixtures("ledger")
async def test_arguments_out_of_bounds_are_refused_or_brought_into_range(shared_stack: RunningStack) -> None:
    async with shared_stack.agent("acme/ledger") as agent:
        for tool, argument in (("search_code", "query"), ("grep_code", "pattern")):
            for limit in ("ten", 1.5):
                error = await agent.fails(tool, **{argument: "withdraw", "limit": limit})
                assert error["code"] == "invalid_argument"
                assert "limit" in error["message"]
            for limit in (0, -1, 1_000_000, "10"):
                assert await agent.ask(tool, **{argument: "withdraw", "limit": limit})
        for limit in (0, -1, 1_000_000):
            assert (await agent.ask("list_files", limit=limit))["files"]
        for cursor in ("forged", "bm90IGEgY3Vyc29y", "\0", "x" * 10_000, "eyJhIjoxfQ=="):
            assert (await agent.fails("grep_code", pattern="e", cursor=cursor))["code"] == "invalid_cursor", (
                cursor
            )
            assert (await agent.fails("list_files", cursor=cursor))["code"] == "invalid_cursor", cursor
        first = await agent.ask("grep_code", pattern="e", limit=2)
        assert first["next_cursor"]
        other = await agent.fails("grep_code", pattern="x", limit=2, cursor=first["next_cursor"])
        assert other["code"] == "invalid_cursor"
        unknown = await agent.fails("search_code", query="x", color="red")
        assert unknown["code"] == "invalid_argument"
        assert "query" in unknown["details"]["accepted"]
        for start, end in ((10_000, 10_001), (5, 4)):
            error = await agent.fails(
                "read_file", file_path="bank/account.py", start_line=start, end_line=end
            )
            assert error["code"] == "invalid_argument"
        assert (await agent.fails("index_status", job="none"))["code"] == "job_not_found"
        assert (await agent.fails("get_function_body", symbol="nothing_of_the_kind"))[
            "code"
        ] == "symbol_not_found"
        near = await agent.fails("read_file", file_path="bank/acount.py")
        assert "bank/account.py" in near["details"]["near"]


@pytest.mark.usefixtures("ledger")
async def test_unknown_repository_error_lists_known_ones(shared_stack: RunningStack) -> None:
    async with shared_stack.agent("no/such") as agent:
        for tool, arguments in (
            ("search_code", {"query": "x"}), ("grep_code", {"pattern": "x"}), ("list_files", {}),
            ("read_file", {"file_path": "x"}), ("index_coverage", {}),
        ):  # fmt: skip
            error = await agent.fails(tool, **arguments)
            assert error["code"] == "repo_not_found"
            assert "acme/ledger" in error["details"]["repositories"]
    missing = shared_stack.prism_json("search", "x", "--repo", "no/such", exit_code=1)
    assert missing["error"]["code"] == "repo_not_found"


@pytest.mark.parametrize(
    "header", [{}, {"Authorization": "Bearer prism_wrong"}, {"Authorization": "Basic eDp5"}]
)
def test_a_missing_or_wrong_token_sees_nothing(shared_stack: RunningStack, header: dict[str, str]) -> None:
    with shared_stack.http() as http:
        del http.headers["Authorization"]
        http.headers.update(header)
        for method, path in (("POST", "/mcp"), ("POST", "/api/v1/search"), ("GET", "/api/v1/repos")):
            answer = http.request(method, path, json={"query": "x"} if method == "POST" else None)
            assert answer.status_code == 401, path
            error = answer.json()["error"]
            assert error.get("data", error)["code"] == "unauthenticated"  # JSON-RPC's code, or Prism's own
            assert "WWW-Authenticate" in answer.headers
        assert http.get("/livez").status_code == 200


def test_invalid_bodies_are_refused(shared_stack: RunningStack) -> None:
    with shared_stack.http() as http:
        for path in ("/api/v1/search", "/api/v1/grep", "/api/v1/ingest/snapshots", "/api/v1/repos"):
            for body in (
                b"",
                b"{",
                b"[]",
                b"null",
                b'{"query": 5}',
                b"\xff\xfe",
                b'{"tenant": "other", "query": "x"}',
            ):
                answer = http.post(path, content=body, headers={"Content-Type": "application/json"})
                assert answer.status_code == 400, (path, body, answer.text)
                assert answer.json()["error"]["code"] == "invalid_argument", (path, body)
        for path, field in (("search", "query"), ("grep", "pattern"), ("grep", "path_filter")):
            half = (
                f'{{"pattern": "x", "{field}": "\\ud800"}}' if path == "grep" else f'{{"{field}": "\\ud800"}}'
            )
            answer = http.post(f"/api/v1/{path}", content=half, headers={"Content-Type": "application/json"})
            assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_argument"), half
        large = http.post("/api/v1/search", json={"query": "x" * (2 * MIB)})
        assert (large.status_code, large.json()["error"]["code"]) == (413, "payload_too_large")
        pack = http.post(
            "/api/v1/ingest/snapshots/none/packs", content=b"x", headers={"X-Prism-Pack": "0" * 64}
        )
        assert (pack.status_code, pack.json()["error"]["code"]) == (404, "job_not_found")


async def test_concurrent_bad_questions_do_not_delay_good_ones(shared_stack: RunningStack, ledger) -> None:
    async with shared_stack.agent("acme/ledger") as agent:
        bad = [asyncio.create_task(agent.fails("search_code", query="x" * 50_000)) for _ in range(20)]
        good = await agent.ask("search_code", query="transfer_funds")
        assert good["results"][0]["file_path"] == "bank/account.py"
        assert {error["code"] for error in await asyncio.gather(*bad)} == {"query_too_long"}
