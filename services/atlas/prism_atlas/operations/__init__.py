"""What handlers call: graphs are built, found and cached here, and answers completed. Operations never reply."""
