"""`python -m service.openapi` writes openapi.yaml; with `--check` it only compares."""

import argparse
import sys

from service.openapi.build import PUBLISHED, built, difference


def main(arguments: list[str]) -> int:
    """Write or check the published document; return 1 if a check fails."""
    parser = argparse.ArgumentParser(prog="python -m service.openapi", description="Build openapi.yaml.")
    parser.add_argument("--check", action="store_true", help="compare with the committed file, write nothing")
    wanted = built()
    if not parser.parse_args(arguments).check:
        PUBLISHED.write_text(wanted, encoding="utf-8")
        return 0
    found = difference(PUBLISHED.read_text(encoding="utf-8"), wanted)
    if found:
        sys.stdout.write(f"{found}\nopenapi.yaml differs. Run `python -m service.openapi` and commit the result.\n")
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
