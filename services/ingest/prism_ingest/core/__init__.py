"""What changed and what is done: plans and job counts. No broker, no store, no git."""

from prism_ingest.core.jobs import apply_settled, fail_job, is_final, is_planned, new_job, open_ordinals
from prism_ingest.core.plan import Plan, make_plan

__all__ = [
    "Plan",
    "apply_settled",
    "fail_job",
    "is_final",
    "is_planned",
    "make_plan",
    "new_job",
    "open_ordinals",
]
