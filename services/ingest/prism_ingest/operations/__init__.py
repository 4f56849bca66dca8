"""What handlers call: operations that begin, plan, fetch, publish, track and clean up. They never reply."""
