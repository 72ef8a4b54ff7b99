"""What is explained: a class by its index, label or rank, a prompt, a contrast, a probability.

    goal = goals(target, output, labels=labels_of(model, width), kind=Output.PROBABILITY)
    goal.scalars(output).sum().backward()

Everything here runs outside `balanced()`: from the model's output to y, PyTorch's own gradient.
"""

from libragrad.targets.goal import Goal, goals
from libragrad.targets.kinds import Contrastive, Output
from libragrad.targets.labels import labels_of
from libragrad.targets.prompts import PromptModel, prompted
from libragrad.targets.similarity import Directions, Similarity
from libragrad.targets.specs import Contrast, Predicted, Prompt, Target

__all__ = [
    "Contrast",
    "Contrastive",
    "Directions",
    "Goal",
    "Output",
    "Predicted",
    "Prompt",
    "PromptModel",
    "Similarity",
    "Target",
    "goals",
    "labels_of",
    "prompted",
]
