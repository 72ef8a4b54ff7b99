"""Every allocation of a piece of work, those inside fused kernels and C++ autograd included."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from torch.profiler import ProfilerActivity, profile


@dataclass
class Allocations:
    """Bytes, counted from where the watch began."""

    held: int = 0
    peak: int = 0
    largest: int = 0

    def add(self, size: int) -> None:
        """Account one allocation, or one release (negative)."""
        self.held += size
        self.peak = max(self.peak, self.held)
        self.largest = max(self.largest, size)


@contextmanager
def watched() -> Iterator[Allocations]:
    """Watch PyTorch's CPU allocator; the result is filled in on leaving."""
    result = Allocations()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        yield result
    with TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text())["traceEvents"]
    memory = [event for event in events if event.get("name") == "[memory]"]
    for event in sorted(memory, key=lambda event: float(event["ts"])):
        result.add(int(event["args"]["Bytes"]))
