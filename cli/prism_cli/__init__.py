"""The `prism` command: runs the stack on one machine, and gives people what agents get.

main         arguments, help, exit codes             stack/    supervisor of the local services
up, connect  start a stack, connect agents           client    Prism over HTTP
index/       index a folder or git URL               search, status, doctor, demo
"""
