"""What Docker Compose needs besides its file: secrets, and the configuration of what runs beside Prism."""
