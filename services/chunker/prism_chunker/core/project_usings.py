"""Reads the namespaces that a C# project file imports for all files of its project.

`<Using Include="Town.Shop" />` imports one namespace, `<ImplicitUsings>` those of the SDK. Each becomes a binding,
like a `global using` in the code.
"""

import re

from prism_contracts.code import GLOBAL_USING, Binding

# The ends of names of project files, and files that apply to every project below their folder.
SUFFIX = ".csproj"
SHARED_FILES = frozenset({"directory.build.props", "directory.build.targets"})
USINGS_MAX = 500
PATH_CHARS_MAX = 200

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_USING = re.compile(r"<Using\s+([^<>]{1,1000})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""(\w+)\s*=\s*["']([^"']*)["']""")
_IMPLICIT = re.compile(r"<ImplicitUsings>\s*(?:enable|true)\s*</ImplicitUsings>", re.IGNORECASE)
_SDK = re.compile(r"""<Project\s+[^<>]*\bSdk\s*=\s*["']([^"']*)["']""", re.IGNORECASE)
_IMPLIED = (
    "System",
    "System.Collections.Generic",
    "System.IO",
    "System.Linq",
    "System.Net.Http",
    "System.Threading",
    "System.Threading.Tasks",
)
_OF_WEB = (
    "System.Net.Http.Json",
    "Microsoft.AspNetCore.Builder",
    "Microsoft.AspNetCore.Hosting",
    "Microsoft.AspNetCore.Http",
    "Microsoft.AspNetCore.Routing",
    "Microsoft.Extensions.Configuration",
    "Microsoft.Extensions.DependencyInjection",
    "Microsoft.Extensions.Hosting",
    "Microsoft.Extensions.Logging",
)
_OF_WORKER = tuple(one for one in _OF_WEB if one.startswith("Microsoft.Extensions"))
_OF_SDK = {"microsoft.net.sdk.web": _OF_WEB, "microsoft.net.sdk.worker": _OF_WORKER}


def is_project_file(path: str) -> bool:
    """Whether a file may import namespaces for all files of a project."""
    name = path.rpartition("/")[2].lower()
    return name.endswith(SUFFIX) or name in SHARED_FILES


def read_project_usings(text: str) -> tuple[Binding, ...]:
    """Returns the namespaces and static classes that a project file imports, without aliases and removed ones."""
    text = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    found: dict[str, int] = {}
    if implicit := _IMPLICIT.search(text):
        sdk = _SDK.search(text)
        implied = (*_IMPLIED, *_OF_SDK.get(sdk[1].lower() if sdk else "", ()))
        found |= dict.fromkeys(implied, _line_of(text, implicit.start()))
    for using in _USING.finditer(text):
        attributes = {name.lower(): value for name, value in _ATTRIBUTE.findall(using[1])}
        if "alias" not in attributes:
            line = _line_of(text, using.start())
            found |= dict.fromkeys(_names(attributes.get("include", "")), line)
            for name in _names(attributes.get("remove", "")):
                found.pop(name, None)
    return tuple(
        Binding(name=GLOBAL_USING, type=name, line=line) for name, line in list(found.items())[:USINGS_MAX]
    )


def _names(listed: str) -> list[str]:
    return [name for part in listed.split(";") if 0 < len(name := part.strip()) <= PATH_CHARS_MAX]


def _line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
