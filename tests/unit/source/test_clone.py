"""Clones, from file URLs: the rules allow them here."""

import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

from prism_contracts.errors import ErrorCode, PrismError
from prism_source import clone as clone_module
from prism_source import transfer as transfer_module
from prism_source.clone import CloneRules, check_url, mirror, remote_refs
from prism_source.git import ProcessLimits, isolated_environment, run_git
from prism_source.gittree import snapshot_git

RULES = CloneRules(schemes=frozenset({"file"}))


@pytest.fixture
def url(repo) -> str:
    return f"file://{repo.folder}"


def refusal(url, folder, rules=RULES, **options) -> PrismError:
    with pytest.raises(PrismError) as caught:
        mirror(url, folder, rules, **options)
    assert caught.value.body.next_action
    return caught.value


def test_the_default_branch_comes_with_its_files(repo, url, tmp_path):
    repo.commit(**{"a.py": "old\n"})
    commit = repo.commit(**{"a.py": "1\n", "sub/b.py": "2\n"})
    made = mirror(url, tmp_path / "mirror", RULES)
    assert (made.commit, made.ref, made.source.name) == (commit, "main", f"{repo.folder.parent.name}/repo")
    with snapshot_git(made.git_dir) as snapshot:
        assert (snapshot.commit, snapshot.ref) == (commit, "main")
        assert [snapshot.read(ordinal) for ordinal in range(2)] == [b"1\n", b"2\n"]


def test_branches_tags_and_commits_are_fetched(repo, url, tmp_path):
    first = repo.commit(**{"a.py": "1\n"})
    repo.git("tag", "--annotate", "v1", "--message", "one")
    repo.git("branch", "topic/x")
    second = repo.commit(**{"a.py": "2\n"})
    folder = tmp_path / "mirror"
    for ref, expected in (("v1", (first, "v1")), ("topic/x", (first, "topic/x")), (second, (second, ""))):
        made = mirror(url, folder, RULES, ref=ref)
        assert (made.commit, made.ref) == expected
        with snapshot_git(folder, made.ref or made.commit) as snapshot:
            assert snapshot.commit == made.commit


def test_a_mirror_follows_a_rewritten_history(repo, url, tmp_path):
    repo.commit(**{"a.py": "1\n"})
    mirror(url, tmp_path / "mirror", RULES)
    repo.git("checkout", "--quiet", "--orphan", "new")
    commit = repo.commit(**{"a.py": "2\n"})
    repo.git("branch", "--force", "main", "new")
    repo.git("checkout", "--quiet", "main")
    assert mirror(url, tmp_path / "mirror", RULES).commit == commit


def test_an_unknown_ref_is_refused_with_similar_names(repo, url, tmp_path):
    repo.commit(**{"a.py": "1\n"})
    repo.git("branch", "release")
    error = refusal(url, tmp_path / "mirror", ref="relase")
    assert error.code is ErrorCode.REF_NOT_FOUND
    assert error.body.details["suggestions"] == ["release"]
    assert refusal(url, tmp_path / "mirror", ref="--upload-pack=x").code is ErrorCode.REF_NOT_FOUND
    assert not (tmp_path / "mirror").exists()


def test_empty_and_missing_repositories_are_errors(repo, url, tmp_path):
    assert refusal(url, tmp_path / "mirror").code is ErrorCode.SOURCE_EMPTY
    error = refusal(f"file://{tmp_path}/nowhere", tmp_path / "mirror")
    assert error.code is ErrorCode.CLONE_FAILED
    assert not (tmp_path / "mirror").exists()


def test_a_file_url_is_refused_by_default(url, tmp_path):
    assert refusal(url, tmp_path / "mirror", CloneRules()).code is ErrorCode.CLONE_REFUSED


def test_the_size_is_limited(repo, url, tmp_path):
    repo.write("noise", os.urandom(300_000))
    repo.commit()
    rules = CloneRules(schemes=frozenset({"file"}), bytes_max=100_000)
    assert refusal(url, tmp_path / "mirror", rules).code is ErrorCode.PAYLOAD_TOO_LARGE
    assert not (tmp_path / "mirror").exists()


def test_the_time_is_limited_and_children_are_killed(repo, url, tmp_path, monkeypatch):
    repo.commit(**{"a.py": "1\n"})
    slow = tmp_path / "bin/git"
    slow.parent.mkdir()
    slow.write_text(f"#!/bin/sh\nsleep 300 &\necho $! > {tmp_path}/child\nwait\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    started = time.monotonic()
    rules = CloneRules(schemes=frozenset({"file"}), seconds_max=0.5)
    assert refusal(url, tmp_path / "mirror", rules).code is ErrorCode.DEADLINE_EXCEEDED
    assert time.monotonic() - started < 150  # half of what git would take
    child = int((tmp_path / "child").read_text())
    for _ in range(100):
        if _is_gone(child):
            break
        time.sleep(0.02)
    assert _is_gone(child)


def _is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"
    except FileNotFoundError:
        return True


def test_a_mirror_whose_fetch_was_killed_is_used_again(repo, url, tmp_path):
    repo.commit(**{"a.py": "1\n"})
    folder = tmp_path / "mirror"
    mirror(url, folder, RULES)
    commit = repo.commit(**{"a.py": "2\n"})
    for left in ("shallow.lock", "refs/heads/main.lock", "objects/pack/tmp_pack_x"):
        (folder / left).write_bytes(b"")
    assert mirror(url, folder, RULES).commit == commit
    assert not (folder / "objects/pack/tmp_pack_x").exists()


def test_progress_is_reported(repo, url, tmp_path):
    repo.commit(**{f"{number}.txt": f"{number}\n" for number in range(50)})
    steps = []
    mirror(url, tmp_path / "mirror", RULES, on_progress=steps.append)
    assert steps
    assert all(0 <= step.percent <= 100 for step in steps)


def test_hooks_of_the_mirror_do_not_run(repo, url, tmp_path):
    repo.commit(**{"a.py": "1\n"})
    folder = tmp_path / "mirror"
    mirror(url, folder, RULES)
    hook = folder / "hooks/reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    repo.commit(**{"a.py": "2\n"})
    mirror(url, folder, RULES)
    assert not (tmp_path / "ran").exists()


def test_only_the_checked_addresses_are_used():
    rules = CloneRules(allow_private=True)
    https = check_url("https://user:hunter2@127.0.0.1:8443/a/b", rules)
    options = list(transfer_module._options(https, rules))
    assert "http.curloptResolve=127.0.0.1:8443:127.0.0.1" in options
    assert "http.followRedirects=false" in options
    assert {"protocol.allow=never", "protocol.https.allow=always"} <= set(options)
    assert not any("hunter2" in option for option in options)
    assert (
        transfer_module._environment(https, rules, "")["GIT_CONFIG_VALUE_0"]
        == "Authorization: Basic dXNlcjpodW50ZXIy"
    )
    ssh = transfer_module._environment(check_url("ssh://git@127.0.0.1:2222/a/b", rules), rules, "")
    assert "-oHostName=127.0.0.1 '-oHostKeyAlias=[127.0.0.1]:2222'" in ssh["GIT_SSH_COMMAND"]
    assert transfer_module._transport_url(check_url("git://[::1]/a/b", rules)) == "git://[::1]:9418/a/b"


def test_git_sees_nothing_of_its_operator(monkeypatch):
    for name in ("SSH_AUTH_SOCK", "XDG_CONFIG_HOME", "PRISM_NATS_TOKEN", "PRISM_SECRETS_KEY", "GIT_SSH"):
        monkeypatch.setenv(name, "hunter2")
    monkeypatch.setenv("HOME", "/home/hunter2")
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    environment = isolated_environment()
    assert not any("hunter2" in value for value in environment.values())
    assert {"PATH", "https_proxy"} <= set(environment)


def test_an_ssh_url_without_a_key_is_refused(tmp_path):
    rules = CloneRules(allow_private=True)
    for credentials in ("", "git:password"):
        error = refusal("git@127.0.0.1:a/b", tmp_path / "mirror", rules, credentials=credentials)
        assert error.code is ErrorCode.CLONE_REFUSED
        assert "prism secrets" in error.body.next_action


SSH = """#!/bin/sh
env > $0.environment
for argument; do
    echo "$argument"
    case "$argument" in -oIdentityFile=*) file=${argument#*=\\"}; ls -l "${file%\\"}"; cat "${file%\\"}" ;; esac
done > $0.arguments
exit 1
"""


def test_ssh_has_the_given_key_and_nothing_else(tmp_path, monkeypatch):
    ssh = tmp_path / "ssh"
    ssh.write_text(SSH.replace("\\\\", "\\"))
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/run/agent")
    key = "-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2\n-----END OPENSSH PRIVATE KEY-----"
    rules = CloneRules(allow_private=True)
    refusal("git@127.0.0.1:a/b", tmp_path / "mirror", rules, credentials=f"git:{key}")
    arguments = (tmp_path / "ssh.arguments").read_text()
    assert f"{key}\n" in arguments
    assert "-rw-------" in arguments
    assert {"-F\nnone", "-oIdentitiesOnly=yes", "-oIdentityAgent=none"} <= {
        *arguments.splitlines(),
        arguments[:7],
    }
    assert "SSH_AUTH_SOCK" not in (tmp_path / "ssh.environment").read_text()
    assert not list(Path(tempfile.gettempdir()).glob("prism-key-*"))


def test_git_has_limits_of_memory_and_time(repo, tmp_path, monkeypatch):
    git = tmp_path / "bin/git"
    git.parent.mkdir()
    git.write_text("#!/bin/sh\nulimit -d; ulimit -t\n")
    git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{git.parent}:{os.environ['PATH']}")
    limits = ProcessLimits(memory_bytes_max=256 * 1024**2, cpu_s_max=7)
    limits_shown = run_git(tmp_path, "version", environment=isolated_environment(), limits=limits)
    assert limits_shown.split() == [b"262144", b"7"]


def test_errors_contain_no_credentials():
    source = check_url("https://user:hunter2@127.0.0.1/a/b", CloneRules(allow_private=True))
    stderr = (
        "remote: hunter2 is wrong\nfatal: unable to access 'https://user:hunter2@127.0.0.1/a/b/': "
        "The requested URL returned error: 403\n"
    )
    error = clone_module._failed(stderr, source)
    assert "hunter2" not in error.body.model_dump_json()
    assert "token" in error.body.next_action
    moved = clone_module._failed("fatal: unable to access 'x': The requested URL returned error: 301", source)
    assert "moved" in moved.body.next_action
    assert "***" in transfer_module.reason_given("fatal: hunter2", source)


def test_existing_commits_are_not_fetched_again(repo, url, tmp_path, monkeypatch):
    commit = repo.commit(**{"a.py": "1\n"})
    folder = tmp_path / "mirror"
    mirror(url, folder, RULES)

    def no_fetch(*_):
        raise AssertionError("fetched")

    monkeypatch.setattr(clone_module, "_fetch", no_fetch)
    assert mirror(url, folder, RULES).commit == commit
    # A commit that exists locally needs no server at all.
    repo.folder.rename(tmp_path / "away")
    assert mirror(url, folder, RULES, ref=commit).commit == commit


def test_an_update_is_as_small_as_the_change(repo, url, tmp_path):
    files = {f"{number}.txt": os.urandom(20_000).hex() for number in range(20)}
    repo.commit(**files)
    folder = tmp_path / "mirror"
    mirror(url, folder, RULES)
    repo.commit(**{"0.txt": "small\n"})
    before = {pack: pack.stat().st_size for pack in folder.glob("objects/pack/*.pack")}
    mirror(url, folder, RULES)
    added = set(folder.glob("objects/pack/*.pack")) - set(before)
    assert sum(pack.stat().st_size for pack in added) < 5_000 < sum(before.values())


def test_history_is_fetched_to_the_requested_depth(repo, url, tmp_path):
    for number in range(5):
        repo.commit(**{"a.py": f"{number}\n"})
    folder = tmp_path / "mirror"
    for depth in (1, 3, 3):  # with the next commit an older mirror is deepened
        repo.commit(**{"b.py": f"{depth} {time.monotonic()}\n"})
        mirror(url, folder, replace(RULES, depth=depth))
        count = run_git(folder, "rev-list", "--count", "main", environment=isolated_environment())
        assert int(count) == depth


def test_the_head_of_a_remote_is_read_without_fetching(repo, url):
    first = repo.commit(**{"a.py": "1\n"})
    repo.git("tag", "--annotate", "v1", "--message", "one")
    repo.git("branch", "topic")
    second = repo.commit(**{"a.py": "2\n"})
    repo.git("update-ref", "refs/pull/7/head", first)
    refs = remote_refs(url, RULES, extra_refs=["refs/pull/7/head", "refs/pull/8/head"])
    assert refs.resolve("") == second
    assert refs.resolve("topic") == refs.resolve("v1") == refs.commit("refs/pull/7/head") == first
    assert (refs.commit("refs/pull/8/head"), refs.resolve("f" * 40)) == ("", "f" * 40)
    with pytest.raises(PrismError) as caught:
        refs.resolve("nowhere")
    assert caught.value.code is ErrorCode.REF_NOT_FOUND


def test_other_refs_are_fetched_by_their_full_name(repo, url, tmp_path):
    first = repo.commit(**{"a.py": "1\n"})
    repo.git("update-ref", "refs/pull/7/head", first)
    repo.commit(**{"a.py": "2\n"})
    mirrored = mirror(url, tmp_path / "mirror", RULES, ref="refs/pull/7/head")
    assert (mirrored.commit, mirrored.ref) == (first, "refs/pull/7/head")


def test_a_commit_lost_by_a_forced_push_is_an_error(repo, url, tmp_path):
    repo.commit(**{"a.py": "1\n"})
    with pytest.raises(PrismError) as caught:
        mirror(url, tmp_path / "mirror", RULES, ref="f" * 40)
    assert caught.value.code is ErrorCode.REF_NOT_FOUND


def test_separate_credentials_are_used_and_hidden(repo):
    rules = CloneRules(allow_private=True, seconds_max=20)
    source = transfer_module.with_credentials(
        check_url("http://127.0.0.1:1/a/b", rules), "ada:hunter2", clone_module._needs_key
    )
    assert (
        transfer_module._environment(source, rules, "")["GIT_CONFIG_VALUE_0"]
        == "Authorization: Basic YWRhOmh1bnRlcjI="
    )
    assert "hunter2" not in repr(source) + source.url
