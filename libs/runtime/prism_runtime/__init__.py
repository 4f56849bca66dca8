"""What every Prism service shares: settings, the bus, request/reply, records, telemetry, health, the process."""
