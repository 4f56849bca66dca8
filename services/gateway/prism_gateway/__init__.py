"""The door of Prism: MCP and REST over HTTP, answered by requests to other services over NATS. It holds no state."""
