"""`prism grep`, `read`, `references`, `symbols` and `outline`: the answers of the tools that agents call."""

from typing import Any

from prism_cli import terminal
from prism_cli.client import Prism, ToolAnswer
from prism_cli.target import ServerTarget


async def ask(target: ServerTarget, tool: str, arguments: dict[str, Any]) -> ToolAnswer:
    """Call a tool. Empty arguments have their default."""
    given = {name: value for name, value in arguments.items() if value != ""}
    async with Prism(target) as prism:
        return await prism.call_tool(tool, given)


def show(answer: ToolAnswer) -> None:
    """Print the text as agents read it."""
    terminal.out.print(terminal.printable(answer.text), markup=False, soft_wrap=True)
