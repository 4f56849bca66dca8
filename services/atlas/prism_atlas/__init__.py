"""The graph of a repository as a whole: who depends on whom, what is central, how it hangs together."""
