"""How the processes of a running stack are now, whatever the supervisor last wrote about them."""

import time
from collections.abc import Mapping
from typing import Any

from prism_cli.stack import probes
from prism_cli.stack.layout import DataDir

# States in which the supervisor already knows better than a question could tell.
KNOWN = frozenset({"hung, restarting", "died, restarting", "stopped", "starting"})
# The supervisor touches its state file every second.
SUPERVISOR_SILENT_S_MAX = 5.0


def supervisor_problem(data: DataDir, state: Mapping[str, Any]) -> str:
    """Why the supervisor cannot be relied on, empty if it can. `state`: what is in supervisor.json."""
    try:
        silent_s = time.time() - data.supervisor_file.stat().st_mtime
    except OSError:  # it starts, and has not written it yet
        return ""
    is_watching = state.get("state") != "stopping"
    if is_watching and silent_s > SUPERVISOR_SILENT_S_MAX:
        return f"has not answered for {silent_s:.0f} s; services that end or hang are not replaced"
    return ""


def problems(services: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Why each is not ready, empty if it is. `services`: as in supervisor.json. Takes `probes.ANSWER_SECONDS_MAX` at most."""
    known = {name: _known_problem(facts) for name, facts in services.items()}
    questions = {
        name: probes.question_for(name, services[name]["port"])
        for name, problem in known.items()
        if not problem
    }
    return known | probes.ask_all(questions)


def _known_problem(facts: Mapping[str, Any]) -> str:
    state = str(facts.get("state", ""))
    if state in KNOWN:
        return f"{state} ({facts['problem']})"
    return "not running" if facts["pid"] is None or facts["port"] is None else ""
