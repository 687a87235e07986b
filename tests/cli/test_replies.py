"""The table of replies at the command line: `assent answer`."""

import json
from collections.abc import Callable

from assent import connect
from tests.cli.shell import Result, Shell
from tests.surfaces.replies import Case, Verdict, hold, judge, kind_of, open_ask, spell

__all__: list[str] = []


def test_reply_at_the_command_line_means_what_it_means_everywhere(
    shell: Shell, call: Callable[..., Result]
) -> None:
    """As arguments; what takes a terminal is given by a process that a person let answer."""
    with connect(shell.store, project=shell.folder.name, principal="agent:coder") as agent:

        def give(case: Case) -> Verdict:
            ask_id = open_ask(agent, case).ask_id
            flags = ["--confirm"] * case.confirmed
            flags += ["--reason", case.reason] if case.reason else []
            flags += ["--unattended"] if kind_of(case) == "approval" and case.sure else []
            told = call("answer", *flags, "--json", "--", ask_id, spell(case))
            code = json.loads(told.out)["error"]["code"] if told.status else ""
            return judge(agent.show(ask_id), code)

        hold("cli", give)
