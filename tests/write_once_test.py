#!/usr/bin/env python3
"""Tests that the checker of write-once histories finds planted errors, and agrees with a full
search."""
import itertools
import math
import random
import unittest

from dormouse import main
from write_once import OPEN, SAW, UNKNOWN, WON, Op, wrong


def op(begin, end, value, outcome, seen=None, same=None):
    made = Op(begin, value)
    return made.done(math.inf if end is None else end, outcome, seen, same)


RIGHT = {
    'nothing': [],
    'only reads of the open call': [op(0, 1, None, OPEN), op(2, 3, None, OPEN)],
    'one winner': [op(0, 1, 'a', WON)],
    'a duplicate after it': [op(0, 1, 'a', WON), op(2, 3, 'a', SAW, 'a', True)],
    'a conflict that ended first': [op(0, 9, 'a', WON), op(1, 2, 'b', SAW, 'a', False)],
    'a look at the open call that began before': [op(0, 1, None, OPEN), op(0, 1, 'a', WON)],
    'no answer, but seen': [op(0, None, 'a', UNKNOWN), op(5, 6, None, SAW, 'a')],
    'no answer, not seen': [op(0, None, 'a', UNKNOWN), op(5, 6, None, OPEN)],
    'no answer, and late': [
        op(0, None, 'a', UNKNOWN),
        op(5, 6, None, OPEN),
        op(7, 8, None, SAW, 'a'),
    ],
    'a repeat of what got no answer': [op(0, None, 'a', UNKNOWN), op(5, 6, 'a', SAW, 'a', True)],
}
WRONG = {
    'two winners': [op(0, 1, 'a', WON), op(2, 3, 'b', WON)],
    'two winners with one value': [op(0, 1, 'a', WON), op(0, 1, 'a', WON)],
    'an accepted result that is lost': [op(0, 1, 'a', WON), op(2, 3, None, OPEN)],
    'another value than the winner': [op(0, 1, 'a', WON), op(2, 3, None, SAW, 'b')],
    'a value that changes': [
        op(0, None, 'a', UNKNOWN),
        op(0, None, 'b', UNKNOWN),
        op(1, 2, None, SAW, 'a'),
        op(3, 4, None, SAW, 'b'),
    ],
    'a value from nowhere': [op(0, None, 'a', UNKNOWN), op(1, 2, None, SAW, 'b')],
    'seen before it was offered': [op(0, 1, None, SAW, 'a'), op(2, 3, 'a', WON)],
    'open after it was settled': [
        op(0, None, 'a', UNKNOWN),
        op(1, 2, None, SAW, 'a'),
        op(3, 4, None, OPEN),
    ],
    'a conflict over the same value': [op(0, 1, 'a', WON), op(2, 3, 'a', SAW, 'a', False)],
    'a duplicate of another value': [op(0, 1, 'a', WON), op(2, 3, 'b', SAW, 'a', True)],
    'a winner that began after the settled call was seen': [
        op(5, 6, 'a', WON),
        op(1, 2, 'b', SAW, 'a', False),
    ],
}


def explained(history):
    """The same by brute force: some order that respects time, applied to a register."""
    for order in itertools.permutations(history):
        in_time = all(not b.end < a.begin for a, b in itertools.combinations(order, 2))
        if in_time and any(replays(order, drop) for drop in drops(order)):
            return True
    return False


def drops(order):
    """Chooses which operations without an answer never happened."""
    unknown = [o for o in order if o.outcome == UNKNOWN]
    for count in range(len(unknown) + 1):
        yield from itertools.combinations(unknown, count)


def replays(order, dropped):
    settled = None
    for one in order:
        if one in dropped:
            continue
        if one.outcome == OPEN and settled is not None:
            return False
        if one.outcome == SAW and (settled is None or settled != one.seen):
            return False
        if one.same is not None and one.same != (one.value == settled):
            return False
        if one.outcome in (WON, UNKNOWN) and one.value is not None:
            if settled is not None and one.outcome == WON:
                return False
            settled = settled or one.value
    return True


def random_op(draw):
    begin = draw.randint(0, 6)
    end = begin + draw.randint(0, 4)
    value = draw.choice(['a', 'b', None])
    if value is None:
        seen = draw.choice(['a', 'b', None])
        return op(begin, end, None, SAW if seen else OPEN, seen)
    outcome = draw.choice([WON, SAW, UNKNOWN])
    if outcome == UNKNOWN:
        return op(begin, None, value, UNKNOWN)
    if outcome == WON:
        return op(begin, end, value, WON)
    seen = draw.choice(['a', 'b'])
    return op(begin, end, value, SAW, seen, draw.choice([seen == value, seen == value, None]))


class WriteOnce(unittest.TestCase):
    def test_right_histories_pass(self):
        for name, history in RIGHT.items():
            for order in itertools.permutations(history):
                self.assertIsNone(wrong(list(order)), name)

    def test_planted_ones_are_found(self):
        for name, history in WRONG.items():
            for order in itertools.permutations(history):
                self.assertIsNotNone(wrong(list(order)), name)

    def test_checker_agrees_with_a_search_of_all_orders(self):
        draw = random.Random(1)
        counts = {True: 0, False: 0}
        for _ in range(6000):
            history = [random_op(draw) for _ in range(draw.randint(1, 4))]
            right = wrong(history) is None
            self.assertEqual(right, explained(history), history)
            counts[right] += 1
        self.assertGreater(min(counts.values()), 1000, 'both kinds were drawn')


if __name__ == '__main__':
    main()
