"""What answers cost an agent, per arm: sets up, runs an agent on each batch of questions, scores, prints the table.

    python -m bench.agents.main --repos CLONES --agent "my-agent --task {brief}" [--arms prism,rg]

`--repos` is a folder with a clone per repository, named as in the questions and at their revisions. The agent is any
command that runs a shell: `{brief}` is replaced by a file with its task, which names the command that it may use and the
file for its answers (`{answers}`). An agent without a model gets `{state}` and `{questions}` as well. `--keep` sets up a stack, prints the briefs and stops, for agents that a person starts;
`--score FOLDER` scores what they left.
"""

import argparse
import asyncio
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.agents.arms import State
from bench.agents.ask import read_log
from bench.agents.questions import QUESTIONS, Question, brief, load
from bench.agents.report import costs, table
from bench.agents.score import read_answers, scores
from bench.measure_graph import until_built
from bench.measure_index import index_folder
from bench.sections import AGENTS_SECTION, write_section
from bench.stack import Stack, running_stack
from prism_cli.client import Prism

BATCH = 12
AGENT_SECONDS_MAX = 3_600
ABOUT = """Written by `make bench-agents`. Agents answered the same questions about repositories that nothing was tuned to, each
with the tools of one arm only: Prism over MCP; `rg`, `read` and `ls`; further arms as their names say. Answers are
places. The score is the recall of the places worked out by hand, times the share of given places that are right.
Tokens are the characters of all tool output / 4; reading the list of tools is not counted."""
STATE = "state.json"
LOG = "log.jsonl"


def main() -> None:
    """Run what the options say."""
    options = _options()
    questions = load(options.questions, split=options.split)
    folder = Path(options.score or options.out or tempfile.mkdtemp(prefix="prism-agents-"))
    folder.mkdir(parents=True, exist_ok=True)
    if not options.score:
        with running_stack(folder / "stack", keep=options.keep) as stack:
            _set_up(stack, folder, questions, options)
            if options.keep:
                _print_briefs(folder, questions, options)
                return
            _run_agents(folder, questions, options)
    result = _result(folder, questions, options.arms)
    print(result)
    if options.page:
        write_section(options.page, AGENTS_SECTION, f"{ABOUT}\n\n{result}")


def _set_up(stack: Stack, folder: Path, questions: Sequence[Question], options: argparse.Namespace) -> None:
    """Index the clones, and write the state that `ask` reads."""
    state = State(
        url=stack.target.url,
        token=stack.target.token,
        repos=str(options.repos.resolve()),
        questions=str(options.questions.resolve()),
        log=str((folder / LOG).resolve()),
        commands={
            name: shlex.split(command) for name, _, command in (one.partition("=") for one in options.arm)
        },
    )
    (folder / STATE).write_text(state.model_dump_json(indent=1), encoding="utf-8")
    for repo in dict.fromkeys(one.repo for one in questions):
        asyncio.run(_index(stack, options.repos / repo, f"{state.owner}/{repo}"))


async def _index(stack: Stack, clone: Path, repo: str) -> None:
    async with Prism(stack.target) as prism:
        await index_folder(prism, clone, repo)
    await until_built(stack, repo)


def _run_agents(folder: Path, questions: Sequence[Question], options: argparse.Namespace) -> None:
    for arm, number, file in _briefs(folder, questions, options):
        files = {"brief": file, "answers": file.with_suffix(".answers"), "state": folder / STATE}
        command = [word.format(**files, questions=options.questions) for word in shlex.split(options.agent)]
        print(f"{arm}, batch {number}: {shlex.join(command)}", file=sys.stderr)
        subprocess.run(command, timeout=AGENT_SECONDS_MAX, check=True)


def _print_briefs(folder: Path, questions: Sequence[Question], options: argparse.Namespace) -> None:
    for arm, number, file in _briefs(folder, questions, options):
        print(f"{arm}, batch {number}: {file}")
    print(f"Then: python -m bench.agents.main --repos {options.repos} --score {folder}")


def _briefs(
    folder: Path, questions: Sequence[Question], options: argparse.Namespace
) -> Iterator[tuple[str, int, Path]]:
    """Writes the task of each arm and batch, and returns its file. All arms have the same batches."""
    for arm in options.arms:
        for number, start in enumerate(range(0, len(questions), options.batch), 1):
            batch = questions[start : start + options.batch]
            command = shlex.join([sys.executable, "-m", "bench.agents.ask", str(folder / STATE), arm])
            file = folder / f"{arm}-{number}.md"
            file.write_text(brief(batch, command, folder / f"{arm}-{number}.answers"), encoding="utf-8")
            yield arm, number, file


def _result(folder: Path, questions: Sequence[Question], arms: Sequence[str]) -> str:
    log = list(read_log(folder / LOG))
    found = {}
    for arm in arms:
        texts = (file.read_text(encoding="utf-8") for file in sorted(folder.glob(f"{arm}-*.answers")))
        found[arm] = costs(questions, scores(questions, read_answers("\n".join(texts))), log, arm)
    return table(questions, found)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--split", default="", help="dev or held_out; default: all")
    parser.add_argument("--repos", type=Path, required=True, help="folder with the clones")
    parser.add_argument("--agent", default="", help="command with {brief}")
    parser.add_argument("--arms", type=lambda text: text.split(","), default=["prism", "rg"])
    parser.add_argument("--arm", action="append", default=[], metavar="NAME=COMMAND", help="a further arm")
    parser.add_argument("--batch", type=int, default=BATCH)
    parser.add_argument("--out", type=Path, help="folder for briefs, answers and the log")
    parser.add_argument("--keep", action="store_true", help="set up, print the briefs, keep the stack")
    parser.add_argument("--score", type=Path, help="score the answers in this folder")
    parser.add_argument("--page", type=Path, help="page with a section that gets the table")
    options = parser.parse_args()
    if not (options.agent or options.keep or options.score):
        parser.error("give --agent, --keep or --score")
    return options


if __name__ == "__main__":
    main()
