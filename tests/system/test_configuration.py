"""Settings in `prism.toml` reach every process of `prism up`."""

import re
from pathlib import Path

import pytest
from git_server import git_server
from running_stack import RunningStack
from source_repos import GitRepo

FILE_BYTES_MAX = 40
DEBUGGED = ("ingest", "chunker", "embedder", "indexer", "search", "atlas", "workspace", "scribe")


@pytest.fixture
def configured(tmp_path: Path) -> RunningStack:
    return RunningStack(tmp_path / "data", PRISM_CONFIG=str(tmp_path / "prism.toml"))


def test_set_values_reach_every_service(configured: RunningStack, tmp_path: Path):
    for key, value in {"log_level": "DEBUG", "file_bytes_max": str(FILE_BYTES_MAX)}.items():
        assert configured.prism("config", "set", key, value).returncode == 0
    project = tmp_path / "project"
    project.mkdir()
    (project / "short.py").write_text("def short(): return 1\n")
    (project / "long.py").write_text(f"def long(): return '{'x' * FILE_BYTES_MAX}'\n")
    configured.up()
    try:
        job = configured.index(project, "--name", "acme/configured")
        assert (job["counts"]["indexed"], job["counts"]["skipped"]) == (1, 1)
        configured.prism_json("search", "short")
        for service in DEBUGGED:
            log = (configured.data / "logs" / f"{service}.log").read_text()
            assert '"level": "debug"' in log, service
    finally:
        configured.down()


def test_the_advice_of_a_refused_clone_takes_effect_at_the_next_up(configured: RunningStack, tmp_path: Path):
    GitRepo(tmp_path / "root" / "owner" / "name", {"app.py": "def served_from_home(): return 1\n"})
    configured.up()
    try:
        with git_server(tmp_path / "root") as url:
            for setting in ("PRISM_CLONE_SCHEMES", "PRISM_CLONE_ALLOW_PRIVATE"):
                refused = configured.prism_json("index", f"{url}/owner/name/.git", "--wait", exit_code=1)
                assert refused["error"]["code"] == "clone_refused"
                assert setting in refused["error"]["message"]
                [advice] = re.findall("`prism (config set [^`]*)`", refused["error"]["next_action"])
                assert configured.prism(*advice.split()).returncode == 0
                configured.down()
                configured.up()
            job = configured.index(f"{url}/owner/name/.git", "--name", "acme/home")
            assert job["state"] == "complete"
    finally:
        configured.down()


def test_up_refuses_an_invalid_file_before_anything_starts(configured: RunningStack, tmp_path: Path):
    (tmp_path / "prism.toml").write_text('# mine\nlog_levle = "DEBUG"\n')
    done = configured.prism("up", "--detach", "--port", "0")
    assert done.returncode == 2
    assert f"{tmp_path / 'prism.toml'}:2: There is no setting log_levle." in done.stderr
    assert not configured.data.exists()
