"""`python -m libragrad` is the command line too."""

from libragrad.cli import main

if __name__ == "__main__":
    main()
