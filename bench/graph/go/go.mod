module prism/bench/graph

go 1.27
