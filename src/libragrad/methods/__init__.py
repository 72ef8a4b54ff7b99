"""Attribution methods, one a file: small observers of one backward pass. `table.py` lists them."""
