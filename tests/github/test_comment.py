"""A gate as a comment on a pull request: answered by a person who may, once, and by nobody's small talk."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from assent.effects.github.channel import Channel
from assent.protocol.answer import find_destructive
from assent.protocol.approval import approval_prompt
from assent.protocol.ask import Ask, Kind, State
from assent.protocol.canonical import digest
from assent.protocol.error import (
    ConfirmFirstError,
    ConflictError,
    ForbiddenError,
    GitHubError,
    StoreBusyError,
)
from assent.protocol.gate import CHUNK_LOOP, PHASE_GATE, Gate, check_question, render_gate
from assent.protocol.principal import Assurance, parse_principal
from assent.protocol.prompt import Option, Prompt, question
from assent.protocol.reply import recognise
from assent.surfaces import comment as comment_module
from assent.surfaces.card import short_id
from assent.surfaces.comment import Collected, collect
from assent.surfaces.comment_author import Author, principal_of
from assent.surfaces.comment_gate import PostedGate, close_gate, post_gate
from assent.surfaces.comment_text import render_answered
from tests.github.double import HEAD, Double, Fault
from tests.github.samples import PULL
from tests.proves import proves
from tests.samples import digest_of, new_answer, new_ask, new_outcome

__all__: list[str] = []

GATE = Gate(CHUNK_LOOP, "Chunk 1 of 3: 2 findings.", ("H1", "M1")).prompt
NONCE = "n0nce"

DOUBT = " (by a comment, which anybody with that login can write)"


def gate_ask(prompt: Prompt = GATE, number: int = 1, kind: Kind = Kind.GATE) -> Ask:
    """Return an open gate."""
    return new_ask(number, kind=kind, prompt=prompt, digest=digest_of(prompt))


class Desk:
    """Takes answers as the hub does, and remembers all that reached it."""

    def __init__(self, ask: Ask) -> None:
        self.ask = ask
        self.heard: list[tuple[str, str]] = []
        self.is_wary = False
        """It takes nobody's word for an answer."""

    def answer(self, author: Author, text: str, *, reason: str = "", is_confirmed: bool = False) -> Ask:
        """Take a recognised reply."""
        principal = author.principal
        self.heard.append((str(principal), text))
        if self.is_wary:
            raise ForbiddenError("A process's word is not enough.")
        values = recognise(self.ask.prompt, text)
        if find_destructive(self.ask.prompt, values) is not None and not is_confirmed:
            raise ConfirmFirstError
        if not self.ask.is_open:
            raise ConflictError(ask=self.ask)
        given = new_answer(values=values, text=text, by=str(principal), reason=reason)
        self.ask = replace(self.ask, state=State.ANSWERED, answer=given)
        return self.ask

    def decline(self, author: Author, reason: str) -> Ask:
        """Take a no."""
        self.heard.append((str(author.principal), f"declined: {reason}"))
        outcome = new_outcome(State.DECLINED, by=str(author.principal), reason=reason)
        self.ask = replace(self.ask, state=State.DECLINED, outcome=outcome)
        return self.ask


class Scene:
    """A gate on a pull request, and who may answer it."""

    def __init__(
        self, channel: Channel, double: Double, prompt: Prompt = GATE, kind: Kind = Kind.GATE
    ) -> None:
        self.channel, self.double = channel, double
        double.permissions = {
            "ana": "write",
            "mo": "maintain",
            "root": "admin",
            "tri": "triage",
            "reader": "read",
        }
        self.desk = Desk(gate_ask(prompt, kind=kind))
        self.name = short_id(self.desk.ask.ask_id)
        self.posted: PostedGate = post_gate(channel, PULL, self.desk.ask, NONCE)

    def collect(self, others_open: int = 0, desk: Desk | None = None) -> Collected:
        """Look once, and keep what is to be kept."""
        came = collect(self.channel, self.posted, self.desk.ask, others_open, desk or self.desk)
        self.posted = came.posted
        return came

    @property
    def echoes(self) -> list[str]:
        """What we wrote beside the gate."""
        return [each["body"] for each in self.double.comments if "<!-- assent:echo" in each["body"]]


@pytest.fixture
def scene(channel: Channel, double: Double) -> Scene:
    """Give a gate of a chunk."""
    return Scene(channel, double)


@proves("G2")
def test_gate_is_posted_as_the_same_block(scene: Scene, double: Double) -> None:
    """G-X2: the block, how to answer, and a hidden mark."""
    (comment,) = double.comments
    assert comment["body"].startswith(
        render_gate(GATE) + "\n\n---\nTo answer, write a comment that begins with "
    )
    assert comment["body"].endswith(f"<!-- assent:gate {scene.desk.ask.ask_id} {NONCE} {HEAD} -->")
    assert f"`/gate {scene.name} 1`" in comment["body"]
    assert (scene.posted.comment_id, scene.posted.head_sha) == (comment["id"], double.head)


def test_gate_calls_nobody_and_hides_nothing(channel: Channel, double: Double) -> None:
    """The summary is an agent's."""
    scene = Scene(channel, double, Gate(PHASE_GATE, "@ana <!-- secret --> ```\nnever closed").prompt)
    body = double.comments[0]["body"]
    assert "`@ana` &lt;!-- secret" in body
    assert body.count("<!--") == 1
    assert "\n```" not in body
    double.say("ana", "Proceed")
    assert scene.collect().ask is not None


def test_gate_that_is_too_long_is_cut_in_its_summary_only(channel: Channel, double: Double) -> None:
    """All options stay, and the sentence says that something is missing."""
    scene = Scene(channel, double, Gate(CHUNK_LOOP, "x" * 80_000, ("H1",)).prompt)
    body = double.comments[0]["body"]
    assert len(body) <= 65_000
    assert "**Cut here:**" in body
    assert "4. Skip to synthesis\n\n*Type a number or command to proceed.*" in body
    double.say("ana", "1")
    answered = scene.collect().ask
    assert answered is not None
    assert len(double.comments[0]["body"]) <= 65_536


def test_action_that_is_too_long_is_not_posted(channel: Channel, double: Double) -> None:
    """What will be done is shown whole, or not at all."""
    ask = gate_ask(replace(question("Run it?", ["Yes", "No"]), action={"command": "x" * 70_000}))
    with pytest.raises(GitHubError, match="only be shown whole"):
        post_gate(channel, PULL, ask, NONCE)
    assert double.comments == []


@proves("G36", "G37", "G44")
@pytest.mark.parametrize("others_open", [0, 2])
@pytest.mark.parametrize(
    ("typed", "label"), [("1", "Continue"), ("skip to SYNTHESIS", "Skip to synthesis"), ("pause", "pause")]
)
def test_reply_that_names_the_gate_is_taken(
    scene: Scene, double: Double, typed: str, label: str, others_open: int
) -> None:
    """By the same recogniser as everywhere."""
    reply = double.say("ana", f"/gate {scene.name} {typed}\n\n> quoted\n\n")
    came = scene.collect(others_open)
    assert came.ask is not None
    assert came.ask.answer is not None
    assert came.ask.answer.values == {"action": (label,)}
    assert scene.desk.heard == [("human:ana@github", typed)]
    assert double.reactions == [(reply, "rocket")]
    assert double.comments[0]["body"].startswith(f"**Answered** by `ana`{DOUBT}: `{label}`\n\n---\n### ")


def test_reply_below_the_quoted_gate_is_taken(scene: Scene, double: Double) -> None:
    """Whoever quotes it may copy its hidden marker along."""
    quoted = "\n".join(f"> {line}" for line in double.comments[0]["body"].split("\n"))
    double.say("ana", f"{quoted}\n\n1")
    assert scene.collect().ask is not None


def test_plain_number_is_taken_only_where_no_other_gate_is_open(scene: Scene, double: Double) -> None:
    """Else nobody knows which gate it is for."""
    double.say("ana", "2")
    assert scene.collect(others_open=1).ask is None
    double.say("ana", "2")
    assert scene.collect(others_open=0).ask is not None
    assert len(scene.desk.heard) == 1


@proves("G16", "G17", "G18", "G19", "G20")
def test_named_reply_that_is_not_understood_is_echoed_once(scene: Scene, double: Double) -> None:
    """With the brief list; then the gate waits on, and nothing was chosen."""
    for text in (
        f"/gate {scene.name} maybe @bob",
        f"/gate {scene.name}",
        f"/gate {scene.name} deselect H9",
        "/gate contineu",
    ):
        wrong = double.say("ana", text)
        assert scene.collect().ask is None
        assert double.reactions[-1] == (wrong, "confused")
        assert scene.collect() == Collected(scene.posted)
    assert len(scene.echoes) == 4
    assert scene.echoes[0].startswith('I didn\'t recognize "maybe `@bob`".\n\n1. Continue\n2. Deep-dive\n')
    assert "REVIEW GATEWAY" not in "".join(scene.echoes)
    double.say("ana", f"/gate {scene.name} continue")
    assert scene.collect().ask is not None


def test_small_talk_is_left_alone(scene: Scene, double: Double) -> None:
    """A pull request is a place where people talk: no echo, no reaction, no answer."""
    talk = (
        "looks good to me",
        "1 more thing",
        "I'd say continue",
        "H1 is wrong",
        "/gateway 1",
        "",
        "3.5",
        "**1**",
    )
    for text in talk:
        double.say("ana", text)
    before = double.writes()
    assert scene.collect().ask is None
    assert (scene.desk.heard, double.writes()) == ([], before)


@pytest.mark.parametrize(
    "body",
    [
        "> Carl wrote that he would do\n/gate {name} 3",
        "> Carl wrote that\nhe would do\n/gate {name} 3",
        "> Carl wrote\n\u00a0\n/gate {name} 3",
        "```\nan example\n```~~~\n/gate {name} 3\n```",
        "~~~\nan example\n~~~ python\n/gate {name} 3\n~~~",
    ],
    ids=["wrapped", "wrapped twice", "not blank", "backticks", "tildes"],
)
def test_line_that_is_shown_as_quoted_or_as_code_is_not_said(scene: Scene, double: Double, body: str) -> None:
    """A quote goes on until a blank line, as in a mail that was wrapped; and code until a fence with nothing behind it."""
    double.say("ana", body.format(name=scene.name))
    assert scene.collect().ask is None
    assert scene.desk.heard == []


@pytest.mark.parametrize(
    "prompt",
    [check_question("Discard all? [y/n]"), question("Why?"), question("Which?", ["A b", "C d"], free=True)],
)
def test_talk_does_not_answer_a_question_that_takes_any_text(
    channel: Channel, double: Double, prompt: Prompt
) -> None:
    """There a reply has to name its gate; only what is listed can stand alone."""
    scene = Scene(channel, double, prompt)
    assert "just `1` will do" not in double.comments[0]["body"]
    double.say("ana", "looks good to me")
    double.say("ana", "/gate because")
    assert scene.collect().ask is None
    assert scene.desk.heard == []
    assert len(scene.echoes) == 1
    double.say("ana", f"/gate {scene.name} because")
    assert scene.collect().ask is not None


def test_yes_stands_alone_where_it_is_listed(channel: Channel, double: Double) -> None:
    """Twin of the test above."""
    scene = Scene(channel, double, check_question("Discard all? [y/n]"))
    double.say("ana", "yes")
    assert scene.collect().ask is not None


def test_round_is_answered_by_several_lines(channel: Channel, double: Double) -> None:
    """Each question has its line."""
    first = question("Two", ["A b", "C d"])
    field = first.fields[0]
    scene = Scene(channel, double, replace(first, fields=(field, replace(field, name="q2"))))
    double.say("ana", f"/gate {scene.name}\nq1: A b\nq2: C d")
    came = scene.collect()
    assert came.ask is not None
    assert came.ask.answer is not None
    assert came.ask.answer.values == {"q1": ("A b",), "q2": ("C d",)}


@pytest.mark.parametrize("login", ["ana", "mo", "root"])
def test_person_who_may_write_is_heard(scene: Scene, double: Double, login: str) -> None:
    """Maintainers and administrators, too."""
    double.say(login, "1")
    assert scene.collect().ask is not None


def test_strangers_are_not_heard_and_get_one_thumb_each_at_most(scene: Scene, double: Double) -> None:
    """Nobody can make us flood the page."""
    for number in range(8):
        for _ in range(3):
            double.say(f"stranger-{number}", f"/gate {scene.name} 1")
    double.say("reader", "1")
    double.say("tri", "1")
    assert scene.collect().ask is None
    assert scene.desk.heard == []
    assert [content for _, content in double.reactions] == ["-1"] * 3
    assert scene.echoes == []


def test_crowd_is_looked_up_in_portions(
    scene: Scene, double: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the next look takes up where this one stopped, so the answer behind the crowd is found."""
    monkeypatch.setattr(comment_module, "MAX_AUTHORS", 4)
    for number in range(5):
        double.say(f"stranger-{number}", "1")
    double.say("ana", "1")
    assert scene.collect().ask is None
    assert scene.collect().ask is not None
    asked = [path for _, path, _ in double.log if path.endswith("/permission")]
    assert len(asked) == len(set(asked)) == 6


def test_answer_that_was_edited_is_refused_and_told(scene: Scene, double: Double) -> None:
    """Nobody knows what it said before."""
    double.say("ana", "1", is_edited=True)
    assert scene.collect().ask is None
    assert scene.desk.heard == []
    assert scene.echoes[0].startswith("A comment that was edited does not count: write a new one.")


def test_gate_that_was_edited_takes_no_answer(scene: Scene, double: Double) -> None:
    """Somebody could have swapped the options."""
    double.comments[0]["body"] = double.comments[0]["body"].replace("1. Continue", "1. Cancel")
    double.say("ana", "1")
    came = scene.collect()
    assert (came.ask, scene.desk.heard) == (None, [])
    assert came.refusal == "The gate's comment was edited, so nobody knows what an answer would be to."


def test_gate_that_was_deleted_takes_no_answer(scene: Scene, double: Double) -> None:
    """It is posted anew."""
    double.comments.clear()
    double.say("ana", f"/gate {scene.name} 1")
    assert scene.collect().refusal == "The gate's comment was deleted."
    assert scene.desk.heard == []


def test_new_commit_takes_no_answer(scene: Scene, double: Double) -> None:
    """The answer was meant for another state of the code."""
    double.say("ana", "1")
    double.head = "d00d" + "0" * 36
    assert scene.collect().refusal == "The pull request has a new commit, and the gate was about another one."
    assert scene.desk.heard == []


def test_answer_from_elsewhere_came_first_and_the_loser_is_told(scene: Scene, double: Double) -> None:
    """One winner; the comment says who it was."""
    elsewhere = replace(
        scene.desk.ask,
        state=State.ANSWERED,
        answer=new_answer(values={"action": ("Deep-dive",)}, by="human:bob"),
    )
    stale, scene.desk.ask = scene.desk.ask, elsewhere
    reply = double.say("ana", "1")
    came = collect(scene.channel, scene.posted, stale, 0, scene.desk)
    assert came.ask == elsewhere
    assert double.reactions == [(reply, "confused")]
    assert double.comments[0]["body"].startswith("**Answered** by `bob`: `Deep-dive`\n")


def test_gate_that_ended_elsewhere_is_closed_once(scene: Scene, double: Double) -> None:
    """Nobody answers a dead gate; and an ask that ended is not collected for."""
    ended = replace(scene.desk.ask, state=State.WITHDRAWN, outcome=new_outcome(State.WITHDRAWN))
    close_gate(scene.channel, scene.posted, ended)
    close_gate(scene.channel, scene.posted, ended)
    assert double.comments[0]["body"].startswith("**Closed**: withdrawn\n\n---\n### ")
    assert double.comments[0]["body"].count("**Closed**") == 1
    double.say("ana", "1")
    assert collect(scene.channel, scene.posted, ended, 0, scene.desk).ask == ended
    assert scene.desk.heard == []


def test_answer_stands_although_the_gate_cannot_say_so(scene: Scene, double: Double) -> None:
    """It was taken; that the page is behind is told."""
    double.say("ana", "1")
    double.faults = [Fault("PATCH", "", 500), Fault("POST", "/reactions", 500)]
    came = scene.collect()
    assert came.ask is not None
    assert came.note.startswith("The gate's comment does not say it yet: GitHub did not do it")


def test_failing_store_loses_no_reply_and_repeats_no_echo(scene: Scene, double: Double) -> None:
    """What was kept is the old state; the next look hears the reply and does not echo again what it echoed."""
    double.say("ana", f"/gate {scene.name} maybe")
    double.say("ana", "1")

    class Busy(Desk):
        def answer(self, author: Author, text: str, *, reason: str = "", is_confirmed: bool = False) -> Ask:
            if text == "1":
                raise StoreBusyError
            return scene.desk.answer(author, text, reason=reason, is_confirmed=is_confirmed)

    with pytest.raises(StoreBusyError):
        scene.collect(desk=Busy(scene.desk.ask))
    assert scene.collect().ask is not None
    assert len(scene.echoes) == 1


def test_principal_is_a_person_of_github() -> None:
    """No account of this machine goes by such a name."""
    assert parse_principal(str(principal_of("ana-1"))) == principal_of("ana-1")
    assert str(principal_of("ana-1")) == "human:ana-1@github"


def test_one_answer_is_found_among_hundreds_of_comments(scene: Scene, double: Double) -> None:
    """Bots, apps, strangers, edits, quotes, fences, other gates, our own marks: not a word of theirs is delivered."""
    name, gate = scene.name, double.comments.pop()
    double.say("ana", f"/gate {name} 2")
    double.comments[0]["id"] = 1  # written before the gate
    double.comments.append(gate)
    noise: list[Callable[[int], int]] = [
        lambda n: double.say(f"bot-{n}", f"/gate {name} 3", kind="Bot"),
        lambda n: double.say("ana[bot]", f"/gate {name} 3 {n}"),
        lambda n: double.say("ana", f"/gate {name} 3", app={"id": n}),
        lambda n: double.say(f"outsider-{n}", f"/gate {name} 3"),
        lambda n: double.say("reader", f"/gate {name} discard {n}"),
        lambda _: double.say("ana", f"/gate {name} 3", is_edited=True),
        lambda _: double.say("ana", "> 3\n> /gate x 3"),
        lambda _: double.say("ana", f"```\n/gate {name} 3\n```"),
        lambda _: double.say("ana", f"~~~~\n3\n~~~\n/gate {name} 3\n~~~~"),
        lambda _: double.say("ana", f"<!-- /gate {name} 3 -->"),
        lambda _: double.say("ana", f"<!--\n3\n/gate {name} 3"),
        lambda _: double.say("ana", "/gate zzzzzz 3"),
        lambda n: double.say("ana", f"I think {n} is fine, @bob?"),
        lambda _: double.say("ana", "3 is what I would take"),
        lambda n: double.say("ana", f"3\n<!-- assent:gate ask_{n} x -->"),
        lambda _: double.say("ana", "    3"),
        lambda _: double.say("ghost", "3"),
    ]
    double.permissions["ghost"] = "none"
    for number in range(15):
        for make in noise[number % 2 :]:
            make(number)
    before = len(double.comments)
    assert before > 220
    real = double.say("mo", f"> {name}?\n\n/gate {name} continue")
    double.say("ana", f"/gate {name} 4")
    others = 1  # so that plain lines are talk
    came = scene.collect(others)
    while came.ask is None:
        came = scene.collect(others)
    assert scene.desk.heard == [("human:mo@github", "continue")]
    assert (real, "rocket") in double.reactions
    assert scene.collect(others).ask == came.ask
    assert scene.desk.heard == [("human:mo@github", "continue")]
    assert len(scene.echoes) == 15  # the edited ones, each once
    assert [content for _, content in double.reactions].count("-1") <= 3


def test_account_that_posted_the_gate_cannot_answer_it(scene: Scene, double: Double) -> None:
    """Whoever holds its token, as an agent does, could write the reply as well as the question."""
    double.permissions[double.me] = "admin"
    double.say(double.me, f"/gate {scene.name} 1")
    double.say(double.me, "1")
    assert scene.collect().ask is None
    assert scene.desk.heard == []
    assert "somebody else can" in scene.echoes[0]
    double.say("ana", "1")
    assert scene.collect().ask is not None


def test_reply_that_goes_on_is_talk(scene: Scene, double: Double) -> None:
    """A word that is a label may be how a sentence begins."""
    double.say("ana", "Skip to synthesis\n\n... is what I would say if the tests were green.")
    assert scene.collect().ask is None
    assert scene.echoes == []


@pytest.mark.parametrize(
    "words", ["1\n\nbut not really", "Continue\nonly if the tests are green", "1 but not really"]
)
def test_named_reply_with_words_behind_it_is_not_taken(scene: Scene, double: Double, words: str) -> None:
    """They may turn it round, and the gate has no place for them: whoever wrote it is told."""
    double.say("ana", f"/gate {scene.name} {words}")
    double.say("ana", "/gate 1\n\nbut not really")
    assert scene.collect().ask is None
    assert scene.desk.heard == [("human:ana@github", words)] * ("\n" not in words)
    assert len(scene.echoes) == 2
    double.say("ana", f"/gate {scene.name} 1")
    assert scene.collect().ask is not None


def test_yes_with_words_behind_it_approves_nothing(channel: Channel, double: Double) -> None:
    """An approval is given by its word alone; the words of a no go along with it."""
    scene = approval_scene(channel, double, "DROP TABLE users")
    double.say("ana", f"/gate {scene.name} approve\n\nbut not really")
    double.say("ana", f"/gate {scene.name} approve but not really")
    double.say("ana", f"/gate {scene.name} 1\nbut not really")
    assert scene.collect().ask is None
    assert scene.desk.ask.is_open
    assert scene.echoes[0].startswith("Nothing was taken: the words behind your answer may change it.")


def test_words_in_the_lines_below_are_a_part_of_an_answer_in_words(channel: Channel, double: Double) -> None:
    """Where words of one's own are an answer."""
    scene = Scene(channel, double, question("Which?", ["A1", "B1"], free=True), Kind.QUESTION)
    double.say("ana", f"/gate {scene.name} A1\n\nbut only until March")
    ended = scene.collect().ask
    assert ended is not None
    assert ended.answer is not None
    assert ended.answer.values == {"q1": ("A1\nbut only until March",)}


def test_command_in_an_action_is_shown_to_the_character(channel: Channel, double: Double) -> None:
    """As code, of which a site draws every blank, sign and line; and a line end is marked, too."""
    approval_scene(channel, double, "ls  *a*  # __note__\n  rm -rf @org/team")
    assert (
        'The action, whole:\n\n```\n{\n  "run": "ls  *a*  # __note__\\n\n          rm -rf @org/team"\n}\n```\n'
        in double.comments[0]["body"]
    )


def test_plain_number_is_not_taken_by_the_gates_of_two_stores(channel: Channel, double: Double) -> None:
    """Each store knows its own gates only; both look at the pull request."""
    first = Scene(channel, double)
    second = Scene(channel, double)
    second.desk = Desk(gate_ask(number=2))
    second.posted = post_gate(channel, PULL, second.desk.ask, NONCE)
    double.say("ana", "1")
    assert (first.collect().ask, second.collect().ask) == (None, None)
    assert first.desk.heard == second.desk.heard == []


@pytest.mark.parametrize("words", ["Lovely weather.", "<!-- assent:gate {id} {nonce} -->"])
def test_note_about_a_comment_that_shows_something_else_is_not_believed(
    scene: Scene, double: Double, words: str
) -> None:
    """Agents can write the file in which it is noted which comment belongs to which ask."""
    body = words.format(id=scene.desk.ask.ask_id, nonce=NONCE)
    comment_id = double.say("reader", body)
    scene.posted = replace(
        scene.posted, comment_id=comment_id, body_digest=digest(body.encode()), last_seen=comment_id
    )
    double.say("ana", "1")
    assert "nobody knows" in scene.collect().refusal
    assert scene.desk.heard == []


def approval_scene(channel: Channel, double: Double, action: str) -> Scene:
    """Return an approval on a pull request."""
    return Scene(channel, double, approval_prompt("Drop it", {"run": action}), Kind.APPROVAL)


def test_approval_is_answered_by_its_name_only(channel: Channel, double: Double) -> None:
    """A yes to an action says what it is to; and the comment does not say otherwise."""
    scene = approval_scene(channel, double, "DROP TABLE users")
    assert "just `1` will do" not in double.comments[0]["body"]
    assert "DROP TABLE users" in double.comments[0]["body"]
    double.say("ana", "1")
    double.say("ana", "approve")
    double.say("ana", "/gate approve")
    assert scene.collect().ask is None
    assert scene.desk.heard == []
    double.say("ana", f"/gate {scene.name} approve")
    assert scene.collect().ask is not None
    assert scene.desk.heard == [("human:ana@github", "approve")]


def test_approval_that_a_process_may_not_give_is_told_on_the_page(channel: Channel, double: Double) -> None:
    """It stays open, and a no is still taken."""
    scene = approval_scene(channel, double, "DROP TABLE users")
    scene.desk.is_wary = True
    double.say("ana", f"/gate {scene.name} approve")
    assert scene.collect().ask is None
    assert scene.echoes[0].startswith("A reply that a process reads from here is not enough to approve")
    double.say("ana", f"/gate {scene.name} decline too risky")
    assert scene.collect().ask is not None
    assert scene.desk.heard[-1] == ("human:ana@github", "declined: too risky")


def test_approval_whose_action_does_not_fit_can_only_be_declined(channel: Channel, double: Double) -> None:
    """What cannot be seen whole cannot be approved."""
    scene = approval_scene(channel, double, "x" * 70_000)
    assert len(double.comments[0]["body"]) < 2_000
    double.say("ana", f"/gate {scene.name} approve")
    double.say("ana", f"/gate {scene.name} 1")
    assert scene.collect().ask is None
    assert scene.desk.heard == []
    double.say("ana", f"/gate {scene.name} decline")
    assert scene.collect().ask is not None


@pytest.mark.parametrize(
    "words",
    [
        "reject too risky",
        "Reject: too risky",
        "REJECT too\n\nrisky",
        "decline too risky",
        "decline\ntoo risky",
    ],
)
def test_no_to_an_approval_has_its_words(channel: Channel, double: Double, words: str) -> None:
    """Also where the action does not fit into the comment, and in the lines below; the comment says them."""
    scene = approval_scene(channel, double, "x" * 70_000)
    double.say("ana", f"/gate {scene.name} {words}")
    ended = scene.collect().ask
    assert ended is not None
    end = ended.answer or ended.outcome
    assert end is not None
    assert end.reason == "too risky"
    assert double.comments[0]["body"].split("\n")[0] in (
        f"**Answered** by `ana`{DOUBT}: `Reject`, because `too risky`",
        "**Closed**: declined by `ana`, because `too risky`",
        f"**Closed**: declined by `ana`{DOUBT}, because `too risky`",
    )


@pytest.mark.parametrize(
    ("parts", "mark"),
    [
        ({}, ""),
        ({"assurance": Assurance.HOST}, " (by an agent's host)"),
        ({"is_unattended": True}, " (unattended)"),
        ({"assurance": Assurance.COMMENT}, DOUBT),
    ],
)
def test_closed_comment_marks_an_end_of_which_nobody_here_has_seen_a_person(
    parts: dict[str, object], mark: str
) -> None:
    """An answer and a no alike."""
    answered = replace(gate_ask(), state=State.ANSWERED, answer=replace(new_answer(), **parts))
    assert render_answered("", answered).startswith(f"**Answered** by `ana`{mark}: ")
    outcome = replace(new_outcome(State.DECLINED), **parts)
    declined = replace(gate_ask(), state=State.DECLINED, outcome=outcome)
    assert render_answered("", declined).startswith(f"**Closed**: declined by `ana`{mark}\n")


def test_question_of_listed_options_is_declined_with_words(channel: Channel, double: Double) -> None:
    """Where any text is an answer, or a gate has its own commands, the same words are none."""
    scene = Scene(channel, double, question("Which?", ["Red", "Blue"]), Kind.QUESTION)
    double.say("ana", f"/gate {scene.name} decline ask the designer")
    ended = scene.collect().ask
    assert ended is not None
    assert ended.outcome is not None
    assert ended.outcome.reason == "ask the designer"
    for prompt, kind in ((question("Why?"), Kind.QUESTION), (GATE, Kind.GATE)):
        double.comments.clear()
        other = Scene(channel, double, prompt, kind)
        double.say("ana", f"/gate {other.name} decline it")
        other.collect()
        assert other.desk.heard == [("human:ana@github", "decline it")]


# What cannot be undone

DELETE = question("What now?", [Option("d", "Delete it", destructive=True), Option("k", "Keep it")])


def delete_scene(channel: Channel, double: Double, prompt: Prompt = DELETE) -> Scene:
    """Return a question, one of whose options cannot be undone."""
    return Scene(channel, double, prompt, Kind.QUESTION)


@pytest.mark.parametrize("typed", ["1", "/gate {name} delete it"])
def test_what_cannot_be_undone_is_asked_once_more_and_taken_from_the_same_person(
    channel: Channel, double: Double, typed: str
) -> None:
    """In a comment that names it; also by a process that looks much later and remembers nothing."""
    scene = delete_scene(channel, double)
    first = double.say("ana", typed.format(name=scene.name))
    assert scene.collect().ask is None
    assert scene.collect().ask is None
    asked = [each["body"] for each in double.comments if "assent:confirm" in each["body"]]
    wanted = (
        "`ana` chose `Delete it`. `Delete it` cannot be undone, so nothing was changed yet.\n\n"
        f"If that is meant, `ana` writes a new comment: `/gate {scene.name} yes`. Anything else changes nothing.\n\n"
        f"<!-- assent:confirm {first} -->"
    )
    assert asked == [wanted]
    assert double.reactions == [(first, "eyes")]
    double.say("mo", f"/gate {scene.name} yes")
    double.say("ana", "yes")
    assert scene.collect().ask is None
    assert scene.desk.ask.is_open
    double.say("ana", f"/gate {scene.name} Yes")
    ended = scene.collect().ask
    assert ended is not None
    assert ended.answer is not None
    assert (ended.answer.values, ended.answer.by) == ({"q1": ("d",)}, "human:ana@github")


@pytest.mark.parametrize("between", ["no", "maybe"])
def test_anything_but_the_word_confirms_nothing(channel: Channel, double: Double, between: str) -> None:
    """And a yes that comes after it is a yes to nothing."""
    scene = delete_scene(channel, double)
    for typed in ("1", between, "yes"):
        double.say("ana", f"/gate {scene.name} {typed}")
        assert scene.collect().ask is None
    assert scene.desk.ask.is_open


@pytest.mark.parametrize("what", ["nothing was asked", "the choice", "the question", "another's choice"])
def test_yes_counts_only_for_what_was_chosen_and_asked_as_it_stands(
    channel: Channel, double: Double, what: str
) -> None:
    """Whoever may write can edit everybody's comments, and write what looks like ours."""
    scene = delete_scene(channel, double)
    if what != "nothing was asked":
        double.say("mo" if what == "another's choice" else "ana", f"/gate {scene.name} 1")
        scene.collect()
        edited = {"the choice": -2, "the question": -1}.get(what)
        if edited is not None:
            double.comments[edited]["updated_at"] = "2031-01-01T00:00:00Z"
    double.say("ana", f"/gate {scene.name} yes")
    assert scene.collect().ask is None
    assert scene.desk.ask.is_open


def test_yes_after_a_new_commit_confirms_nothing(channel: Channel, double: Double) -> None:
    """It was meant for another one."""
    scene = delete_scene(channel, double)
    double.say("ana", "1")
    scene.collect()
    double.head = "d" * 40
    double.say("ana", f"/gate {scene.name} yes")
    assert "new commit" in scene.collect().refusal
    assert scene.desk.ask.is_open


def test_word_that_is_a_choice_of_its_own_confirms_no_other(channel: Channel, double: Double) -> None:
    """There another word is asked for; where the choice itself is that word, it is said twice."""
    scene = delete_scene(channel, double, question("Go?", ["Yes", Option("a", "Wipe", destructive=True)]))
    double.say("ana", "wipe")
    scene.collect()
    assert f"`/gate {scene.name} confirm`" in double.comments[-1]["body"]
    double.say("ana", f"/gate {scene.name} yes")
    ended = scene.collect().ask
    assert ended is not None
    assert ended.answer is not None
    assert ended.answer.values == {"q1": ("Yes",)}
    double.comments.clear()
    again = delete_scene(channel, double, question("Wipe?", [Option("Yes", "Yes", destructive=True), "No"]))
    for _ in range(2):
        assert again.desk.ask.is_open
        double.say("ana", f"/gate {again.name} yes")
        again.collect()
    assert not again.desk.ask.is_open


def test_login_that_somebody_else_has_now_is_not_heard(scene: Scene, double: Double) -> None:
    """The number of the comment's author counts, and not the name that was theirs."""
    double.say("ana", "1")
    double.register_again("ana")
    assert scene.collect().ask is None
    assert scene.desk.heard == []


def test_reply_that_is_edited_while_it_is_weighed_does_not_count(
    scene: Scene, double: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read once more right before it counts."""
    reply = double.say("ana", "1")
    check = comment_module.Looking._check
    looks: list[str] = []

    def meanwhile(looking: comment_module.Looking) -> str:
        if looks:  # the second one: the reply has been read
            double.comments[-1].update(body="2", updated_at=double.now())
        looks.append("")
        return check(looking)

    monkeypatch.setattr(comment_module.Looking, "_check", meanwhile)
    assert scene.collect().ask is None
    assert (len(looks), scene.desk.heard) == (2, [])
    assert double.comments[-1]["id"] == reply


def test_gate_that_was_touched_takes_no_answer(scene: Scene, double: Double) -> None:
    """Its text is as it was; but nobody knows what stood there when the answer was written."""
    double.comments[0]["updated_at"] = double.now()
    double.say("ana", "1")
    assert "nobody knows" in scene.collect().refusal
    assert scene.desk.heard == []


def test_gate_for_another_commit_in_its_marker_is_none(scene: Scene, double: Double) -> None:
    """The note says another commit than the comment does; agents can write the note."""
    double.head = "d00d" + "0" * 36
    scene.posted = replace(scene.posted, head_sha=double.head)
    double.say("ana", "1")
    assert "nobody knows" in scene.collect().refusal
