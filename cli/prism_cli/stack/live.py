"""The current state of the processes of a running stack, independent of the supervisor's last record."""

import time
from collections.abc import Mapping
from typing import Any

from prism_cli.stack import probes
from prism_cli.stack.layout import DataDir

# States that the supervisor knows better than a probe.
KNOWN = frozenset({"hung, restarting", "died, restarting", "stopped", "starting"})
# The supervisor touches its state file every second.
SUPERVISOR_SILENT_S_MAX = 5.0


def supervisor_problem(data: DataDir, state: Mapping[str, Any]) -> str:
    """Returns why the supervisor is not reliable, empty if it is. `state`: the contents of
    supervisor.json.
    """
    try:
        silent_s = time.time() - data.supervisor_file.stat().st_mtime
    except OSError:  # it is starting, and has not written its state yet
        return ""
    is_watching = state.get("state") != "stopping"
    if is_watching and silent_s > SUPERVISOR_SILENT_S_MAX:
        return f"has not answered for {silent_s:.0f} s; services that die or hang are not replaced"
    return ""


def problems(services: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Returns why each service is not ready, empty if it is. Takes at most `probes.ANSWER_SECONDS_MAX`.

    `services`: as in supervisor.json.
    """
    known = {name: _known_problem(facts) for name, facts in services.items()}
    open_probes = {
        name: probes.probe_for(name, services[name]["port"]) for name, problem in known.items() if not problem
    }
    return known | probes.ask_all(open_probes)


def _known_problem(facts: Mapping[str, Any]) -> str:
    state = str(facts.get("state", ""))
    if state in KNOWN:
        return f"{state} ({facts['problem']})"
    return "not running" if facts["pid"] is None or facts["port"] is None else ""
