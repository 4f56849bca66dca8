"""The whole of Prism on one machine: what runs, in which order, and who watches it.

The supervisor stays resident, so nothing in this package imports pydantic, httpx or typer.
"""
