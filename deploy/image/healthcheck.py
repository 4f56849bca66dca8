"""The health check of a container: exit code 0 if the process in it answers `/livez`.

A container runs one server, which listens on one of these ports. The health check runs every few seconds in
every container, so it imports nothing of Prism: that takes longer than the check.
"""

import os
import sys
from http.client import HTTPConnection

# Services listen on the first port, the gateway on the second, the local store on the third.
PORTS = {"PRISM_HEALTH_PORT": 8081, "PRISM_GATEWAY_PORT": 8780, "PRISM_QDRANT_LOCAL_PORT": 6333}
TIMEOUT_S = 3


def is_alive(ports: list[int]) -> bool:
    """Whether the server on the first port that accepts a connection answers `/livez` with 200."""
    for port in ports:
        connection = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
        try:
            connection.connect()
        except ConnectionRefusedError:
            continue
        except OSError:
            return False
        try:
            connection.request("GET", "/livez")
            return connection.getresponse().status == 200  # noqa: PLR2004
        except OSError:
            return False
        finally:
            connection.close()
    return False


if __name__ == "__main__":
    sys.exit(0 if is_alive([int(os.environ.get(name, port)) for name, port in PORTS.items()]) else 1)
