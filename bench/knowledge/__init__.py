"""Documents and tasks at the sizes for which their targets are set."""
