"""The `prism` command: runs the stack on one machine, and gives people what agents get.

main, commands/   arguments, help, exit codes        stack/    supervisor of the local services
up, connect       start a stack, connect agents      client    Prism over HTTP
index/, sync/     index a folder or git URL, edits   bridge/   MCP over stdio
"""
