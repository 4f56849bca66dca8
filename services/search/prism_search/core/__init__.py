"""Parses questions and ranks answers. Pure: no store, no broker, no clock."""
