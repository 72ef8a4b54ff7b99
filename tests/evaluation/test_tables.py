"""Tables against stored text, and scores against what the metrics say of the same curves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch

from libragrad.errors import ResultsError
from libragrad.evaluation import Cell, Deletion, Recipe, Row, Score, TableSpec, layouts, plot, table
from libragrad.evaluation.entry import Entry
from libragrad.evaluation.formats import FORMATS
from libragrad.evaluation.layout import Layout, Line
from libragrad.evaluation.names import PUBLISHED_MODELS
from libragrad.evaluation.plan import Shard
from libragrad.evaluation.published import Published
from libragrad.evaluation.query import measured
from libragrad.evaluation.shard_file import to_table
from libragrad.evaluation.store import Store
from libragrad.evaluation.tables import plan_note
from libragrad.metrics import METRICS, Estimate, mean_area, mif_accuracy, mif_aopc, srg_accuracy
from tests.evaluation.linear_bench import LinearBench
from tests.evaluation.runs import SIZE, demo, go

TINY = PUBLISHED_MODELS["ViT-T"]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    out = tmp_path_factory.mktemp("results")
    go(out)
    return out


def small(model=TINY, methods=("random", "fullgrad+")):
    cells = [
        Cell(model, "imagenet", method, "deletion", preset, samples=SIZE)
        for method in methods
        for preset in (("Standard",) if method == "random" else ("Standard", "Libra"))
    ]
    spec = TableSpec("MIF accuracy", (Score("mif_accuracy", "predicted"),), across="model")
    return Recipe("small", "one column", tuple(cells), (spec,))


@pytest.mark.parametrize("style", sorted(FORMATS))
def test_a_table_is_written_as_it_is_stored(tmp_path, style):
    go(tmp_path, recipe=small())
    stored = Path(__file__).with_name("tables") / f"small.{style}"
    assert table(tmp_path, style=style, paper=True) + "\n" == stored.read_text()


def test_a_recipe_with_two_models_gives_two_tables(results):
    text = table(results)
    assert text.count("Demo: a") == text.count("Demo: b") == 1
    assert text.count("Libra Input×Grad") == 2


def score(name, value, error=1.0, gain=None, rank=None, paper=None):
    return Entry(Score(name), Estimate(value, error, 9), gain, rank, paper)


LAYOUT = Layout(
    "50 % & more",
    ("MIF_1", "error"),
    (
        Line("A×B <i>", (score("mif_accuracy", 50.0), Entry(Score("completeness_error")))),
        Line(
            "Libra A×B",
            (
                score("mif_accuracy", 75.0, float("nan"), 50.0, 1, Published(74.9, 0.1)),
                score("completeness_error", 3.14e-7, 1e-9, rank=2),
            ),
        ),
    ),
    ("images: 9",),
)


def test_text_marks_the_best_and_the_second():
    assert FORMATS["text"](LAYOUT, False).splitlines() == [
        "50 % & more",
        "",
        "method              MIF_1                error",
        "──────────────────────────────────────────────",
        "A×B <i>        50.0 ± 1.0                    –",
        "Libra A×B  75.0 (+50 %) ¹  3.1e-07 ± 1.0e-09 ²",
        "──────────────────────────────────────────────",
        "images: 9",
    ]


def test_latex_and_html_escape_names():
    latex = FORMATS["latex"](LAYOUT, True)
    assert r"\caption{50 \% \& more}" in latex
    assert r"Libra A$\times$B & \textbf{75.0 (+50 \%)} & 74.9 $\pm$ 0.1 & \underline{" in latex
    page = FORMATS["html"](LAYOUT, False)
    assert "<caption>50 % &amp; more</caption>" in page
    assert '<th scope="row">A×B &lt;i&gt;</th><td>50.0 ± 1.0</td><td>–</td>' in page


def test_markdown_is_bold_and_underlined():
    assert FORMATS["markdown"](LAYOUT, False).splitlines()[-3:] == [
        "| Libra A×B | **75.0 (+50 %)** | <u>3.1e-07 ± 1.0e-09</u> |",
        "",
        "images: 9",
    ]


CELL = Cell("m", "d", "random", "deletion")


def rows_of(curves, label=1, predicted=2):
    """A shard of images with these (prediction, label and predicted probability) for both ends."""
    rows = [
        Row(
            CELL,
            str(number),
            label=label,
            predicted=predicted,
            removed=(0.0, 0.5, 1.0),
            most=Deletion(*most),
            least=Deletion(*least),
        )
        for number, (most, least) in enumerate(curves)
    ]
    records = tuple(row.image for row in rows)
    return to_table(Shard((CELL,), records, (("libragrad", "1"),)), rows)


CURVES = [
    (
        ((2, 1, 0), (0.3, 0.5, 0.1), (0.6, 0.2, 0.1)),
        ((2, 2, 1), (0.3, 0.2, 0.4), (0.6, 0.7, 0.2)),
    ),
    (
        ((2, 2, 2), (0.1, 0.1, 0.1), (0.9, 0.9, 0.9)),
        ((2, 0, 0), (0.1, 0.0, 0.0), (0.9, 0.1, 0.1)),
    ),
]


def test_all_scores_come_out_of_the_same_rows():
    rows = rows_of(CURVES)
    points = (0.0, 0.5, 1.0)
    hits = torch.tensor([[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    stays = torch.tensor([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    labelled = torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    drops = torch.tensor([[0.0, -0.2, 0.2], [0.0, 0.0, 0.0]], dtype=torch.float64)
    expected = {
        Score("mif_accuracy", "predicted"): mif_accuracy(hits, points),
        Score("mif_accuracy", "predicted", "mean"): mif_accuracy(hits, points, mean_area),
        Score("srg_accuracy", "predicted"): srg_accuracy(hits, stays, points),
        Score("mif_accuracy", "label"): mif_accuracy(labelled, points),
        Score("mif_aopc", "label"): mif_aopc(drops, points),
    }
    for asked, numbers in expected.items():
        torch.testing.assert_close(asked.per_image(rows), numbers, rtol=0, atol=1e-15)


def test_the_exact_numbers_of_a_linear_model(results):
    """Its maps are complete under Libra, and its tables are those of its own curves."""
    store = Store(results)
    worker = LinearBench(SIZE).worker("a", "cpu", 1)
    for part in measured(store, plan_note(store, None).items):
        if part.cell.model == "a" and part.cell.metric == "completeness":
            error = Score("completeness_error").per_image(part.rows).numpy()
            says = [worker.load("pictures", image) for image in part.rows["image"].to_pylist()]
            if part.cell.preset == "Libra":
                np.testing.assert_allclose(error, 0, atol=1e-14)
            elif part.cell.method == "input_x_grad":
                known = [
                    abs(0.1 * 10 - sum(p.says[t, p.label] for t in range(16) if t % 3))
                    for p in says
                ]
                np.testing.assert_allclose(error, known, atol=1e-14)


def test_images_without_a_label_count_for_predicted_labels_alone():
    first, second = CURVES
    rows = [rows_of([first]), rows_of([second], label=None)]
    both = pa.concat_tables([part.replace_schema_metadata() for part in rows])
    assert len(Score("mif_accuracy", "label").per_image(both)) == 1
    assert len(Score("mif_accuracy", "predicted").per_image(both)) == 2


def test_curves_of_one_cell_must_have_the_same_points():
    rows = rows_of(CURVES).replace_schema_metadata()
    other = pa.Table.from_pylist(
        [{**row, "removed": [0.0, 0.4, 1.0]} for row in rows.to_pylist()], schema=rows.schema
    )
    with pytest.raises(ValueError, match="curves with different points"):
        Score("mif_aopc").per_image(pa.concat_tables([rows, other]))


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_has_its_measurement(metric):
    wanted = {"mif": "deletion", "lif": "deletion", "srg": "deletion"}.get(metric[:3])
    wanted = wanted or ("completeness" if "completeness" in metric else "segmentation")
    assert Score(metric).measurement == wanted


def test_maps_of_a_target_are_held_against_its_labels(tmp_path):
    """Each column of a table with both targets is that of a table with its target alone."""
    spec = TableSpec("Both", (Score("mif_accuracy", "label"), Score("mif_accuracy", "predicted")))
    both = [replace(cell, target=t) for cell in small().cells for t in ("label", "predicted")]
    go(tmp_path / "both", recipe=replace(small(), cells=tuple(both), tables=(spec,)))
    (together,) = layouts(tmp_path / "both")
    for place, target in enumerate(("label", "predicted")):
        cells = tuple(cell for cell in both if cell.target == target)
        alone = replace(spec, scores=(spec.scores[place],))
        go(tmp_path / target, recipe=replace(small(), cells=cells, tables=(alone,)))
        (single,) = layouts(tmp_path / target)
        for line, other in zip(together.lines, single.lines, strict=True):
            assert line.entries[place] == other.entries[0]
    assert together.lines[2].entries[0].ours != together.lines[2].entries[1].ours


def test_a_cell_without_any_result_has_none_in_the_table(tmp_path):
    go(tmp_path, LinearBench(SIZE, hopeless=("random",)), recipe=small(), limit=5)
    assert next(line for line in table(tmp_path).splitlines() if "Random" in line).endswith("  –")


def test_an_unfinished_table_says_so(tmp_path):
    bench = LinearBench(SIZE, lost=("b",))
    go(tmp_path, bench, recipe=replace(demo(), tables=(replace(demo().tables[0], split=None,
       across="model"),)))  # fmt: skip
    text = table(tmp_path)
    assert "not measured yet: 6 of 12 cells" in text
    assert "unfinished: 180 of 360 rows; run the evaluation again to continue" in text


def test_what_a_folder_does_not_hold_is_said(tmp_path, results):
    with pytest.raises(ResultsError, match="holds no results: run an evaluation into it first"):
        table(tmp_path)
    with pytest.raises(ResultsError, match="holds no results of recipe 'quick', only of demo"):
        table(results, "quick")
    with pytest.raises(ValueError, match="no format 'markdwon'; did you mean 'markdown'"):
        table(results, style="markdwon")


def test_a_folder_with_two_recipes_asks_which(tmp_path):
    go(tmp_path, limit=5)
    go(tmp_path, recipe=small(), limit=5)
    with pytest.raises(ResultsError, match="results of several recipes: say which of demo, small"):
        table(tmp_path)
    assert "ViT-T" in table(tmp_path, "small")


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_a_plot_draws_every_curve(results, tmp_path, suffix):
    path = plot(results, tmp_path / f"curves.{suffix}")
    assert path.stat().st_size > 1000
    if suffix == "svg":
        assert path.read_text().count("Libra Input×Grad") >= 1


def test_a_plot_of_anything_but_a_curve_is_refused(results, tmp_path):
    with pytest.raises(ValueError, match="a plot draws the curve of a MIF or LIF score; got 'srg"):
        plot(results, tmp_path / "a.png", score=Score("srg_aopc"))
    go(tmp_path, recipe=replace(demo(), cells=tuple(
        cell for cell in demo().cells if cell.metric == "completeness")))  # fmt: skip
    with pytest.raises(ResultsError, match="holds no deletion curves of recipe 'demo'"):
        plot(tmp_path, tmp_path / "a.png")
