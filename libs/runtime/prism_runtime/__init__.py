"""The parts that every service shares: settings, bus, request/reply, records, telemetry, health, process."""
