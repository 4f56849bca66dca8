import json
import subprocess
from pathlib import Path

from prism_cli.stack import nats
from prism_cli.stack.layout import DataDir


def test_nats_server_accepts_the_configuration(tmp_path: Path):
    data = DataDir(tmp_path / 'a "b" \\ é')
    data.create()
    config = nats.write_config(data, 4222)
    checked = subprocess.run([nats.binary(), "-t", "-c", config], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def test_nats_listens_on_loopback_with_a_token(tmp_path: Path):
    text = nats.config(DataDir(tmp_path), -1, "s3cret")
    assert 'listen: "127.0.0.1:-1"' in text
    assert 'token: "s3cret"' in text
    assert 'sync_interval: "1s"' in text
    assert "http" not in text


def test_the_port_is_that_of_this_process(tmp_path: Path):
    data = DataDir(tmp_path)
    data.create()
    assert nats.port_of(data, 7) is None
    nats.ports_file(data, 7).write_text("{")
    assert nats.port_of(data, 7) is None
    nats.ports_file(data, 7).write_text(json.dumps({"nats": ["nats://127.0.0.1:41234"]}))
    assert nats.port_of(data, 7) == 41234
    assert nats.port_of(data, 8) is None
