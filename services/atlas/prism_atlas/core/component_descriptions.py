"""Describes a component in one sentence: what its main file is, and which components use it."""

from collections.abc import Iterable, Mapping

from prism_contracts.rpc.maps import ComponentDependency, ComponentSummary

CHARS_MAX = 300
NAMES_MAX = 3


def described(
    component: ComponentSummary, dependencies: Iterable[ComponentDependency], files: Mapping[str, str]
) -> ComponentSummary:
    """Returns the component with its description. `files` are descriptions by path."""
    lead = next(((path, files[path]) for path in component.main_files if files.get(path)), None)
    users = list(
        dict.fromkeys(one.source for one in dependencies if one.target == component.name and one.references)
    )
    name = lead[0].rpartition("/")[2] if lead else ""
    parts = [f"around {name}: {lead[1].rstrip('.')}"] if lead else [f"around {component.name}"]
    if users:
        rest = f" and {len(users) - NAMES_MAX} more" if len(users) > NAMES_MAX else ""
        parts.append(f"used by {', '.join(users[:NAMES_MAX])}{rest}")
    return component.model_copy(update={"description": _sentence("; ".join(parts))})


def _sentence(text: str) -> str:
    text = f"{text[0].upper()}{text[1:]}"
    if len(text) < CHARS_MAX:
        return f"{text}."
    return f"{text[: CHARS_MAX - 1].rpartition(' ')[0].rstrip(' ,;:')}…"
