"""The users of NATS, as a part of its configuration: nkeys and permissions, without secrets.

https://docs.nats.io/running-a-nats-service/configuration/securing_nats/accounts
"""

import json
import os
from collections.abc import Mapping

import nkeys  # type: ignore[import-untyped]

from prism_contracts import names
from prism_contracts.access import SERVICES
from prism_runtime.nats_permissions import Permissions, permissions_of

ACCOUNT, SYSTEM_ACCOUNT = "PRISM", "SYS"
# For people: everything in the account; the state of streams and consumers; the account of the servers.
OPERATOR, MONITOR, SYSTEM = "operator", "monitor", "system"
USERS = (*SERVICES, OPERATOR, MONITOR, SYSTEM)
# Longer than any request may take.
ANSWER_WITHIN = "10m"
SEED_BYTES = 32


def new_seed() -> str:
    """Returns the seed of a new user."""
    seed: bytes = nkeys.encode_seed(os.urandom(SEED_BYTES), nkeys.PREFIX_BYTE_USER)
    return seed.decode()


def public_key(seed: str) -> str:
    """Returns the public key of a seed. Raises nkeys.NkeysError if it is none."""
    key: bytes = nkeys.from_seed(bytearray(seed.encode())).public_key
    return key.decode()


def accounts(keys: Mapping[str, str]) -> str:
    """Returns the accounts for the public keys of `USERS`."""
    users = ",\n".join(_user(keys[user], user, permissions_of(user)) for user in SERVICES)
    return f"""# Written by `prism nats-logins` for this release of Prism. It has public keys only.
accounts {{
  {ACCOUNT} {{
    jetstream: enabled
    users: [
{users},
{_user(keys[OPERATOR], OPERATOR)},
{_user(keys[MONITOR], MONITOR, _monitoring())}
    ]
  }}
  {SYSTEM_ACCOUNT} {{
    users: [
{_user(keys[SYSTEM], SYSTEM)}
    ]
  }}
}}
system_account: {SYSTEM_ACCOUNT}
"""


def _monitoring() -> Permissions:
    api = ("INFO", "STREAM.NAMES", "STREAM.LIST", "STREAM.INFO.*", "CONSUMER.LIST.*", "CONSUMER.NAMES.*")
    publish = tuple(f"$JS.API.{call}" for call in (*api, "CONSUMER.INFO.*.*"))
    return Permissions(publish, (f"{names.inbox_prefix(MONITOR)}.>",), answers=False)


def _user(key: str, name: str, permissions: Permissions | None = None) -> str:
    if permissions is None:
        return f"      {{ nkey: {key} }} # {name}"
    answers = (
        f'\n        allow_responses: {{ max: 1, expires: "{ANSWER_WITHIN}" }}' if permissions.answers else ""
    )
    return f"""      # {name}
      {{ nkey: {key}, permissions: {{
        publish: {{ allow: {_list(permissions.publish)} }}
        subscribe: {{ allow: {_list(permissions.subscribe)} }}{answers}
      }} }}"""


def _list(subjects: tuple[str, ...]) -> str:
    lines = "".join(f"\n          {json.dumps(subject)}" for subject in subjects)
    return f"[{lines}\n        ]"
