"""A program with `input()`, as it is. Kill it while it waits, start it again, and answer: it goes on.

python examples/replace_input.py              and in another terminal: assent inbox, assent answer ID yes
"""

from pathlib import Path

from assent.hosts.stdin import ask_instead_of_input

__all__: list[str] = []


def main() -> None:
    """Do what such programs do."""
    if input("Refund order 7? [y/N] ").strip().lower() not in {"y", "yes"}:
        print("not refunded")
        return
    with Path("refunds.txt").open("a") as file:
        file.write("7\n")
    print("refunded order 7")


if __name__ == "__main__":
    with ask_instead_of_input(key="order-7"):
        main()
