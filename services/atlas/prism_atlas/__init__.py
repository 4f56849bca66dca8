"""The graph of a repository: dependents, central files, components and cycles."""
