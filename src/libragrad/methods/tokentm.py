"""TokenTM: a rollout that knows how much each token grew and turned on its way.

For a step of the residual stream from tokens E to Ẽ

    W(E, Ẽ) = diag( ‖Ẽ_t‖ / (‖E_t‖ + 10⁻⁸) · softmax_t cos(E_t, Ẽ_t) )

and in each block, with E = h_l, then h_l + attention, then the block's output,

    U_attn = I + Ā W(h_l, h_l + attn) ⊙ mean_h ReLU(∂A),    U_mlp = I + W(h_l + attn, h_{l+1}),

    C₀ = diag ‖h₀[t]‖,    C ← U_mlp U_attn C;    the map is the row of C that the head reads.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from libragrad.errors import MethodError
from libragrad.methods.method import Method, from_pool, pools, row_zero, square, with_attention
from libragrad.observation.attention import Attention
from libragrad.observation.events import Event, Scene, Tally
from libragrad.observation.observer import Observer
from libragrad.observation.stream import Move

EPSILON = 1e-8


class TokenTM(Observer):
    """Pushes the row that the head reads through U_mlp and U_attn, last block first."""

    hears = frozenset({Event.STREAM, Event.ATTENTION})

    def __init__(self, scene: Scene) -> None:
        """Begin with what the head reads."""
        super().__init__(scene)
        self.row = self.first_row()
        self._moves: dict[int, list[Move]] = {}
        self._met = False

    def first_row(self) -> Tensor:
        """Return the row before any layer."""
        return self.scene.readout()

    def stream(self, moves: Sequence[Move]) -> None:
        """Keep the two steps of each block."""
        for move in moves:
            self._moves.setdefault(move.layer, []).append(move)

    def attention(self, at: Attention) -> None:
        """Push the row through the block's MLP, then through its attention."""
        if pools(at, self.scene):
            self.row = from_pool(at, _weighed, gradient=True).to(self.row)
            return
        square(at, self.scene, "TokenTM")
        moves = self._moves.get(at.layer, [])
        if len(moves) != 2:
            raise MethodError(
                "TokenTM does not apply here: it needs blocks that add their attention and then "
                f"their MLP to the residual stream, and layer {at.layer} adds {len(moves)} times."
            )
        by_attention, by_mlp = (_weight(move).to(self.row) for move in moves)
        row = self.row + self.row * by_mlp
        pulled = at.pull(row, _weighed)
        self.row = row + pulled * by_attention
        self._met = True

    def result(self) -> Tally:
        """Weigh by the length of the first tokens."""
        with_attention(self._met, "TokenTM")
        return self.row * self._moves[min(self._moves)][0].norm.to(self.row), self.rest


def _weighed(a: Tensor, da: Tensor) -> Tensor:
    """Return Ā ⊙ mean_h ReLU(∂A)."""
    return a.mean(1) * da.relu().mean(1)


def _weight(move: Move) -> Tensor:
    return move.grown / (move.norm + EPSILON) * move.cosine.softmax(-1)


class PaperTokenTM(TokenTM):
    """Reads row 0."""

    def first_row(self) -> Tensor:
        """Return row 0 of the unit matrix."""
        return row_zero(self.scene)


TOKENTM = Method(
    key="tokentm",
    title="TokenTM",
    formula="the head's row of Π_l U_mlp U_attn · diag ‖h₀‖",
    citation="Wu et al., Token Transformation Matters (CVPR 2024)",
    observer=TokenTM,
    paper=PaperTokenTM,
)
