"""A document review with a person: findings decided one by one, or together, and one honest report at the end (W1-W76).

effect       what it wants done to the world
menu         every question with its fixed text
prose        what agents wrote, as it can stand among lines of ours
fix          a proposed fix in words
block        a finding as it is explained before it is asked about
walk         what is known so far: decisions, the Apply set, what failed
defer        an entry in the document's Open Questions, and what to do when that fails
cascade      what falls with a finding that was skipped or deferred
no_fix       Apply was picked, and there is nothing to apply
preview      many findings at once: shown first, then done
loop         one finding after the other
routing      which of these ways it is to be
execution    the fixes, in one pass, at the end
overview     what is said before the first question
report       what is said after the last one
next_step    where to go from there
headless     the same without anybody who could be asked
walk_through all of them, in order
"""
