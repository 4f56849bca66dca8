"""Definitions that nothing uses.

graph ▶ what the code, tests and exports reach (`reach`) ▶ groups of what is left (`listing`) ▶ lines of text that hold
its names (`evidence`) ▶ decorators and supertypes around it (`surroundings`)

A definition is called unused only if the graph has no use of it and each line of code that contains its name is
explained as something else. Nothing here reads files: texts come in as arguments.
"""
