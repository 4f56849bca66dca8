"""The HTTP interface of Prism: MCP and REST, answered by requests to other services over NATS. Stateless."""
