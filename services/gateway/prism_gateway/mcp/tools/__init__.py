"""The tools, one file per topic: arguments, requests, output schemas."""
