"""Work that handlers share, or that is too long for one: adapters give data, core decides."""
