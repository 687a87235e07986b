"""A plan whose every status has a slot: the same page filled anew is what a file must look like, byte for byte."""

from collections.abc import Sequence
from typing import NamedTuple

from assent.protocol.plan import ConfirmProtocol, Status

__all__ = ["Spot", "ai", "fill", "human"]


class Spot(NamedTuple):
    """One confirm on the page."""

    owner: str
    """`P1` or `T1.1`."""
    when: str
    status: str = Status.TODO
    protocol: str = ConfirmProtocol.HUMAN
    agent: str = ""

    def to(self, status: str) -> "Spot":
        """Return it with another status."""
        return self._replace(status=status)


def human(owner: str, when: str, status: str = Status.TODO) -> Spot:
    """Return a confirm that a person gives."""
    return Spot(owner, when, status)


def ai(owner: str, when: str, status: str = Status.TODO, agent: str = "critic") -> Spot:
    """Return a confirm that a reviewer gives."""
    return Spot(owner, when, status, ConfirmProtocol.AI, agent)


# Written as people write, with traps: other statuses, the word in comments and texts, both quotes, odd spacing, CRLF.
_PAGE = """\
<?xml version="1.0" encoding="UTF-8"?>\r
<!-- {remark} <confirm status="TODO"/> -->
<plan>
  <metadata><track_id>rename</track_id><track_name>Rename</track_name><goal>status="TODO" &amp; über</goal>
    <created_at>2026-01-02T03:04:05Z</created_at><updated_at>2026-01-02T03:04:05Z</updated_at>
    <status>in_progress</status><commit_mode>auto</commit_mode></metadata>
  <phases>
    <phase id='P1' name='Storage &lt;1&gt;'>{phase}
      <tasks>
        <task   id="T1.1"
                name="Rename"  status='{task_status}' priority="P0">{task}
          words \tstatus='TODO'
        </task>
        <task id="T1.2" name="Other" status="TODO" priority="P1"><confirm protocol="yield-human-confirm"
            when="both" status="TODO"/></task>
      </tasks>
    </phase>
  </phases>
</plan>
"""


def fill(spots: Sequence[Spot], remark: str = "as it was", task_status: str = "TODO") -> bytes:
    """Return the page with these confirms on it."""
    lines = {"P1": "", "T1.1": ""}
    for number, spot in enumerate(spots):
        agent = f' ai-agent="{spot.agent}"' if spot.agent else ""
        mark = "'\""[number % 2]
        lines[spot.owner] += (
            f"\n<confirm note=\"status='TODO'\" when='{spot.when}'\n\tprotocol=\"{spot.protocol}\"{agent} "
            f"status = {mark}{spot.status}{mark} ></confirm>"
        )
    return _PAGE.format(
        phase=lines["P1"], task=lines["T1.1"], remark=remark, task_status=task_status
    ).encode()
