"""Logins of remotes: the secret of the repository of documents, for the one host that it was stored for."""

from prism_catalog.repository_names import RepositoryNames
from prism_catalog.vault import Vault
from prism_source.clone_url import git_server


class RemoteLogins:
    """Returns the login of a tenant for the URL of its remote."""

    def __init__(self, vault: Vault, names: RepositoryNames, repo: str) -> None:
        """`repo`: the name of the repository of documents."""
        self._vault = vault
        self._names = names
        self._repo = repo

    async def get(self, tenant: str, url: str) -> str:
        """Returns `user:password`, or "" if none is stored for this server.

        Otherwise whoever may set the URL could have the password sent to a server of their own. Raises UNAVAILABLE.
        """
        kept = await self._vault.get(tenant, await self._names.id_of(tenant, self._repo))
        if not kept.git_password or git_server(url) != kept.git_host.lower():
            return ""
        return f"{kept.git_username}:{kept.git_password}"
