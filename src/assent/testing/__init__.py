"""For your own tests: a store that goes away, a clock that you move, and a person who answers by script.

    from assent.testing import FakeClock, ScriptedPerson, throwaway

Everything here is the real thing but for the clock and the person: the same client, hub and SQLite file.
"""

from assent.testing.clock import FakeClock
from assent.testing.person import ScriptedPerson
from assent.testing.script import ScriptError
from assent.testing.store import ThrowawayStore, throwaway

__all__ = ["FakeClock", "ScriptError", "ScriptedPerson", "ThrowawayStore", "throwaway"]
