"""`prism connect`: the configuration of coding agents, printed or merged into their own files.

clients.py knows the agents, their files and their format; jsonc.py and toml.py change a text and keep the rest of
it; files.py reads and replaces the files; command.py runs these steps; agents_md.py is the text for AGENTS.md.
"""
