"""What takes several steps: the runs of wikis."""
