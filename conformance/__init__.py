"""Every model that can be built here, asked for an account that balances.

A zoo lists case names and builds one case from its name. A case is judged in a worker process, its
verdict is one JSON line, and the report is written from the lines. Run it with

    python -m conformance --zoo timm,transformers,torchvision,open_clip
"""
