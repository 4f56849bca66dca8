"""What handlers call: documents are created, read and committed here. Operations never reply."""
