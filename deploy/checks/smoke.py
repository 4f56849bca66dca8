"""Runs the workloads of the dev overlay without a cluster, by `podman play kube`, from nothing to an answer.

    python -m deploy.checks.smoke --image localhost/prism:dev [--storage FOLDER]

The overlay gets the Ingress, and nginx of this machine stands in front of the gateway's pod with the paths, limits
and time-outs that the Ingress has. A git server serves a repository in the network of the pods. Its signed push
goes in through nginx, and an agent asks over MCP through nginx until the answer comes from the pushed commit.

What it shows: images, arguments, variables, settings, secrets as files, users, read-only roots, capabilities,
memory limits and volumes, what the probes ask for, and that SIGTERM ends each service in order. What it does not
show: Services, NetworkPolicies, StatefulSets (their pods run), the probes' times, and Qdrant itself: no server of
it is at hand, so Prism's local store takes its place, with the same key. NATS runs from Prism's image. It needs
nginx, git and openssl, and root, because nginx calls the address of a pod.
"""

import argparse
import base64
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from pathlib import Path

import yaml

from deploy.checks.from_outside import Outside, ServedRepository, proxy
from deploy.checks.manifests import KUSTOMIZE, ROOT, TOOLS, Manifests, Object, Workload, render
from deploy.checks.pod_rules import PROBES
from deploy.image.engine import Engine, find_engine

PREFIX = "kube-smoke"
READY_S_MAX = 180
PYTHON = "/opt/prism/bin/python"
# What other images do, done by Prism's.
STAND_INS = {
    "nats": {"command": ["/opt/prism/bin/nats-server"]},
    "qdrant": {"args": ["prism_qdrant_local.main"]},
}
LOCAL_STORE = {"PRISM_QDRANT_LOCAL_DATA_DIR": "/qdrant/storage", "PRISM_QDRANT_LOCAL_HOST": "0.0.0.0"}  # noqa: S104
STORE_KEY = "QDRANT__SERVICE__API_KEY"
ASK = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=5).status)"
REPOSITORY = {
    "retry.py": 'def next_pause(attempt: int) -> float:\n    """The pause before the next attempt, doubled."""\n'
    "    return 0.5 * 2**attempt\n",
    "README.md": "# Sample\n\nA failed call is tried again after a pause.\n",
}
PUSHED = {
    "retry.py": 'def give_up_after() -> int:\n    """The attempts until a call is given up."""\n    return 7\n'
}
PUBLIC_URL = "https://code.example.org"
# What the guide says to set: the host, and that the git server is in a private network.
SETTINGS = {"PRISM_PUBLIC_URL": PUBLIC_URL, "PRISM_CLONE_ALLOW_PRIVATE": "true"}
FORGE = "forge"
PUSHED_REPO = "acme/pushed"
CLONE_URL = f"git://{FORGE}/{PUSHED_REPO}.git"
OUTSIDE_PATHS, INSIDE_PATHS = ("/openapi.json", "/docs"), ("/metrics", "/readyz", "/livez", "/")
QUESTION, ANSWER = "how long is the pause before the next attempt", "retry.py"


class Smoke:
    """One run: a network, nine pods, and the folder with their files."""

    def __init__(self, engine: Engine, image: str, folder: Path) -> None:
        self._engine, self._image, self._folder = engine, image, folder
        self._manifests = Manifests(render(_overlay(folder / "overlay")))
        self._secrets: dict[str, dict[str, str]] = {}

    def up(self) -> None:
        """Start everything, in any order, as a cluster does. Raises CalledProcessError."""
        self._secrets = _make_secrets(self._folder / "secrets")
        self._engine.call("network", "create", "--internal", PREFIX)
        for workload in self._manifests.workloads:
            path = self._folder / f"{workload.component}.yaml"
            path.write_text(yaml.safe_dump(self._playable(workload)), encoding="utf-8")
            self._engine.read("play", "kube", "--network", f"{PREFIX}:alias={workload.component}", str(path))

    def down(self) -> None:
        """Remove what `up` and `push` made, of this run and of an earlier one."""
        self._engine.succeeds("rm", "--force", "--time", "1", f"{PREFIX}-{FORGE}")
        for component in (workload.component for workload in self._manifests.workloads):
            self._engine.succeeds("pod", "rm", "--force", "--time", "5", self._pod(component))
            for volume in ("tmp", "cache"):
                self._engine.succeeds("volume", "rm", "--force", f"{self._pod(component)}-{volume}")
        self._engine.succeeds("network", "rm", "--force", PREFIX)

    def wait(self) -> None:
        """Return when all pods answer their probes. Ends the process after `READY_S_MAX`."""
        end = time.monotonic() + READY_S_MAX
        waiting = {workload.component: workload for workload in self._manifests.workloads}
        while waiting:
            for component, workload in list(waiting.items()):
                if all(self._answers(component, url) for url in _probe_urls(workload)):
                    print(f"ready      {component}")
                    del waiting[component]
            if waiting and time.monotonic() > end:
                for component in waiting:
                    self._engine.call("logs", "--tail", "20", self._container(component))
                sys.exit(f"Not ready after {READY_S_MAX} s: {', '.join(waiting)}")
            time.sleep(1)

    def confined(self) -> None:
        """Check that the containers run as the manifests say. Ends the process where one does not."""
        for workload in self._manifests.workloads:
            facts = json.loads(self._engine.read("inspect", self._container(workload.component)))[0]
            user = str(workload.pod["securityContext"]["runAsUser"])
            wanted = {
                "user": facts["Config"]["User"].partition(":")[0] == user,
                "read-only root": facts["HostConfig"]["ReadonlyRootfs"],
                "no capabilities": not facts["EffectiveCaps"],
                "memory limit": facts["HostConfig"]["Memory"] > 0,
            }
            missing = [what for what, holds in wanted.items() if not holds]
            if missing:
                sys.exit(f"{workload.component}: {', '.join(missing)}")
        print("confined   all: their users, read-only, no capabilities, limits of memory")

    def ask(self) -> None:
        """Index a folder and ask a question, as with `kubectl port-forward`. Raises CalledProcessError."""
        repository = self._folder / "repository"
        repository.mkdir()
        for name, text in REPOSITORY.items():
            (repository / name).write_text(text, encoding="utf-8")
        _open(repository)
        self._client("index", "/repository", "--name", "acme/sample", "--wait", mount=repository)
        answer = self._client("search", QUESTION, "--repo", "acme/sample")
        if ANSWER not in answer:
            sys.exit(f"The answer does not name {ANSWER}:\n{answer}")
        print(f"answered   {answer.splitlines()[0]}")

    def push(self) -> None:
        """Index a repository of a git server, push to it, and ask, as the guide does from its step 5 on.

        Raises CalledProcessError, httpx2.HTTPError and TimeoutError, and ends the process where an answer is wrong.
        """
        served = self._folder / "served"
        repository = ServedRepository(self._folder / "work", served / f"{PUSHED_REPO}.git", REPOSITORY)
        self._serve(served)
        self._client("index", CLONE_URL, "--wait")
        kept = json.loads(self._client("secrets", PUSHED_REPO, "--webhook", "--json"))
        agent = json.loads(self._client("tokens", "create", "--label", "agent", "--json"))
        ingress = self._manifests.find("Ingress", "prism")
        assert ingress is not None
        with proxy(ingress, f"{self._address('gateway')}:8780", self._folder / "nginx") as outside:
            _check_ways(outside)
            commit = repository.push(PUSHED)
            refused = outside.push(PUSHED_REPO, CLONE_URL, commit, "another secret")
            taken = outside.push(PUSHED_REPO, CLONE_URL, commit, kept["webhook"]["secret"])
            if (refused, taken) != (HTTPStatus.UNAUTHORIZED, HTTPStatus.ACCEPTED):
                sys.exit(
                    f"A push with a wrong signature got {refused}, one with the right signature {taken}."
                )
            seconds = outside.ask(agent["secret"], PUSHED_REPO, "give_up_after", "return 7", commit)
        print(
            f"pushed     {commit[:12]} by a signed webhook, answered over MCP through nginx after {seconds:.1f} s"
        )

    def stop(self) -> None:
        """End each service by SIGTERM, and check its exit code. Ends the process if it is not 0."""
        for workload in self._manifests.services:
            container = self._container(workload.component)
            grace_s = workload.pod["terminationGracePeriodSeconds"]
            self._engine.read("stop", "--time", str(grace_s), container)
            code = json.loads(self._engine.read("inspect", container))[0]["State"]["ExitCode"]
            if code:
                sys.exit(f"{workload.component}: it ended with {code} after SIGTERM")
        print("stopped    every service, with exit code 0")

    def _serve(self, folder: Path) -> None:
        """Serve all bare repositories of a folder in the network of the pods, at `git://forge/`."""
        self._engine.read(
            *("run", "--detach", "--name", f"{PREFIX}-{FORGE}", "--network", f"{PREFIX}:alias={FORGE}"),
            # Git serves no repository of another user, and this folder is root's.
            *("--user", "0", "--volume", f"{folder}:/served:ro", "--entrypoint", "git", self._image),
            *("daemon", "--reuseaddr", "--export-all", "--base-path=/served"),
        )

    def _address(self, component: str) -> str:
        pod = json.loads(self._engine.read("pod", "inspect", self._pod(component)))
        infra = json.loads(self._engine.read("inspect", pod["InfraContainerID"]))[0]
        return str(infra["NetworkSettings"]["Networks"][PREFIX]["IPAddress"])

    def _client(self, *arguments: str, mount: Path | None = None) -> str:
        volume = ["--volume", f"{mount}:/repository:ro"] if mount else []
        token = (self._folder / "secrets" / "first-token").read_text()
        return self._engine.read(
            *("run", "--rm", "--pod", self._pod("gateway"), *volume),
            *("--env", "PRISM_URL=http://localhost:8780", "--env", f"PRISM_TOKEN={token}"),
            *("--entrypoint", "prism", self._image, *arguments),
        )

    def _answers(self, component: str, url: str) -> bool:
        return self._engine.succeeds("exec", self._container(component), PYTHON, "-c", ASK, url)

    def _pod(self, component: str) -> str:
        return f"{PREFIX}-{component}"

    def _container(self, component: str) -> str:
        (container,) = (
            one.container["name"] for one in self._manifests.workloads if one.component == component
        )
        return f"{self._pod(component)}-{container}"

    def _playable(self, workload: Workload) -> Object:
        """The pod of a workload, without what Podman does not know or does by other means."""
        pod, container = workload.pod, workload.container
        for key in ("topologySpreadConstraints", "serviceAccountName", "affinity"):
            pod.pop(key, None)
        for key in ("ports", "envFrom", "lifecycle", "imagePullPolicy", *PROBES):
            container.pop(key, None)
        container |= {"image": self._image, "env": list(self._environment(workload))}
        container |= STAND_INS.get(workload.component, {})
        pod["volumes"] = [self._volume(workload, volume) for volume in _volumes(workload)]
        # Podman makes an emptyDir a volume of its name, which pods would share.
        for named in (*pod["volumes"], *container["volumeMounts"]):
            named["name"] = f"{self._pod(workload.component)}-{named['name']}"
        pod["containers"] = [container]
        metadata = {"name": self._pod(workload.component), "labels": workload.labels}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod}

    def _environment(self, workload: Workload) -> Iterator[dict[str, str]]:
        values = workload.environment
        for entry in workload.container.get("env", []):
            source = entry.get("valueFrom", {})
            if "secretKeyRef" in source:
                reference = source["secretKeyRef"]
                values[entry["name"]] = self._secrets[reference["name"]][reference["key"]]
            elif "fieldRef" in source:
                values[entry["name"]] = f"{workload.component}-0"
        if workload.component == "qdrant":
            values |= LOCAL_STORE | {"PRISM_QDRANT_LOCAL_API_KEY": values[STORE_KEY]}
        return ({"name": name, "value": value} for name, value in values.items())

    def _volume(self, workload: Workload, volume: Object) -> Object:
        """Secrets and ConfigMaps as folders of this machine, with the items that the manifest names."""
        if "emptyDir" in volume and workload.is_prism:
            return {"name": volume["name"], "emptyDir": {}}
        folder = self._folder / workload.component / volume["name"]
        folder.mkdir(parents=True)
        for name, text in self._files(volume).items():
            (folder / name).write_text(text, encoding="utf-8")
        _open(folder, writable="secret" not in volume and "configMap" not in volume)
        return {"name": volume["name"], "hostPath": {"path": str(folder), "type": "Directory"}}

    def _files(self, volume: Object) -> dict[str, str]:
        if "configMap" in volume:
            config = self._manifests.find("ConfigMap", volume["configMap"]["name"])
            assert config is not None
            return dict(config["data"])
        if "secret" in volume:
            known = self._secrets[volume["secret"]["secretName"]]
            return {item["path"]: known[item["key"]] for item in volume["secret"]["items"]}
        return {}


def _overlay(folder: Path) -> Path:
    """Returns an overlay of this run: the one for development, with an Ingress, and the host where it belongs."""
    production = yaml.safe_load((KUSTOMIZE / "overlays" / "production" / "kustomization.yaml").read_text())
    folder.mkdir()
    beside = os.path.relpath(KUSTOMIZE, folder.resolve())
    literals = [f"{name}={value}" for name, value in SETTINGS.items()]
    overlay = {
        "resources": [f"{beside}/overlays/dev"],
        "components": [f"{beside}/components/ingress-nginx"],
        "namespace": "prism",
        "configMapGenerator": [{"name": "prism", "behavior": "merge", "literals": literals}],
        "replacements": production["replacements"],
    }
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(overlay), encoding="utf-8")
    return folder


def _check_ways(outside: Outside) -> None:
    """Ends the process if the proxy passes on what has to stay inside, or the gateway refuses the public host."""
    missing = [path for path in OUTSIDE_PATHS if outside.status_of(path) != HTTPStatus.OK]
    leaked = [path for path in INSIDE_PATHS if outside.status_of(path) != HTTPStatus.NOT_FOUND]
    if missing or leaked:
        sys.exit(f"The proxy passes {leaked} on, and does not pass {missing} on.")
    if (status := outside.status_of("/openapi.json", Host="other.example.org")) != HTTPStatus.NOT_FOUND:
        sys.exit(f"The proxy answers {status} for a host that is not in the Ingress.")
    print(f"routed     {', '.join(OUTSIDE_PATHS)}; not {', '.join(INSIDE_PATHS)}")


def _volumes(workload: Workload) -> list[Object]:
    claims = workload.item["spec"].get("volumeClaimTemplates", [])
    return [*workload.pod.get("volumes", []), *({"name": claim["metadata"]["name"]} for claim in claims)]


def _open(folder: Path, *, writable: bool = False) -> None:
    """Let the containers' users read, or write, a folder that is this user's own."""
    folder.chmod(0o777 if writable else 0o755)
    for path in folder.iterdir():
        path.chmod(0o644)


def _probe_urls(workload: Workload) -> list[str]:
    asked = (workload.container[probe]["httpGet"] for probe in PROBES)
    urls = [f"http://127.0.0.1:{workload.ports[http['port']]}{http['path']}" for http in asked]
    return list(dict.fromkeys(urls))


def _make_secrets(folder: Path) -> dict[str, dict[str, str]]:
    """Returns the values of the three Secrets, made by the command that the guide has."""
    path = f"{ROOT / '.venv' / 'bin'}:{TOOLS}:{os.environ['PATH']}"
    script = KUSTOMIZE / "make-secrets.sh"
    subprocess.run([script, folder], check=True, env={**os.environ, "PATH": path}, stdout=subprocess.DEVNULL)
    secrets = yaml.safe_load_all((folder / "secrets.yaml").read_text(encoding="utf-8"))
    return {
        secret["metadata"]["name"]: {
            key: base64.b64decode(data).decode() for key, data in secret["data"].items()
        }
        for secret in secrets
    }


def main(arguments: Sequence[str]) -> None:
    """Run the smoke test. Ends the process with a message where something fails."""
    parser = argparse.ArgumentParser(
        description="Runs the dev overlay by Podman, from nothing to an answer over MCP."
    )
    parser.add_argument("--image", default="localhost/prism:dev")
    parser.add_argument("--storage", type=Path, help="Podman's folder, as for `make image`")
    given = parser.parse_args(arguments)
    engine = find_engine(given.storage)
    if engine.is_docker:
        sys.exit("`play kube` is a command of Podman; set --storage, and Podman is used.")
    with tempfile.TemporaryDirectory(prefix=f"{PREFIX}-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        smoke = Smoke(engine, given.image, folder)
        smoke.down()
        try:
            smoke.up()
            smoke.wait()
            smoke.confined()
            smoke.ask()
            smoke.push()
            smoke.stop()
        finally:
            smoke.down()


if __name__ == "__main__":
    main(sys.argv[1:])
