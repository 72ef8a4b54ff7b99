"""Blocks, tokens, grid and prefix of a model: found in a run, not asked of the user."""
