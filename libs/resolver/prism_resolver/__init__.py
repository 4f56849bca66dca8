"""What the references of files mean: from what a parser saw in each file to edges between symbols. Pure."""
