"""What users notice of a roll or of a fault: two copies of every service, three nodes of NATS, a proxy, clients that ask and push.

`main` starts all of it and plays the scenarios; `faults` and `starts` are the scenarios; `questions` and `changes` are the
clients; `copies`, `cluster` and `proxies` are the processes; `points` compares indexes; `report` writes the table.
"""
