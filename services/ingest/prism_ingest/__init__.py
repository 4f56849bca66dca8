"""What changed: snapshots of folders and clones become one event a file, and jobs that count them."""
