"""Who does the work: this process, other processes, or the actors of a Ray cluster."""
