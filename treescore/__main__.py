"""`python -m treescore` is the command `treescore`."""

from treescore.cli.main import main

if __name__ == "__main__":
    main(prog_name="treescore")
