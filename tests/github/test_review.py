"""A review is posted once and whole, through either way, and a failure leaves nothing behind."""

from typing import Any

import pytest
from msgspec.structs import replace

from assent.effects.github.channel import Channel
from assent.effects.github.review import review_performers
from assent.effects.performer import find_performer, intend, settle
from assent.flows.session.finding import Session
from assent.flows.session.posting import Event, Posted, PostReview, compose, verdict
from assent.flows.step import Done, Failed
from assent.protocol.canonical import convert
from assent.protocol.review import Severity
from tests.github.double import HEAD, Double, Fault
from tests.github.samples import PULL, finding, new_session

__all__: list[str] = []

URL = "https://github.com/acme/shop/pull/7#pullrequestreview-"


def posting(session: Session) -> PostReview:
    """Return the posting of all that a session found."""
    return compose(session, session.marked, verdict(session))


def perform(channel: Channel, effect: PostReview) -> Done | Failed:
    """Have it posted as a driver does it."""
    performer = find_performer(review_performers(channel), effect)
    intention = intend(performer, effect)
    return intention if isinstance(intention, Failed) else settle(performer, intention)


def post(channel: Channel, effect: PostReview) -> Posted:
    """Post, and return what came of it."""
    came = perform(channel, effect)
    assert isinstance(came, Done), came
    return convert(came.result, Posted)


def fail(channel: Channel, effect: PostReview) -> str:
    """Fail to post, and return what is said about it."""
    came = perform(channel, effect)
    assert isinstance(came, Failed)
    assert came.code == "github"
    return came.message


def add_thread(double: Double) -> int:
    """Have somebody begin a thread."""
    identity = double.new_id()
    double.threads.append({"id": identity, "body": "Why?"})
    return identity


def draft(double: Double, body: str) -> dict[str, Any]:
    """Leave a draft of ours lying about."""
    review = {
        "id": double.new_id(),
        "state": "PENDING",
        "body": body,
        "html_url": URL,
        "user": {"login": double.me, "type": "User"},
    }
    double.reviews.append(review)
    return review


def test_findings_are_one_review_with_comments_on_their_lines(channel: Channel, double: Double) -> None:
    """G-U10: one draft, its comments, one submission."""
    session = new_session(finding(suggestion="check()"), finding(Severity.WARNING, line=2, side="LEFT"))
    posted = post(channel, posting(session))
    (review,) = double.reviews
    assert posted == Posted(2, 0, 0, review["html_url"], "REQUEST_CHANGES")
    assert (review["state"], review["commit_id"]) == ("CHANGES_REQUESTED", HEAD)
    assert [(each["path"], each["line"], each["side"]) for each in review["comments"]] == [
        ("src/pay.py", 3, "RIGHT"),
        ("src/pay.py", 2, "LEFT"),
    ]
    assert "```suggestion\ncheck()\n```" in review["comments"][0]["body"]
    assert review["body"].startswith("**Request changes**: 2 findings (1 Action Required, 1 Recommended).")
    assert len(double.writes()) == 2


def test_review_without_findings_approves(channel: Channel, double: Double) -> None:
    """Nothing was found, and that is said, too."""
    assert post(channel, posting(new_session())).event == "APPROVE"
    assert double.reviews[0]["state"] == "APPROVED"


def test_finding_of_a_thread_is_posted_there(channel: Channel, double: Double) -> None:
    """And the count says so."""
    session = new_session(finding(), finding(thread_id=add_thread(double)))
    posted = post(channel, posting(session))
    assert (posted.new, posted.replied, posted.failed) == (1, 1, 0)
    assert double.threads[1]["in_reply_to_id"] == double.threads[0]["id"]
    assert double.threads[1]["body"].startswith("**Action Required** · H2")


def test_comment_without_a_line_in_the_change_stands_in_the_body(channel: Channel, double: Double) -> None:
    """Neither a line that the diff lacks, nor a file, nor a thread that is gone loses a finding."""
    session = new_session(
        finding(),
        finding(line=99),
        finding(file="other.py", title="Elsewhere"),
        finding(thread_id=4, title="Gone"),
    )
    posted = post(channel, posting(session))
    assert (posted.new, posted.replied, posted.failed, posted.left_out) == (1, 0, 3, ())
    (review,) = double.reviews
    for words in ("`src/pay.py:99`", "`other.py:3`", "**Elsewhere**", "`thread 4`", "**Gone**"):
        assert words in review["body"]
    assert len(review["comments"]) == 1


def test_comment_that_github_cannot_place_is_found_out(channel: Channel, double: Double) -> None:
    """GitHub does not say which one it is. All others keep their lines."""
    double.files.append({"filename": "big.py"})
    double.lines |= {("big.py", "RIGHT", line) for line in range(1, 8)}
    session = new_session(*(finding(file="big.py", line=line) for line in range(1, 10)))
    posted = post(channel, posting(session))
    assert (posted.new, posted.failed) == (7, 2)
    (review,) = double.reviews
    assert sorted(each["line"] for each in review["comments"]) == list(range(1, 8))
    assert "`big.py:8`" in review["body"]
    assert "`big.py:9`" in review["body"]


def test_comments_that_github_cannot_place_are_looked_for_within_bounds(
    channel: Channel, double: Double
) -> None:
    """If hardly any has a line, nobody tries them one by one; all of them stand in the body."""
    double.files.append({"filename": "big.py"})
    session = new_session(*(finding(file="big.py", line=line) for line in range(1, 41)))
    posted = post(channel, posting(session))
    assert (posted.new, posted.failed) == (0, 40)
    assert len(double.writes()) <= 15
    assert len(double.reviews) == 1


def test_findings_that_the_body_has_no_room_for_are_told(channel: Channel, double: Double) -> None:
    """They are nowhere on GitHub, so whoever posted must keep them."""
    session = new_session(*(finding(file="other.py", description="x" * 19_000) for _ in range(5)))
    posted = post(channel, posting(session))
    assert (posted.failed, posted.left_out) == (3, ("H4", "H5"))
    assert "**There was no room for H4, H5.**" in double.reviews[0]["body"]


@pytest.mark.parametrize("severity", [Severity.CRITICAL, Severity.INFO])
def test_verdict_on_ones_own_pull_request_becomes_a_comment(
    channel: Channel, double: Double, severity: Severity
) -> None:
    """GitHub refuses it; the findings are posted, and both sides are told."""
    double.author = double.me
    posted = post(channel, posting(new_session(finding(severity))))
    assert (posted.event, posted.new) == ("COMMENT", 1)
    assert "your own pull request" in posted.note
    assert double.reviews[0]["state"] == "COMMENTED"
    assert "GitHub did not take the verdict" in double.reviews[0]["body"]


def test_pull_request_that_went_on_gets_nothing_before_a_person_was_shown_where_it_is(
    channel: Channel, double: Double
) -> None:
    """A choice holds for the commit that was shown; shown the new one, comments stand on the one that was looked at."""
    double.head = "d00d" + "0" * 36
    session = new_session(finding())
    assert post(channel, posting(session)) == Posted(0, 0, 0, moved_to=double.head)
    assert double.writes() == []
    posted = post(channel, posting(replace(session, moved_to=double.head)))
    assert "looked at commit c0ffee0; the pull request is at d00d00" in posted.note
    assert double.reviews[0]["commit_id"] == HEAD


@pytest.mark.parametrize(
    "answer",
    [{"number": 8}, {"base": {"repo": {"full_name": "acme/shop-mirror"}}}],
    ids=["number", "repository"],
)
def test_pull_request_that_answers_for_another_gets_nothing(
    channel: Channel, double: Double, answer: dict[str, Any]
) -> None:
    """Whatever leads there, a rename or a redirect: it is not the one that the person was shown."""
    double.pull = answer
    message = fail(channel, posting(new_session(finding())))
    assert message in (
        "GitHub has acme/shop#8 in the place of acme/shop#7.",
        "GitHub has acme/shop-mirror#7 in the place of acme/shop#7.",
    )
    assert double.writes() == []


def test_short_name_of_the_commit_is_made_whole(channel: Channel, double: Double) -> None:
    """GitHub wants all of it."""
    effect = posting(new_session(finding()))
    post(channel, replace(effect, pull_request=replace(PULL, head_sha=HEAD[:7])))
    assert double.reviews[0]["commit_id"] == HEAD


def test_second_posting_posts_nothing(channel: Channel, double: Double) -> None:
    """A retry finds the review by its name, with its counts."""
    thread = add_thread(double)
    effect = posting(new_session(finding(), finding(line=99), finding(thread_id=thread)))
    first = post(channel, effect)
    before = double.writes()
    assert post(channel, effect) == replace(first, was_posted=True)
    assert double.writes() == before


def test_other_choice_is_another_review(channel: Channel, double: Double) -> None:
    """Twin of the test above."""
    session = new_session(finding(), finding(Severity.WARNING))
    post(channel, posting(session))
    post(channel, compose(session, session.held[:1], Event.REQUEST_CHANGES))
    assert len(double.submitted) == 2


def test_draft_that_a_crash_left_is_replaced(channel: Channel, double: Double) -> None:
    """Also before replies, as GitHub takes none while there is a draft."""
    thread = add_thread(double)
    draft(double, "<!-- assent:review 0123 -->")
    posted = post(channel, posting(new_session(finding(), finding(thread_id=thread))))
    assert (posted.new, posted.replied, posted.failed) == (1, 1, 0)
    assert len(double.reviews) == 1


def test_draft_of_a_person_is_left_alone(channel: Channel, double: Double) -> None:
    """Somebody wrote it by hand, and it is not ours to delete."""
    own = draft(double, "half a thought")
    thread = add_thread(double)
    said = fail(channel, posting(new_session(finding(), finding(thread_id=thread))))
    assert (
        said
        == "You have a review of acme/shop#7 in progress that was not begun here: submit or delete it first."
    )
    assert (double.reviews, double.writes()) == ([own], [])


@pytest.mark.parametrize("status", [403, 500, 502, None])
@pytest.mark.parametrize("is_done", [False, True], ids=["refused", "answer-lost"])
def test_creation_that_fails_leaves_nothing(
    channel: Channel, double: Double, status: int | None, *, is_done: bool
) -> None:
    """Also where it was created and only the answer was lost. The next try works."""
    if is_done and status == 403:
        is_done = False  # who says no has not done it
    double.faults = [Fault("POST", "/reviews", status, is_done=is_done)]
    effect = posting(new_session(finding()))
    assert fail(channel, effect).endswith(".")
    assert double.reviews == []
    assert post(channel, effect).new == 1


@pytest.mark.parametrize("status", [403, 422, 500, None])
def test_submission_that_fails_leaves_nothing(channel: Channel, double: Double, status: int | None) -> None:
    """The draft is deleted, and the next try works."""
    double.faults = [Fault("POST", "/events", status, times=2)]
    effect = posting(new_session(finding()))
    assert fail(channel, effect).endswith(".")
    assert double.reviews == []
    double.faults = []
    assert post(channel, effect).new == 1


@pytest.mark.parametrize("status", [502, None])
def test_submission_whose_answer_is_lost_counts(channel: Channel, double: Double, status: int | None) -> None:
    """Nobody is told that it failed when everybody can see it."""
    double.faults = [Fault("POST", "/events", status, is_done=True)]
    posted = post(channel, posting(new_session(finding())))
    assert (posted.new, posted.event) == (1, "REQUEST_CHANGES")
    assert posted.url.startswith(URL)
    assert len(double.submitted) == 1


def test_reply_is_not_posted_again_after_a_failure(channel: Channel, double: Double) -> None:
    """Replies cannot be taken back, so they are known again by a hidden mark."""
    thread = add_thread(double)
    effect = posting(new_session(finding(), finding(thread_id=thread)))
    double.faults = [Fault("POST", "/reviews", 500)]
    assert fail(channel, effect).endswith("1 reply was posted; it is not posted again.")
    assert post(channel, effect).replied == 1
    assert len(double.threads) == 2


def test_mark_of_a_reply_does_not_tell_the_name_of_the_review(channel: Channel, double: Double) -> None:
    """Or somebody could post a review that passes for ours, and ours would never be posted."""
    thread = add_thread(double)
    effect = posting(new_session(finding(thread_id=thread)))
    post(channel, effect)
    assert "<!-- assent:reply " in double.threads[1]["body"]
    assert effect.name not in double.threads[1]["body"]


def test_rate_limit_stops_at_once_and_says_when_to_try_again(channel: Channel, double: Double) -> None:
    """Nobody sleeps, and nothing is half done."""
    double.faults = [Fault("POST", "/reviews", 403, headers={"Retry-After": "60"})]
    assert fail(channel, posting(new_session(finding()))) == (
        "GitHub takes no more requests for now; try again in 60 seconds."
    )
    assert double.reviews == []
