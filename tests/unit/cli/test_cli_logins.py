import base64
import json
import re
import stat
from pathlib import Path

import nkeys
import pytest
from typer.testing import CliRunner

from prism_cli.exits import CommandError
from prism_cli.logins import accounts
from prism_cli.main import app
from prism_contracts.access import SERVICES


def logins(folder: Path, *options: str) -> list[str]:
    done = CliRunner().invoke(app, ["nats-logins", str(folder), *options, "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)["written"]


def texts(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in folder.iterdir()}


def test_each_user_has_a_key_and_accounts_name_its_public_half(tmp_path: Path):
    logins(tmp_path / "new" / "logins")
    found = texts(tmp_path / "new" / "logins")
    assert found.keys() == {*(f"{user}.nk" for user in accounts.USERS), "accounts.conf", "kubernetes.yaml"}
    for user in accounts.USERS:
        seed = found[f"{user}.nk"].strip()
        public = nkeys.from_seed(bytearray(seed.encode())).public_key.decode()
        assert f"nkey: {public}" in found["accounts.conf"]
        assert seed not in found["accounts.conf"]


def test_only_the_owner_reads_the_files(tmp_path: Path):
    logins(tmp_path / "logins", "--tls")
    assert stat.S_IMODE((tmp_path / "logins").stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "logins").iterdir()} == {0o600}


def test_a_second_run_keeps_keys_and_renews_permissions(tmp_path: Path):
    logins(tmp_path, "--tls", "--host", "nats")
    before = texts(tmp_path)
    assert logins(tmp_path, "--tls", "--host", "nats") == []
    (tmp_path / "accounts.conf").write_text("# accounts.conf from an earlier release")
    assert logins(tmp_path, "--tls", "--host", "nats") == ["accounts.conf"]
    assert texts(tmp_path) == before


def test_new_hosts_get_a_new_certificate_of_the_same_authority(tmp_path: Path):
    logins(tmp_path, "--tls", "--host", "nats")
    changed = logins(tmp_path, "--tls", "--host", "nats", "--host", "127.0.0.1")
    assert sorted(changed) == ["kubernetes.yaml", "server.crt", "server.key"]


def test_the_secret_holds_what_the_cluster_needs_and_no_more(tmp_path: Path):
    logins(tmp_path, "--tls", "--namespace", "elsewhere")
    text = (tmp_path / "kubernetes.yaml").read_text()
    data = dict(re.findall(r"^  (\S+): (\S+)$", text.partition("\ndata:\n")[2], re.MULTILINE))
    assert "  name: prism-nats\n  namespace: elsewhere\n" in text
    assert {"ca.crt", "accounts.conf", *(f"{service}.nk" for service in SERVICES)} <= data.keys()
    assert data.keys().isdisjoint({"ca.key", "operator.nk", "system.nk"})
    for name, value in data.items():
        assert base64.b64decode(value).decode() == (tmp_path / name).read_text()


@pytest.mark.parametrize(
    ("name", "code"), [("chunker.nk", "nkey_invalid"), ("ca.crt", "certificate_invalid")]
)
def test_a_broken_file_is_named_and_kept(tmp_path: Path, name: str, code: str):
    logins(tmp_path, "--tls")
    (tmp_path / name).write_text("nonsense")
    with pytest.raises(CommandError, match=name) as caught:
        logins(tmp_path, "--tls")
    assert caught.value.code == code
    assert (tmp_path / name).read_text() == "nonsense"


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CommandError, match="file") as caught:
        logins(tmp_path / "file" / "logins")
    assert caught.value.code == "folder_unusable"
