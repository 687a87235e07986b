"""How the contract's tests write: as the hub does, with the mutex held, an event beside every row."""

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from assent.protocol.ask import Ask, State
from assent.storage.port import Head, Store, Transaction
from tests.samples import NOON, microseconds, new_answer, new_outcome

__all__ = ["AT", "append_end", "append_open", "store_asks", "writing"]

AT = microseconds(NOON)


@contextmanager
def writing(store: Store) -> Iterator[Transaction]:
    """Give a transaction that is committed at the end."""
    with store.mutex_of("p"), store.transaction() as transaction:
        yield transaction


def append_open(transaction: Transaction, head: Head, ask: Ask) -> Ask:
    """Open `ask` as the hub would; return it with its number."""
    transaction.append(head, "ask.opened", ask.ask_id, b"{}")
    ask = replace(ask, sequence=head.sequence)
    transaction.put(head, ask)
    return ask


def append_end(transaction: Transaction, head: Head, ask: Ask, state: State = State.ANSWERED) -> Ask:
    """End `ask` as the hub would; return it as it is then."""
    transaction.append(head, f"ask.{state}", ask.ask_id, b"{}")
    if state is State.ANSWERED:
        ask = replace(ask, state=state, answer=new_answer(), sequence=head.sequence)
    else:
        ask = replace(ask, state=state, outcome=new_outcome(state), sequence=head.sequence)
    transaction.put(head, ask)
    return ask


def store_asks(store: Store, *asks: Ask, at: int = AT) -> list[Ask]:
    """Open all of `asks` in one transaction; return them with their numbers."""
    with writing(store) as transaction:
        return [append_open(transaction, transaction.head(ask.project, at), ask) for ask in asks]
