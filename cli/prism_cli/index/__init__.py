"""`prism index`: a folder or a git URL becomes searchable.

naming.py says what the repository is called, upload.py brings the files to the server, progress.py shows how far
the job is, command.py puts them in order.
"""
