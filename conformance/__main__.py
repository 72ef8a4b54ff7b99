"""The command line: `python -m conformance --zoo timm,transformers,torchvision,open_clip`."""

from __future__ import annotations

import argparse
import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from conformance import report, results, zoos
from conformance.worker import Worker


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    arguments = argparse.ArgumentParser(prog="python -m conformance", description=__doc__)
    add = arguments.add_argument
    add("--zoo", default=",".join(zoos.ZOOS), help="zoos, separated by commas")
    add("--all-timm", action="store_true", help="every name of timm, not two of every model file")
    add("--only", default="", help="a regular expression that the case name must contain")
    add("--again", default="", help="verdicts to judge again, separated by commas, or 'all'")
    add("--memory", type=float, default=6.0, help="GiB that the float64 parameters may take")
    add("--timeout", type=float, default=600.0, help="seconds that one case may take")
    add("--jobs", type=int, default=1, help="worker processes")
    add("--write", action="store_true", help="judge nothing, only write the report anew")
    add("--native", action="store_true", help="only check that the models run, without the engine")
    add("--results", type=Path, default=Path("out/conformance.jsonl"), help="rows, appended")
    add("--out", type=Path, default=Path("docs/conformance.md"), help="the report")
    return arguments


def cases(chosen: list[str], all_timm: bool, only: str) -> list[tuple[str, str]]:
    """The (zoo, name) of every chosen case."""
    pattern, found = re.compile(only), []
    for zoo in chosen:
        module = zoos.load(zoo)
        names = module.names(everything=True) if zoo == "timm" and all_timm else module.names()
        found += [(zoo, name) for name in names if pattern.search(name)]
    return found


def page(rows: dict[tuple[str, str], results.Row]) -> str:
    """The report on every case that there is, whether a run has come to it or not."""
    listed, unbuilt = cases(list(zoos.ZOOS), True, ""), zoos.load("transformers").left_out()
    for name, says in unbuilt.items():
        row = {"zoo": "transformers", "name": name, "verdict": "not built", "detail": says}
        rows["transformers", name] = row
    return report.markdown(rows, [*listed, *(("transformers", name) for name in unbuilt)])


def main() -> None:
    """Judge what has no verdict yet, then write the report from everything that has one."""
    options = parser().parse_args()
    warnings.simplefilter("ignore")
    wanted = cases(options.zoo.split(","), options.all_timm, options.only)
    rows = {} if options.again == "all" else results.read(options.results)
    left = [] if options.write else results.pending(wanted, rows, options.again.split(","))
    print(f"{len(wanted)} cases, {len(left)} to judge", flush=True)
    workers: SimpleQueue[Worker] = SimpleQueue()
    handles = [
        Worker(options.memory * 2**30, options.timeout, options.native) for _ in range(options.jobs)
    ]
    for handle in handles:
        workers.put(handle)

    def one(case: tuple[str, str]) -> results.Row:
        worker = workers.get()
        try:
            return worker.judge(*case)
        finally:
            workers.put(worker)

    with ThreadPoolExecutor(options.jobs) as pool:
        for number, row in enumerate(pool.map(one, left), 1):
            results.append(options.results, row)
            print(f"[{number}/{len(left)}] {report.line(row)}", flush=True)
    for handle in handles:
        handle.close()
    if not options.native:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(page(results.read(options.results)))


if __name__ == "__main__":
    main()
