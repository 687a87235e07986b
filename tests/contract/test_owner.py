"""What a store tells of whose things are: how much one asker has open, and who began a flow."""

from msgspec.structs import replace

from assent.protocol.ask import State
from assent.storage.port import Step
from tests.contract.conftest import MakeStore
from tests.contract.writing import AT, append_end, append_open, store_asks, writing
from tests.samples import new_ask

__all__: list[str] = []


def test_open_asks_of_one_asker_are_counted_with_those_of_the_transaction(make_store: MakeStore) -> None:
    """Those of others, of other projects, and those that have ended are not among them."""
    store = make_store()
    one, two, other = (new_ask(number, asker=asker) for number, asker in enumerate(["a", "a", "b"], 1))
    kept = store_asks(store, one, two, other, replace(new_ask(4, project="q"), asker="a"))
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        assert transaction.count_open_of(head, "a") == 2
        append_open(transaction, head, new_ask(5, asker="a"))
        assert transaction.count_open_of(head, "a") == 3
        transaction.prefetch("p", [kept[0].ask_id], [])
        append_end(transaction, head, kept[0], State.WITHDRAWN)
        assert transaction.count_open_of(head, "a") == 2
    with writing(store) as transaction:
        assert transaction.count_open_of(transaction.head("p", AT), "a") == 2


def test_beginner_of_a_flow_is_who_wrote_its_first_entry(make_store: MakeStore) -> None:
    """Whoever goes on with it; and nobody for a flow that was not begun."""
    store = make_store()
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        for step in (
            Step("flow", 0, "d", "done", b"{}", "agent:a"),
            Step("flow", 1, "d", "done", b"{}", "human:b"),
        ):
            transaction.append(head, "flow.stepped", "flow", b"{}")
            transaction.put_step(head, step)
    with store.reading() as reader:
        assert reader.beginners("p", ["flow", "flo", "flow:1"]) == {"flow": "agent:a"}
        assert reader.beginners("q", ["flow"]) == {}
