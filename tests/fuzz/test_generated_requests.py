"""Requests made from the OpenAPI document, also in sequences that use earlier answers."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from two_tenants import CALLS, FOREIGN, OWN, VICTIM, Field

SCHEMATHESIS = Path(sys.prefix) / "fuzz" / "bin" / "st"
SECONDS_MAX = 10
HOOKS = "foreign_word"
# The generator of values knows no classes of Unicode, so it gets the control characters themselves.
CONTROLS = r"\x00-\x1f\x7f-\x9f"
# Schemathesis counts examples per route and sequence, each some requests.
CALLS_PER_EXAMPLE = 60


def test_no_route_breaks_leaks_or_hangs(hostile: Field, flat_memory: None, tmp_path: Path) -> None:
    assert SCHEMATHESIS.exists(), "run `make setup-fuzz`"
    examples = max(5, CALLS // CALLS_PER_EXAMPLE)
    document, seen, settings = (tmp_path / name for name in ("openapi.json", "seen", "schemathesis.toml"))
    with hostile.stack.http() as http:
        document.write_text(json.dumps(with_plain_patterns(http.get("/openapi.json").json())))
    settings.write_text(
        f"""[parameters]
repo = ["{OWN}", "{VICTIM}"]
name = ["{OWN}", "{VICTIM}"]
tenant = ["mallory", "default", ""]
job = {json.dumps([hostile.known[1]])}
"""
    )
    done = subprocess.run(
        [
            *(SCHEMATHESIS, f"--config-file={settings}", "run", str(document)),
            *("--url", hostile.stack.url, "--header", f"Authorization: Bearer {hostile.stack.token}"),
            *("--max-examples", str(examples), "--phases", "fuzzing,stateful", "--mode", "all"),
            *("--checks", "not_a_server_error,no_foreign_word", "--suppress-health-check", "all"),
            *("--max-response-time", str(SECONDS_MAX), "--request-timeout", str(SECONDS_MAX), "--no-color"),
        ],
        env=os.environ
        | {"PYTHONPATH": str(Path(__file__).parent)}
        | {"SCHEMATHESIS_HOOKS": HOOKS, "FUZZ_FOREIGN": FOREIGN, "FUZZ_SEEN": str(seen)},
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout[-6_000:] + done.stderr[-2_000:]
    answered = Counter(line.rpartition(" ")[2] for line in seen.read_text().splitlines())
    assert answered.total() >= CALLS // 4, answered
    assert answered["200"], answered


def with_plain_patterns(schema: Any) -> Any:
    """Returns a schema whose patterns name control characters by number."""
    if isinstance(schema, list):
        return [with_plain_patterns(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: with_plain_patterns(value) for key, value in schema.items()}
    if isinstance(pattern := plain.get("pattern"), str):
        plain["pattern"] = pattern.replace(r"\P{Cc}", f"[^{CONTROLS}]").replace(r"\p{Cc}", CONTROLS)
    return plain
