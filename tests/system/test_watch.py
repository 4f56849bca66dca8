"""`prism watch` as a process: saved files are found while it runs, and Ctrl-C closes its overlay."""

import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from running_stack import COMMAND_SECONDS_MAX, Json, RunningStack, wait_until
from source_repos import GitRepo

NAME = "acme/watched"
SAVED = "bank/dues.py"


@contextmanager
def running(stack: RunningStack, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Starts a command in the background, which does not outlive the test."""
    process = stack.begin(*arguments)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_saved_files_are_found_until_the_watch_ends(
    shared_stack: RunningStack, make_repo: Callable[..., GitRepo]
) -> None:
    repo = make_repo()
    shared_stack.index(repo.folder, "--name", NAME)
    with running(shared_stack, "watch", str(repo.folder), "--name", NAME) as watching:
        assert watching.stderr is not None
        lines = iter(watching.stderr.readline, "")
        handle = next(found.group() for line in lines if (found := re.search(r"overlay:\w+", line)))

        def search(exit_code: int = 0) -> Json:
            question = "settle_quarterly_dues", "--repo", NAME, "--ref", handle
            return shared_stack.prism_json("search", *question, exit_code=exit_code)

        def is_found() -> bool:
            return SAVED in {hit["file_path"] for hit in search()["results"]}

        assert not is_found()
        repo.write({SAVED: "def settle_quarterly_dues():\n    return 4\n"})
        wait_until(is_found, what="the saved file is found")

        watching.send_signal(signal.SIGINT)
        assert watching.wait(COMMAND_SECONDS_MAX) == 0
        assert "The overlay is closed." in watching.stderr.read()
        assert search(exit_code=1)["error"]["code"] == "ref_not_found"
