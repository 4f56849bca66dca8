"""The guide names what spans and log lines contain."""

import re
from pathlib import Path

from prism_gateway.accounting.call_log import TIMES
from prism_runtime.tracing import Attribute

PAGE = (Path(__file__).parents[3] / "docs" / "guides" / "traces-and-logs.md").read_text(encoding="utf-8")


def rows_after(heading: str) -> set[str]:
    """Returns the names in the first column of the table below a heading."""
    part = PAGE.partition(heading)[2].partition("\n#")[0]
    return {
        name
        for row in re.findall(r"^\| (`[^|]*) \|", part, re.MULTILINE)
        for name in re.findall(r"`([^`]+)`", row)
    }


def test_every_attribute_is_listed_and_no_other() -> None:
    assert rows_after("### Attributes") == set(Attribute)


def test_every_time_of_a_search_is_listed() -> None:
    assert set(TIMES) <= rows_after("## Logs")
