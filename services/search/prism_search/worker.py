"""A child process that matches one line.

Reads the pattern as JSON from the first line of stdin, and the line from the rest. Writes `1` or `0` to
stdout. The engine blocks its process while it matches and cannot be interrupted, so lines that may take
seconds get a process of their own. Imports only the engine, because each such line starts a process.
"""

import json
import os
import sys

from pydantic_core import SchemaValidator, core_schema

NICENESS = 10  # quick questions go first


def main() -> None:
    """Matches the line and prints the result."""
    os.nice(NICENESS)
    source = json.loads(sys.stdin.buffer.readline())
    line = sys.stdin.buffer.read().decode()
    schema = core_schema.str_schema(pattern=source, regex_engine="rust-regex", strict=True)
    print(int(SchemaValidator(schema).isinstance_python(line)))  # noqa: T201 - the answer


if __name__ == "__main__":
    main()
