"""`prism nats-logins`: keys, permissions and certificates with which the services log in to NATS."""
