"""The chain's links: what a changed, cut or moved event does to them."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.storage.chain import genesis, link

__all__: list[str] = []

DIGEST = sha256(b"body").digest()
WHOLE = (genesis("p"), 1, 1_000, "ask.opened", "ask_1", DIGEST)


def test_link_is_the_hash_of_its_written_form() -> None:
    """A second program can check the chain from this line alone."""
    header = b"1\n1000\nask.opened\nask_1\n"
    assert link(*WHOLE) == sha256(genesis("p") + header + DIGEST).digest()


def test_genesis_differs_by_project() -> None:
    """A log cannot be passed off as another project's."""
    assert genesis("p") != genesis("q")
    assert genesis("p") == sha256(b"assent log\np").digest()


@pytest.mark.parametrize(
    ("place", "other"),
    [
        (0, genesis("q")),
        (1, 2),
        (2, 1_001),
        (3, "ask.answered"),
        (4, "ask_2"),
        (5, sha256(b"other").digest()),
    ],
    ids=["previous", "sequence", "at", "type", "subject", "digest"],
)
def test_link_depends_on_every_part(place: int, other: object) -> None:
    """Whatever is changed, the hash is another."""
    changed = [*WHOLE]
    changed[place] = other
    assert link(*changed) != link(*WHOLE)  # type: ignore[arg-type]  # one part was swapped


@given(st.lists(st.binary(max_size=8), min_size=2, max_size=6), st.data())
def test_event_moved_or_cut_out_breaks_every_later_link(bodies: list[bytes], data: st.DataObject) -> None:
    """The last hash stands for the whole log in its order."""

    def last(events: list[tuple[int, bytes]]) -> bytes:
        hash_ = genesis("p")
        for sequence, body in events:
            hash_ = link(hash_, sequence, 0, "t", "s", sha256(body).digest())
        return hash_

    events = list(enumerate(bodies, 1))
    cut = data.draw(st.integers(0, len(events) - 1))
    assert last(events[:cut] + events[cut + 1 :]) != last(events)
    assert last(events[::-1]) != last(events)
