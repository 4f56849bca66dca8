"""Access to other services and to NATS."""
