"""Plays one short history with every kind of write, during which a service ends at a chosen write."""

import base64
import hashlib
import struct
import uuid
from dataclasses import dataclass, field
from typing import Any

import httpx2
import zstandard
from running_stack import FINAL, Json, blob_of
from scip_files import define, document, index, own
from truth_history import MAIN, Close, Delete, Delivery, History, Overlay, Push, Tree, content
from truth_player import Play

# Clients retry a request that is refused for the moment.
CONFLICT = 409
EDITED = "bank/interest.py"
EDITED_TO = 4
FIRST: Tree = {"bank/account.py": 0, "bank/interest.py": 1, "README.md": 2, "web/retry.ts": 3}
# Clients classify documents themselves; none of these is one.
SENT: Tree = {"bank/account.py": 0, "web/retry.ts": 3}
TOPIC: Tree = {**FIRST, "bank/account.py": 1, "docs/guide.md": 2}
TOPIC_LATER: Tree = {"bank/account.py": 2, "bank/interest.py": 1, "docs/guide.md": 2, "web/retry.ts": 3}
MAIN_LATER: Tree = {"bank/account.py": 0, "bank/interest.py": 2, "README.md": 3, "web/client.ts": 1}


def _push(branch: str, tree: Tree, *parents: str) -> Push:
    return Push("edit", branch, tree, parents, Delivery.AT_ONCE)


# After each step the play waits until everything is served.
STEPS = (
    _push("topic", TOPIC, MAIN),
    _push(MAIN, MAIN_LATER, MAIN),
    Overlay("overlay", "topic", {"README.md": 1, "web/retry.ts": None}),
    _push("topic", TOPIC_LATER, "topic"),
    _push("gone", {**MAIN_LATER, "setup.py": 1}, MAIN),
    Delete("gone", Delivery.AT_ONCE),
    Overlay("kept", MAIN, {"README.md": 4}),
)
HISTORY = History(0, FIRST, STEPS)


@dataclass
class CrashPlay(Play):
    """A play whose last steps are a SCIP index, an upload and an edited file."""

    uploaded: dict[str, bytes] = field(default_factory=dict)

    async def run(self) -> None:
        """Plays all steps; the caller checks what is served at the end."""
        await self._begin()
        for step in self.history.steps:
            await self._do(step)
            await self.until_served()
        await self._send_scip()
        await self._upload()
        await self._edit()
        await self._do(Close("overlay"))  # deletes its handle too
        await self.until_served()

    async def _send_scip(self) -> None:
        symbol = own("`bank.account`/balance_0().")
        body = index(document("bank/account.py", [define(symbol, 0, 4, 13)]))
        where = {"repo": self.name, "commit": self.heads[MAIN]}
        answer = await self.server.request("POST", "/api/v1/ingest/scip", params=where, content=body)
        assert answer.status_code in (200, 202), answer.text

    async def _upload(self) -> None:
        """Sends a snapshot of another repository, and repeats it until its job ends, as a client does."""
        self.uploaded = {path: content(path, number) for path, number in SENT.items()}
        body = {
            "repo_name": f"{self.name}-sent",
            "snapshot": uuid.uuid4().hex,
            "commit": f"tree:{uuid.uuid4().hex}",
            "lane": "live",
            "files": [
                {"path": path, "blob": blob_of(data), "size_bytes": len(data)}
                for path, data in self.uploaded.items()
            ],
        }
        jobs: list[Json] = []

        async def has_ended() -> bool:
            opened = await self._request("/api/v1/ingest/snapshots", json=body)
            jobs.append(opened["job"])
            if opened["needed"]:
                await self._send_pack(opened["job"]["job"], opened["needed"])
            return opened["job"]["state"] in FINAL

        await self.server.until(has_ended, lambda: f"the upload does not end: {jobs[-1:]}")
        assert jobs[-1]["state"] == "complete", jobs[-1]

    async def _send_pack(self, job: str, needed: list[int]) -> None:
        contents = list(self.uploaded.values())
        raw = b"".join(
            struct.pack(">II", ordinal, len(contents[ordinal])) + contents[ordinal] for ordinal in needed
        )
        pack = struct.pack(">4sBII", b"PRPK", 2, len(needed), len(raw)) + zstandard.compress(raw)
        headers = {"X-Prism-Pack": hashlib.sha256(pack).hexdigest()}
        await self._request(f"/api/v1/ingest/snapshots/{job}/packs?lane=live", content=pack, headers=headers)

    async def _edit(self) -> None:
        data = content(EDITED, EDITED_TO)
        body = {"repo": self.name, "path": EDITED, "content_base64": base64.b64encode(data).decode()}
        await self._request("/api/v1/ingest/file", json=body)
        self.state.trees[MAIN] = {**self.state.trees[MAIN], EDITED: EDITED_TO}

    async def _request(self, path: str, **arguments: Any) -> Json:
        """Returns the reply to a request that may be refused while another job is active."""
        answers: list[httpx2.Response] = []

        async def is_accepted() -> bool:
            answers.append(await self.server.request("POST", path, **arguments))
            return answers[-1].status_code != CONFLICT

        await self.server.until(is_accepted, lambda: f"{path}: {answers[-1].text}")
        assert answers[-1].status_code in (200, 202), answers[-1].text
        return answers[-1].json()
