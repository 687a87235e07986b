"""`python -m assent` is the command."""

from assent.cli import main

if __name__ == "__main__":
    main()
