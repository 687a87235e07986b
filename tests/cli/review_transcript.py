"""A whole document review as a terminal shows it, line by line: what `assent review` is held to."""

__all__ = ["WHOLE"]

WHOLE = """\
1 fix applied, 5 items need attention (3 errors, 2 omissions), 1 FYI observation.

### Applied fixes

- Typo in the rollout (P3, Rollout)

### P0

**Errors**

| Finding                               | Section | Kind     | Recommended | Reviewers      | Anchor |
| ------------------------------------- | ------- | -------- | ----------- | -------------- | ------ |
| The cache may not be needed           | Cache   | decision | Defer       | scope-guardian | 100    |
| ↳ Cache has no eviction (P2 omission) | Cache   | decision | Apply       | scope-guardian | 75     |

### P1

**Errors**

| Finding                            | Section          | Kind         | Recommended | Reviewers | Anchor |
| ---------------------------------- | ---------------- | ------------ | ----------- | --------- | ------ |
| Cache lifetime contradicts the SLA | Scope Boundaries | proposed fix | Apply       | coherence | 100    |

**Omissions**

| Finding           | Section | Kind     | Recommended | Reviewers      | Anchor |
| ----------------- | ------- | -------- | ----------- | -------------- | ------ |
| Nobody rolls back | Rollout | decision | Defer       | scope-guardian | 75     |

### P2

**Errors**

| Finding                     | Section          | Kind         | Recommended | Reviewers | Anchor |
| --------------------------- | ---------------- | ------------ | ----------- | --------- | ------ |
| Name breaks the house style | Scope Boundaries | proposed fix | Apply       | coherence | 100    |

### FYI observations

- Tone is informal (P3, Rollout): It is a matter of taste.

### Residual concerns

- The store may be slow.

### Deferred questions

- Who owns the cache?

### Coverage

| Persona        | Status | Findings | Auto | Proposed | Decisions | FYI | Residual |
| -------------- | ------ | -------- | ---- | -------- | --------- | --- | -------- |
| coherence      | done   | 4        | 1    | 2        | 0         | 1   | 1        |
| scope-guardian | done   | 3        | 0    | 0        | 3         | 0   | 0        |

- Chains: 1 root and 1 dependent.

Review of plan.md

What should the agent do with the remaining 5 findings?
A. Review each finding one by one — accept the recommendation or choose another action
B. LFG. Apply the agent's best-judgment action per finding
C. Append findings to the doc's Open Questions section and proceed
D. Report only — take no further action
> A

## Finding 1 of 5 — P0 The cache may not be needed

Section: Cache

**What's wrong**

Nobody measured that reads are slow. So the premise is open.

**Proposed fix**

None was proposed: the review names the issue without a concrete fix.

Finding 1 of 5 — P0 The cache may not be needed.
Defer to Open Questions since the review names no concrete fix?
A. Apply the proposed fix
B. Defer — append to the doc's Open Questions section (recommended)
C. Skip — don't apply, don't append
D. LFG the rest — apply the agent's best judgment to this and remaining findings
> A

Finding 1 of 5 — P0 The cache may not be needed.

Apply isn't executable for this finding — the review surfaced the issue without a concrete fix. How should the agent proceed?
A. Defer to Open Questions (recommended)
B. Skip — don't apply, don't append
C. Acknowledge without applying — record the decision, no document edit
> B
→ Skipped.

Finding 1 of 5 — P0 The cache may not be needed.

Skipping this root will auto-resolve 1 dependent finding(s): Cache has no eviction. Continue?
A. Cascade — apply same action to all dependents (recommended)
B. Decide each dependent individually
> A
→ Cascaded. 1 dependent finding skipped.

## Finding 2 of 5 — P1 Cache lifetime contradicts the SLA

Section: Scope Boundaries

**What's wrong**

Readers see data that is an hour old. The SLA says a minute.

**Proposed fix**

Say that the cache lives for a minute.

Exactly: "for an hour" becomes "for a minute".

**Why it works**

The SLA names a minute.

Finding 2 of 5 — P1 Cache lifetime contradicts the SLA.
Apply the proposed fix?
A. Apply the proposed fix (recommended)
B. Defer — append to the doc's Open Questions section
C. Skip — don't apply, don't append
D. LFG the rest — apply the agent's best judgment to this and remaining findings
> A
→ Applied. Edit staged at "Scope Boundaries" section.

## Finding 3 of 5 — P1 Nobody rolls back

Section: Rollout

**What's wrong**

A bad release stays until Monday.

**Proposed fix**

None was proposed: the review names the issue without a concrete fix.

Finding 3 of 5 — P1 Nobody rolls back.
Defer to Open Questions since the review names no concrete fix?
A. Apply the proposed fix
B. Defer — append to the doc's Open Questions section (recommended)
C. Skip — don't apply, don't append
D. LFG the rest — apply the agent's best judgment to this and remaining findings
> B
→ Deferred. Entry appended to "## Deferred / Open Questions".

## Finding 4 of 5 — P2 Name breaks the house style

Section: Scope Boundaries

**What's wrong**

Implementers will name the function differently from all others.

**Proposed fix**

Rename `fetchAll` to `fetch_all` .

Exactly: "fetchAll" becomes "fetch_all".

**Why it works**

All other names are written like this.

Finding 4 of 5 — P2 Name breaks the house style.
Apply the proposed fix?
A. Apply the proposed fix (recommended)
B. Defer — append to the doc's Open Questions section
C. Skip — don't apply, don't append
D. LFG the rest — apply the agent's best judgment to this and remaining findings
> D

Plan for the remaining 1 finding (4 already decided):

Applying (1):
[P2] Scope Boundaries — Implementers will name the function differently from al…

Should the agent do this with this finding?
A. Proceed
B. Cancel
> B

## Finding 4 of 5 — P2 Name breaks the house style

Section: Scope Boundaries

**What's wrong**

Implementers will name the function differently from all others.

**Proposed fix**

Rename `fetchAll` to `fetch_all` .

Exactly: "fetchAll" becomes "fetch_all".

**Why it works**

All other names are written like this.

Finding 4 of 5 — P2 Name breaks the house style.
Apply the proposed fix?
A. Apply the proposed fix (recommended)
B. Defer — append to the doc's Open Questions section
C. Skip — don't apply, don't append
D. LFG the rest — apply the agent's best judgment to this and remaining findings
> C
→ Skipped.

### Applied

- Cache lifetime contradicts the SLA (P1): Applied

### Deferred

- Nobody rolls back (P1): Deferred — appended to "## Deferred / Open Questions" > "### From DATE review"

### Skipped

- The cache may not be needed (P0): Skipped — anchor 100: Nobody measured that reads are slow; redirected from Apply — no suggested_fix
- Cache has no eviction (P2): Skipped — anchor 75: Memory grows until the process dies; cascaded from The cache may not be needed
- Name breaks the house style (P2): Skipped — anchor 100: Implementers will name the function differently from all others.

1 applied, 1 deferred, 3 skipped
1 fix applied without a question.

### Coverage

**FYI observations**

- Tone is informal (P3, Rollout): It is a matter of taste.

**Residual concerns**

- The store may be slow.

**Deferred questions**

- Who owns the cache?

| Persona        | Status | Findings | Auto | Proposed | Decisions | FYI | Residual |
| -------------- | ------ | -------- | ---- | -------- | --------- | --- | -------- |
| coherence      | done   | 4        | 1    | 2        | 0         | 1   | 1        |
| scope-guardian | done   | 3        | 0    | 0        | 3         | 0   | 0        |

- Chains: 1 root and 1 dependent.

Verdict: Not ready.

What should the agent do next?
A. Apply decisions and proceed to the next stage
B. Apply decisions and review again
C. Stop — end the review here
> C
Review complete."""
