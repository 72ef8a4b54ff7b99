"""The call: `explain` for one, `Explainer` for many, and the `Explanation` that comes out."""
