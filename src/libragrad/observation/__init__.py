"""Observation: what attribution methods hear while one backward pass goes by, last layer first."""
