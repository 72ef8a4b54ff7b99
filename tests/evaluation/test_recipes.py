"""Every recipe names what exists, and together they make every number that the paper prints."""

from __future__ import annotations

import csv
import gzip
import io
from importlib.resources import files

import pytest

from libragrad.errors import RecipeError
from libragrad.evaluation import KNOWN, Cell, Score, load_recipe, recipe_names
from libragrad.evaluation.layout import lay_out
from libragrad.evaluation.names import PUBLISHED_MODELS, cell_title
from libragrad.evaluation.published import find_published, published_numbers
from libragrad.methods.table import METHODS
from libragrad.models.loading import SOURCES


def printed():
    """The tables of the paper, each with the places and numbers of its rows."""
    packed = files("libragrad.evaluation").joinpath("paper", "results.csv.gz").read_bytes()
    _, *rows = csv.reader(io.StringIO(gzip.decompress(packed).decode()))
    tables: dict[str, dict] = {}
    for table, *place, value, bound in rows:
        tables.setdefault(table, {})[tuple(place)] = (float(value), float(bound))
    return tables


@pytest.fixture(scope="module", params=recipe_names())
def recipe(request):
    return load_recipe(request.param, KNOWN)


def test_a_recipe_says_what_it_is(recipe):
    assert recipe.summary
    assert len(set(recipe.cells)) == len(recipe.cells)


def test_a_recipe_names_models_that_exist(recipe):
    timm = SOURCES["timm"]
    assert timm.builds is not None
    known = {*timm.names(), *timm.builds(), "builtin:mosaic"}
    assert {cell.model for cell in recipe.cells} <= known


def test_every_cell_has_its_place_in_a_table(recipe):
    measurements = {score.measurement for spec in recipe.tables for score in spec.scores}
    assert {cell.metric for cell in recipe.cells} == measurements
    for spec in recipe.tables:
        for layout in lay_out(spec, recipe.cells, []):  # no two cells in one place, or it raises
            names = [line.name for line in layout.lines]
            assert len(set(names)) == len(names)


@pytest.mark.parametrize("table", sorted(printed()))
def test_a_recipe_makes_every_number_of_its_table(table):
    recipe = load_recipe(table.replace("_", "-"), KNOWN)
    made = {
        entry.paper
        for spec in recipe.tables
        for layout in lay_out(spec, recipe.cells, [])
        for line in layout.lines
        for entry in line.entries
    }
    numbers = {published_numbers()[place] for place in printed()[table]}
    assert numbers <= made


def test_the_published_names_are_those_of_the_paper():
    models = {place[0] for rows in printed().values() for place in rows}
    assert models == set(PUBLISHED_MODELS)


@pytest.mark.parametrize(
    ("cell", "score", "value"),
    [
        (("random", "Standard", "point"), Score("mif_accuracy", "predicted"), 40.5),
        (("fullgrad+", "Standard", "point"), Score("mif_accuracy", "predicted"), 65.9),
        (("fullgrad+", "Libra", "point"), Score("mif_accuracy", "predicted"), 81.7),
        (("fullgrad+", "Libra", "point"), Score("mif_accuracy", "label"), 84.2),
        (("input_x_grad", "Standard", "integrated"), Score("srg_accuracy", "predicted"), 62.0),
        (("alilrp", "Standard", "point"), Score("lif_accuracy", "predicted"), 73.0),
        (("fullgrad+", "Libra", "integrated"), Score("mif_accuracy", "predicted"), None),
        (("fullgrad+", "Libra", "point"), Score("pointing_game"), None),
        (("layercam", "Libra", "point"), Score("mif_accuracy"), None),
    ],
)
def test_published_numbers_are_found_by_their_cell(cell, score, value):
    method, preset, path = cell
    tiny = Cell(PUBLISHED_MODELS["ViT-T"], "imagenet", method, "deletion", preset, path)
    found = find_published(tiny, score)
    assert (None if found is None else found.value) == value


@pytest.mark.parametrize(
    ("preset", "value"), [("Libra", 71.7), ("neither", 61.2), ("no gate", 67.0), ("plain", 48.0)]
)
def test_published_ablations_are_found(preset, value):
    cell = Cell(PUBLISHED_MODELS["EVA2-S"], "imagenet", "fullgrad+", "deletion", preset)
    found = find_published(cell, Score("mif_accuracy", "predicted"))
    assert found is not None
    assert found.value == value


def test_every_method_and_preset_has_a_title():
    for method in METHODS:
        for preset in KNOWN["preset"]:
            for path in KNOWN["path"]:
                assert cell_title(Cell("m", "d", method, "deletion", preset, path))


GOOD = """
summary = "s"
[[cells]]
model = ["a", "ViT-T"]
dataset = "imagenet"
method = ["genatt", "attcat"]
metric = "deletion"
[[tables]]
scores = [{ metric = "mif_accuracy" }]
"""


def test_lists_stand_for_their_product(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(GOOD)
    recipe = load_recipe(str(path), KNOWN)
    assert recipe.name == "own"
    assert [(cell.model, cell.method) for cell in recipe.cells] == [
        ("a", "genatt"),
        ("a", "attcat"),
        (PUBLISHED_MODELS["ViT-T"], "genatt"),
        (PUBLISHED_MODELS["ViT-T"], "attcat"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("genatt", "genat", "recipe {}: no method 'genat'; did you mean 'genatt'?"),
        ('"imagenet"', '"imagnet"', "recipe {}: no dataset 'imagnet'; did you mean 'imagenet'?"),
        ('"deletion"', '"deletio"', "recipe {}: no metric 'deletio'; did you mean 'deletion'?"),
        (
            'metric = "deletion"',
            'metric = "deletion"\npreset = "Libr"',
            "recipe {}: no preset 'Libr'; did you mean 'Libra'?",
        ),
        ("method", "methods", "recipe {}, [[cells]]: no key 'methods'; did you mean 'method'?"),
        (
            "mif_accuracy",
            "mif_acuracy",
            "recipe {}, scores: no metric 'mif_acuracy'; did you mean 'mif_accuracy'?",
        ),
        ('summary = "s"', "", "recipe {} has no summary"),
        ("[[cells]]", "[[cell]]", "recipe {}, the recipe: no key 'cell'; did you mean 'cells'?"),
        ('model = ["a", "ViT-T"]', "", "recipe {}: a [[cells]] block has no model"),
        ("[[tables]]\n", "[[tables]]\nacross = 'modle'\n", "recipe {}: no field of a cell in across"
         " 'modle'; did you mean 'model'?"),
        ('scores = [{ metric = "mif_accuracy" }]', "title = ''", "recipe {}: a [[tables]] block has"
         " no scores"),
        ('dataset = "imagenet"', 'dataset = "imagenet"\nsamples = 0', "recipe {}: samples must "
         "be a positive number; got 0"),
        ('dataset = "imagenet"', 'dataset = 3', "recipe {}: dataset must be text; got 3"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_recipe_is_said(tmp_path, old, new, message):
    path = tmp_path / "own.toml"
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(RecipeError) as wrong:
        load_recipe(str(path), KNOWN)
    assert str(wrong.value) == message.format(path)


def test_a_file_that_is_not_toml_is_said(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(GOOD.replace('"deletion"', '"deletion'))
    with pytest.raises(RecipeError, match=r"recipe .*own\.toml is not TOML: .*line 7"):
        load_recipe(str(path))


def test_two_cells_in_one_place_of_a_table_are_refused(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(GOOD)
    recipe = load_recipe(str(path), KNOWN)
    with pytest.raises(RecipeError) as wrong:
        lay_out(recipe.tables[0], recipe.cells, [])
    assert str(wrong.value) == (
        "table 'own' has one place for deletion of genatt (Standard, point) on a and deletion of "
        f"genatt (Standard, point) on {PUBLISHED_MODELS['ViT-T']}; tell them apart by across or "
        "split"
    )


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(RecipeError, match=r"recipe .*none\.toml cannot be read: .*No such file"):
        load_recipe(str(tmp_path / "none.toml"))


def test_an_unknown_recipe_lists_the_others_when_none_is_near():
    with pytest.raises(RecipeError, match=r"no recipe 'zzz'; there are ablation, .*, vit-tiny$"):
        load_recipe("zzz")
