#!/usr/bin/env python3
"""Which outputs tests/documents.py accepts as equal."""
import unittest

import documents


class Difference(unittest.TestCase):
    def test_duration_of_almost_a_day_matches_23_hours(self):
        shown = 'sleeps: deploy waits for its result, deadline in 23 h 59 min'
        came = 'sleeps: deploy waits for its result, deadline in %s'
        for deadline in ('1 d', '24 h', '23 h', '23 h 59 min', '6 d 23 h'):
            self.assertIsNone(documents.difference(shown, came % deadline))
        for deadline in ('5 min', '10 s', 'HOURS or so', '1 day'):
            self.assertIsNotNone(documents.difference(shown, came % deadline))

    def test_ellipsis_matches_lines_or_part_of_a_line(self):
        self.assertIsNone(documents.difference('a\n…\nz', 'a\nb\nc\nz'))
        self.assertIsNone(documents.difference('pnd_… waits', 'pnd_x1 waits'))
        self.assertIsNotNone(documents.difference('a\n…\nz', 'a\nb\nc'))


if __name__ == '__main__':
    unittest.main()
