"""What answers cost an agent: the same questions, answered by the same agent once per arm.

An arm is a set of tools: `prism` (Prism's tools over MCP, as text), `rg` (ripgrep, `read` and `ls`), or any other
command. `ask` runs one tool, prints its text and logs what it cost. `score` compares the answers with places that were
worked out by hand. `main` sets everything up, runs an agent command per arm, and prints the table.

questions  what is asked, and the places that answer it
arms       the tools of each arm
ask        runs one tool call of an agent, and logs it
explorer   an agent without a model, which calls the fitting tool and follows `next:`; keeps the harness working
score      answers against the truth
report     the table
"""
