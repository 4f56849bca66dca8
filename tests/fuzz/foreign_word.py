"""A check that Schemathesis runs on each response: it has no word of the other tenant. Runs in its environment."""

import os
from pathlib import Path

import schemathesis

FOREIGN = os.environ["FUZZ_FOREIGN"]
SEEN = Path(os.environ["FUZZ_SEEN"])


@schemathesis.check
def no_foreign_word(ctx, response, case):
    """Fails if the body or a header has the word, and counts the response."""
    with SEEN.open("a") as seen:
        seen.write(f"{case.method} {case.path} {response.status_code}\n")
    text = response.content.decode("utf-8", "replace") + str(response.headers)
    assert FOREIGN not in text.lower(), text
