"""`prism config`: the configuration file `prism.toml`.

known.py lists every setting, check.py validates a file, command.py reads and changes it.
"""
