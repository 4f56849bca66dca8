"""Pure functions of ingest: plans, job counts, layers, edits. No broker, no store, no git."""

from prism_ingest.core.jobs import (
    apply_settled,
    fail_job,
    files_lane,
    is_final,
    is_planned,
    new_job,
    open_ordinals,
    push_seconds,
    without_bits,
)
from prism_ingest.core.plan import (
    Plan,
    basis_of,
    known_commit,
    lane_of,
    make_plan,
    plan_changes,
    plan_variants,
)

__all__ = [
    "Plan",
    "apply_settled",
    "basis_of",
    "fail_job",
    "files_lane",
    "is_final",
    "is_planned",
    "known_commit",
    "lane_of",
    "make_plan",
    "new_job",
    "open_ordinals",
    "plan_changes",
    "plan_variants",
    "push_seconds",
    "without_bits",
]
