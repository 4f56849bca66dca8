"""`python -m deploy.prometheus.for_kubernetes FILE`: writes the rules as a PrometheusRule of the operator."""

import sys
from pathlib import Path

RULES = Path(__file__).with_name("rules") / "prism.yaml"
HEAD = """# Written by `make dashboards` from deploy/prometheus/rules/prism.yaml. Change that, then run it again.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: prism
spec:
"""


def manifest() -> str:
    """Returns the manifest: the rules below `spec`, as they are written."""
    lines = RULES.read_text(encoding="utf-8").splitlines()
    return HEAD + "".join(f"  {line}\n" if line else "\n" for line in lines[lines.index("groups:") :])


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(manifest(), encoding="utf-8")
