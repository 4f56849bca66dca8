"""The version of Prism, from the metadata of its distribution."""

from importlib.metadata import version

DISTRIBUTION = "prism-code-intelligence"


def release() -> str:
    """Returns the version, such as `0.1.0`."""
    return version(DISTRIBUTION)
