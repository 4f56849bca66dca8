"""Events in, points out. No store, no broker."""

from prism_indexer.core.cards import card_text
from prism_indexer.core.points import failed_point, indexed_point, removed_point, skipped_point

__all__ = ["card_text", "failed_point", "indexed_point", "removed_point", "skipped_point"]
