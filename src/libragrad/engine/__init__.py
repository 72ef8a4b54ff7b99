"""The engine: puts the rules of a preset on any model, and keeps the account."""
