"""The setting of the services that name the repository of documents: workspace, which writes it, and the gateway."""

from pydantic import Field

from prism_contracts.types import RepoName
from prism_runtime.settings import PrismSettings


class DocumentSettings(PrismSettings):
    """Where documents are."""

    documents_repo: RepoName = Field(
        "prism/documents", description="Name of the repository of documents that each tenant has."
    )
