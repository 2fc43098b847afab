"""The checker of histories: a pending call is a register that is written once.

A history is a list of operations on one call, all timed by one clock. It is linearizable if there
is a winner W and an instant p such that: p lies between W's begin and end; whatever saw a settled
call ended at or after p and saw W's value; whatever saw it open began at or before p; and at most
one operation says that it won. If nobody says so but a settled call was seen, W is one of those
whose answer never came. One pass; the objects are independent, so each call is checked alone.
"""
import math

WON = 'won'  # "applied"
SAW = 'saw'  # a duplicate, a refusal or a read that named the settlement
OPEN = 'open'  # a read that found it waiting
UNKNOWN = 'unknown'  # no answer, or one that does not say


class Op:
    """`value` is what it offers (None: it only reads), `seen` the settlement it saw."""

    def __init__(self, begin, value=None):
        self.begin = begin
        self.end = math.inf
        self.value = value
        self.outcome = UNKNOWN
        self.seen = None
        self.same = None  # whether the answer was a duplicate; None: unknown

    def done(self, end, outcome, seen=None, same=None):
        self.end, self.outcome, self.seen, self.same = end, outcome, seen, same
        return self

    def __repr__(self):
        return (
            f'[{self.begin:.4f}, {self.end:.4f}] offers {self.value}: '
            f'{self.outcome} {self.seen} {self.same}'
        )


def wrong(history):
    """Returns None, or why no order of these operations explains what was seen."""
    winners = [op for op in history if op.outcome == WON]
    if len(winners) > 1:
        return f'{len(winners)} operations won'
    values = {op.seen for op in history if op.outcome == SAW} | {op.value for op in winners}
    if not values:
        return None
    if len(values) > 1:
        return f'settled as {sorted(map(str, values))}'
    (value,) = values
    for op in history:
        if op.same is not None and op.same != (op.value == value):
            return f'taken for {"the same" if op.same else "another"} outcome wrongly: {op}'
    # From the newest read of the open call to the oldest of the settled one.
    first = max((op.begin for op in history if op.outcome == OPEN), default=-math.inf)
    last = min((op.end for op in history if op.outcome == SAW), default=math.inf)
    unanswered = [op for op in history if op.outcome == UNKNOWN and op.value == value]
    for op in winners or unanswered:
        if max(op.begin, first) <= min(op.end, last):
            return None
    if not winners and not unanswered:
        return f'settled as {value}, which nobody offered'
    return 'seen settled before it can have been, or open after it'
