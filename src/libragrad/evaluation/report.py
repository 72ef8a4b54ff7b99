"""What a run did, and what failed, by name."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Failure", "Report"]

_SHOWN = 10


@dataclass(frozen=True, order=True)
class Failure:
    """Images that have no result, with the cause and how many cells are concerned."""

    model: str
    dataset: str
    image: str
    cause: str
    cells: int

    def __str__(self) -> str:
        cells = "1 cell" if self.cells == 1 else f"{self.cells} cells"
        return f"{self.image} of {self.dataset}, {self.model} ({cells}): {self.cause}"


@dataclass(frozen=True)
class Report:
    """The end of a run.

    Attributes:
        recipe: the recipe's name.
        folder: the results folder.
        measured: rows that this run added.
        kept: rows that were there before, or came from another run on the folder.
        failures: images that failed; their rows are kept as failures.
        unfinished: a line for each shard that nobody could measure, with its cause.
        set_aside: a line for each corrupt shard that was found.
    """

    recipe: str
    folder: str
    measured: int
    kept: int
    failures: tuple[Failure, ...] = ()
    unfinished: tuple[str, ...] = ()
    set_aside: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 if every row of the recipe has its result, else 1."""
        return int(bool(self.failures or self.unfinished))

    def __str__(self) -> str:
        lines = [f"{self.recipe}: {self.measured} rows measured, {self.kept} kept, {self.folder}"]
        for title, entries in (
            ("corrupt shards", self.set_aside),
            ("failed images", self.failures),
            ("shards without a result", self.unfinished),
        ):
            if entries:
                lines.append(f"{title}: {len(entries)}")
                lines += [f"  {entry}" for entry in entries[:_SHOWN]]
            if len(entries) > _SHOWN:
                lines.append(f"  and {len(entries) - _SHOWN} more")
        return "\n".join(lines)
