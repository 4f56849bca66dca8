"""The `prism` command: the stack on one machine, and a person's way to what agents get.

main         arguments, help, exit codes             stack/    supervisor of the local services
up, connect  a stack starts and says how to use it   client    Prism over HTTP
index/       a folder or URL becomes searchable      search, status, doctor, demo
"""
