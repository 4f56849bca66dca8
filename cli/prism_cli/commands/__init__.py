"""The command line: one function per command, with its arguments and its help.

Each imports the module that implements it when it runs, which keeps `prism --help` fast. `prism_cli.main`
lists them.
"""
