"""The evaluation: cells, shards, a store that loses nothing, and tables.

    report = run("quick", "results")  # measures what the folder does not hold yet
    print(table("results"))  # the paper's layout

A run may be killed at any moment and started again, and several may share one folder.
"""

from libragrad.evaluation.extra import needs

with needs("evaluation", "an evaluation"):
    from libragrad.evaluation.tables import layouts, table

from libragrad.evaluation.bench import Bench, Worker
from libragrad.evaluation.cell import Cell
from libragrad.evaluation.library_bench import LibraryBench
from libragrad.evaluation.names import KNOWN
from libragrad.evaluation.plots import plot
from libragrad.evaluation.recipe import Recipe, TableSpec, load_recipe, recipe_names
from libragrad.evaluation.report import Failure, Report
from libragrad.evaluation.row import Deletion, Row
from libragrad.evaluation.running import run
from libragrad.evaluation.score import Score

__all__ = [
    "KNOWN",
    "Bench",
    "Cell",
    "Deletion",
    "Failure",
    "LibraryBench",
    "Recipe",
    "Report",
    "Row",
    "Score",
    "TableSpec",
    "Worker",
    "layouts",
    "load_recipe",
    "plot",
    "recipe_names",
    "run",
    "table",
]
