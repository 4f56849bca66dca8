"""Indexes in SCIP format, the code intelligence protocol of https://github.com/scip-code/scip."""
