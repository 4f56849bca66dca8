"""The child process that matches one line: the pattern on the first line of stdin as JSON, then the line; `1` or `0` on stdout.

The engine keeps its process from everything else while it matches, and cannot be interrupted: a line that may take seconds
takes only this process with it. Imports no more than the engine, because one is started for each such line.
"""

import json
import os
import sys

from pydantic_core import SchemaValidator, core_schema

NICENESS = 10  # those who wait for quick answers go first


def main() -> None:
    """Match and tell."""
    os.nice(NICENESS)
    source = json.loads(sys.stdin.buffer.readline())
    line = sys.stdin.buffer.read().decode()
    schema = core_schema.str_schema(pattern=source, regex_engine="rust-regex", strict=True)
    print(int(SchemaValidator(schema).isinstance_python(line)))  # noqa: T201 - the answer


if __name__ == "__main__":
    main()
