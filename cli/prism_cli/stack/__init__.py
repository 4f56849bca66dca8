"""All processes of Prism on one machine: their order, and their supervision.

The supervisor stays resident, so nothing in this package imports pydantic, httpx or typer.
"""
