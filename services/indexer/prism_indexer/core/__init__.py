"""Events in, points out. No store, no broker."""

from prism_indexer.core.points import failed_point, indexed_point, removed_point, skipped_point

__all__ = ["failed_point", "indexed_point", "removed_point", "skipped_point"]
