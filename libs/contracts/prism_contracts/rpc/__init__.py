"""Requests and replies by topic. Each module ends with its `Rpc`s; `prism_contracts.all_rpcs` lists every one."""
