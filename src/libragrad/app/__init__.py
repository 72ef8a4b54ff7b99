"""The page in the browser: upload a picture, pick classes, compare methods, delete patches.

    serve(loaded, host, port)   what `libragrad app` does
    page(loaded)                the Gradio page itself, for a server of one's own

The page computes nothing: it asks the functions that the API and the command line ask. Pictures
reach it as bytes and stay in memory; it takes no paths and no addresses.
"""

from libragrad.app.limits import Limits
from libragrad.app.page import page
from libragrad.app.serving import serve

__all__ = ["Limits", "page", "serve"]
