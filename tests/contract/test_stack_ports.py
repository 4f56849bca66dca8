"""A port chosen for the gateway is still free when the gateway binds it."""

import socket

from prism_cli.stack.probes import HOST, free_port


def test_free_port_is_below_the_range_of_outgoing_connections() -> None:
    with socket.create_server((HOST, free_port())) as server:
        address = server.getsockname()
        connections = [socket.create_connection(address) for _ in range(20)]
        lowest = min(connection.getsockname()[1] for connection in connections)
        for connection in connections:
            connection.close()
    assert address[1] < lowest
