"""How many of the tests that fail when a function breaks were named beforehand."""
