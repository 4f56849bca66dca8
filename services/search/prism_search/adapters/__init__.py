"""What search reads besides the store: repositories, query vectors; and small caches of counts."""
