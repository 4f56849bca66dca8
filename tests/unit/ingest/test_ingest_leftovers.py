"""What a removal deletes covers every bucket that may hold something of a repository."""

from prism_contracts import names
from prism_ingest.adapters.leftovers import OBJECTS, RECORDS

# Buckets that are not keyed by repository, and why a removal need not list them.
OTHERS = {
    names.KV_REPOSITORIES: "deleted first",
    names.KV_REPOSITORY_NAMES: "drives the removal",
    names.KV_JOBS: "deleted by repository, last",
    names.OBJECTS_SNAPSHOTS: "deleted with the jobs",
    names.OBJECTS_SCIP: "deleted with the SCIP records",
    names.KV_ANSWERS: "deleted for the tenant",
    names.KV_CANCELLED_JOBS: "ids of jobs, for days",
    names.KV_TOKENS: "of the tenant",
    names.KV_TENANTS: "of the tenant",
    names.KV_SESSIONS: "belong to a token, and expire after 12 hours",
    names.KV_GROUPS: "names that the tenant lists, whether they exist or not",
    names.KV_DOCUMENTS: "of the tenant: who removes their repository removes their index",
    names.KV_GIT_OBJECTS: "of the tenant, as the documents",
    names.KV_GIT_REFS: "of the tenant, as the documents",
    names.KV_DOCUMENT_REMOTES: "of the tenant, as the documents",
    names.KV_ANCHORS: "of the tenant; anchors to a removed repository are not shown",
    names.OBJECTS_GIT: "of the tenant, as the documents",
    names.KV_MODEL_DAYS: "of the tenant, without a repository",
    names.KV_TASKS: "of the tenant, whose repositories may come and go",
    names.KV_DELIVERIES: "hashes, for days",
    names.KV_REQUESTS: "hashes of keys, and what was answered, for a day",
    names.KV_LEASES: "of the installation",
    names.KV_INSTALLATION: "of the installation",
    names.KV_MODEL_VERSIONS: "of the installation",
    names.KV_DEEP_VECTORS: "by hash of the text, for a month",
    names.OBJECTS_CLAIMS: "by hash of the text, for a week",
}


def test_every_bucket_is_deleted_by_repository_or_listed_with_a_reason() -> None:
    buckets = {value for name, value in vars(names).items() if name.startswith(("KV_", "OBJECTS_"))}
    listed = [*RECORDS, *OBJECTS, *OTHERS]
    assert sorted(listed) == sorted(buckets)
