"""Speed and memory of the balanced backward pass against its peers: ``python -m benchmarks``.

Every time is a multiple of the no-grad forward measured in the same round, so that a machine's
mood cancels. Every peer that cannot run is in the table with the reason.
"""
