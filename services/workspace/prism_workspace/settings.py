"""Settings of workspace."""

import tempfile
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from pydantic import Field, field_validator

from prism_catalog.document_settings import DocumentSettings
from prism_catalog.git_settings import GitSettings
from prism_contracts.types import WORD_CHARS_MAX
from prism_runtime.settings import ServiceSettings
from prism_source.clone_url import CloneRules


class WorkspaceSettings(DocumentSettings, GitSettings, ServiceSettings):
    """Settings that are read from `PRISM_…` at start."""

    documents_settle_s: float = Field(
        3.0, ge=0, description="Longest wait of a write until the document is searchable, in seconds."
    )
    documents_deadline_s: float = Field(
        10.0, gt=0, description="Longest time for one request about documents, in seconds."
    )
    documents_remote_interval_s: float = Field(
        60.0, ge=1, description="Interval between looks at the remote of a tenant's documents, in seconds."
    )
    documents_remote_bytes_max: int = Field(
        256 * 1024**2,
        ge=1024**2,
        description="Largest branch of a remote of documents, and space for temporary repositories, in bytes.",
    )
    documents_push_wait_s: float = Field(
        6.0, ge=0, description="Longest wait for a push of documents, in seconds. It goes on afterwards."
    )
    task_statuses: str = Field(
        "",
        description="Statuses that tasks may have besides `need to be done`, `in-progress` and `complete`: a comma-separated list.",
    )
    tasks_completed_by_merge: bool = Field(
        default=False,
        description="Complete the tasks that a pull request names when it is merged into the branch that Prism follows.",
    )
    tasks_max: int = Field(
        200_000, ge=1, description="Most tasks of one tenant. Each takes about 2.5 KiB of memory."
    )

    @field_validator("task_statuses")
    @classmethod
    def _short(cls, statuses: str) -> str:
        if any(len(status) > WORD_CHARS_MAX for status in _parts(statuses)):
            raise ValueError(f"a status has at most {WORD_CHARS_MAX} characters")
        return statuses

    @cached_property
    def remote_rules(self) -> CloneRules:
        """What may be a remote of documents."""
        rules = self.clone_rules(Path(tempfile.gettempdir()), depth=0)
        return replace(rules, bytes_max=min(rules.bytes_max, self.documents_remote_bytes_max))

    @property
    def more_statuses(self) -> list[str]:
        """The statuses of `task_statuses`."""
        return _parts(self.task_statuses)


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
