"""`prism index`: a folder or a git URL becomes searchable.

naming.py names the repository, upload.py sends the files to the server, progress.py shows the progress of the
job, command.py runs these steps in order.
"""
