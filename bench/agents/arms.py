"""The tools of each arm. Each call returns the text that an agent reads."""

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import httpx2

from bench.agents.questions import Model
from bench.measure_peers import ripgrep_binary

TIMEOUT_S = 120
PROTOCOL = "2025-06-18"
# Tools that change an index are no part of the task.
WRITES = frozenset(
    {"index_repository", "create_branch_index", "delete_branch_index", "open_overlay", "close_overlay"}
)


class State(Model):
    """What the set-up leaves for `ask`: where Prism answers, where the clones are, and commands of further arms."""

    url: str = ""
    token: str = ""
    owner: str = "agents"
    repos: str
    questions: str
    log: str
    # By arm: a command that runs in the clone, with the agent's words as its arguments.
    commands: dict[str, list[str]] = {}


class Usage(Exception):  # noqa: N818 - not a failure: its text is the answer
    """A call that no tool takes. The text says what is possible."""


Tool = Callable[[State, str, Sequence[str]], str]


class Arm(NamedTuple):
    """The verbs of an arm, and what they take."""

    tools: Mapping[str, Tool]
    usage: str


def run(state: State, arm: str, repo: str, verb: str, words: Sequence[str]) -> str:
    """Returns the text of one call; the usage for a call that the arm does not have."""
    if arm in state.commands:
        return _command([*state.commands[arm], verb, *words], Path(state.repos) / repo)
    known = ARMS[arm]
    try:
        return known.tools[verb](state, repo, words) if verb in known.tools else known.usage
    except Usage as error:
        return f"{error}\n{known.usage}"


def _list_tools(state: State, repo: str, _: Sequence[str]) -> str:
    """Returns the list of tools as a client passes it to a model."""
    tools = _rpc(state, repo, "tools/list", {})["tools"]
    return "\n".join(
        json.dumps(
            {"name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"]}
        )
        for tool in tools
        if tool["name"] not in WRITES
    )


def _call(state: State, repo: str, words: Sequence[str]) -> str:
    if not words or words[0] in WRITES:
        raise Usage("Name a tool that reads.")
    try:
        arguments = json.loads(words[1]) if len(words) > 1 else {}
    except ValueError as error:
        raise Usage(f"The arguments are not JSON: {error}") from error
    result = _rpc(state, repo, "tools/call", {"name": words[0], "arguments": arguments})
    return "".join(block.get("text", "") for block in result["content"])


def _rpc(state: State, repo: str, method: str, params: dict[str, object]) -> Any:
    headers = {
        "Authorization": f"Bearer {state.token}",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": PROTOCOL,
        "X-Prism-Repo": f"{state.owner}/{repo}",
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    with httpx2.Client(headers=headers, timeout=TIMEOUT_S) as http:
        text = http.post(f"{state.url}/mcp", json=body).text
    answer = json.loads(last_event(text))
    if "error" in answer:
        return {"content": [{"text": json.dumps(answer["error"])}]}
    return answer["result"]


def last_event(text: str) -> str:
    """Returns the data of the last server-sent event, or the text of a plain answer."""
    events = [line.removeprefix("data: ") for line in text.split("\n") if line.startswith("data: ")]
    return events[-1] if events else text


def _rg(state: State, repo: str, words: Sequence[str]) -> str:
    binary = ripgrep_binary()
    if binary is None:
        raise Usage("rg is not installed: see CONTRIBUTING.md.")
    folder = Path(state.repos) / repo
    named = any(not word.startswith("-") and _exists(folder / word) for word in words[1:])
    return _command([binary, "-n", "--no-heading", *map(_inside, words), *([] if named else ["."])], folder)


def _read(state: State, repo: str, words: Sequence[str]) -> str:
    if len(words) != 3 or not all(word.isdecimal() for word in words[1:]):
        raise Usage("read takes FILE FIRST LAST.")
    file = Path(state.repos) / repo / _inside(words[0])
    if not file.is_file():
        return f"no file {words[0]}"
    lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
    first, last = int(words[1]), int(words[2])
    return "\n".join(f"{number}: {line}" for number, line in enumerate(lines[first - 1 : last], first))


def _ls(state: State, repo: str, words: Sequence[str]) -> str:
    folder = Path(state.repos) / repo / _inside(words[0] if words else ".")
    if not folder.is_dir():
        return f"no folder {words[0]}"
    return "\n".join(sorted(f"{one.name}/" if one.is_dir() else one.name for one in folder.iterdir()))


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a long pattern is no name of a file
        return False


def _inside(word: str) -> str:
    """Returns a word that does not lead out of the clone."""
    if not word.startswith("-") and (word.startswith("/") or ".." in Path(word).parts):
        raise Usage("Paths are relative to the repository.")
    return word


def _command(command: Sequence[str], folder: Path) -> str:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {TIMEOUT_S} s"
    return done.stdout + (done.stderr if done.returncode > 1 or not done.stdout else "")


ARMS: Mapping[str, Arm] = {
    "prism": Arm({"tools": _list_tools, "call": _call}, "verbs: tools, call NAME '{\"argument\": value}'"),
    "rg": Arm(
        {"rg": _rg, "read": _read, "ls": _ls}, "verbs: rg ARGUMENTS..., read FILE FIRST LAST, ls [FOLDER]"
    ),
}
