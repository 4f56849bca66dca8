"""What the processes of a running stack say of themselves now, whatever the supervisor last wrote of them."""

from collections.abc import Mapping
from typing import Any

from prism_cli.stack import probes

# States in which the supervisor already knows better than a question could tell.
KNOWN = frozenset({"hung, restarting", "died, restarting", "stopped", "starting"})


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
