"""From what reviewers hand in to the findings that people decide about (W-U1 to W-U9), one pure step a file.

parse        the text of a review, with what is no record left out
candidate    what becomes a finding: reviewers' words about the same thing
merge        the same finding of several reviewers becomes one; one reviewer's repeats become FYI
contradict   what one wants changed and another kept becomes one finding, framed as a trade-off
recommend    one recommended action each (3.5b)
round        what an earlier round decided (R29, R30)
chain        what falls with a finding that questions a premise (3.5c)
promote      manual findings that need less than that (3.6)
route        who gets to see it: nobody, a person, or the report alone (3.7)
order        worst first, roots before what hangs on them (3.8, W-X14)
restate      residual risks and deferred questions that only repeat a finding (3.9)
coverage     who contributed what
synthesis    all of them, in order
"""
