"""Rules: one file per kind of operation, each with its equation and the theorem it rests on."""
