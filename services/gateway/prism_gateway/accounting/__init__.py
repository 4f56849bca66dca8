"""What happened at the doors: usage, audit, history of questions, feedback.

Calls note facts in memory. Background tasks store them in streams, so no call waits for it.
"""
