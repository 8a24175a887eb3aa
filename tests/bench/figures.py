# SPDX-License-Identifier: Apache-2.0
"""Ratios that a busy neighbour does not change, or that say so.

All that a benchmark measures, it measures in rounds, each subject once a round. Two
more blocks of a floor, before and after, tell how quiet the round was, and only the
quietest tenth of the rounds counts. Nothing else is computed from these two: who
chooses the rounds in which the floor itself was fast finds it too fast.
"""

import collections
import math
import statistics

PARTS = 5  # of a run, which must agree
LEAST = 5  # rounds, of which a figure is made
# Additions a cycle of a core that has four adders: with nobody beside, 3.5 or more; beside a
# busy hyperthread, two or a little more; in between, somebody comes and goes.
ALONE = 3.4
BUSY = 2.6
SMALL = 0.005  # a difference of two builds that nobody need be told
BESIDE = 1.5  # a limit is that much higher if a hyperthread is busy beside


def quietest(tells):
    """The indexes of the quietest tenth of the rounds."""
    count = max(len(tells) // 10, min(LEAST, len(tells)))
    return sorted(range(len(tells)), key=tells.__getitem__)[:count]


class Rounds:
    """What a benchmark measured: {(row, subject): [a value for each round]}."""

    def __init__(self, values):
        self.values = collections.defaultdict(list, values)

    @classmethod
    def read(cls, text):
        """From lines of "row TAB subject TAB value"."""
        rounds = cls({})
        for line in text.splitlines():
            row, subject, value = line.split("\t")
            rounds.values[row, subject].append(float(value))
        return rounds

    def __contains__(self, key):
        return key in self.values

    def __getitem__(self, key):
        return self.values[key]

    @property
    def tells(self):
        pairs = zip(self.values["tell", "before"], self.values["tell", "after"])
        return [before + after for before, after in pairs]

    @property
    def noise(self):
        """How much longer than in the quietest tenth a floor took in the median."""
        tells = self.tells
        quiet = statistics.median(tells[i] for i in quietest(tells))
        return statistics.median(tells) / quiet - 1

    @property
    def additions(self):
        """Additions a cycle in the quietest tenth; None if they were not counted."""
        each = self.values.get(("additions a cycle", "core"))
        return each and statistics.median(each[i] for i in quietest(self.tells))


def figure(ratios, tells):
    """The ratio in the quietest tenth, and how far from it another run may be: twice
    the standard error of the parts of this run; None if there are too few rounds."""

    def quiet(indexes):
        return statistics.median(
            ratios[indexes[i]] for i in quietest([tells[i] for i in indexes])
        )

    count = len(ratios)
    if count < PARTS * LEAST:
        return quiet(range(count)), None
    parts = [quiet(range(count * i // PARTS, count * (i + 1) // PARTS)) for i in range(PARTS)]
    return quiet(range(count)), 2 * statistics.stdev(parts) / math.sqrt(PARTS)


def verdict(ratio, error, target, additions=None):
    if target is None:
        return None
    is_busy = additions is not None and additions < BUSY
    is_alone = additions is None or additions >= ALONE
    if is_busy:
        target *= BESIDE
    if error is None or ratio - error <= target < ratio + error:
        return "too noisy to say"
    if ratio > target:
        return "MISSED" if is_busy or is_alone else "too noisy to say"
    return "holds beside a busy hyperthread" if is_busy else "holds"


def row(name, unit, rounds, floor, ours, target=None, floor_name=None):
    """floor, ours: keys of the rounds."""
    floors, values, tells = rounds[floor], rounds[ours], rounds.tells
    ratios = [b / a for a, b in zip(floors, values)]
    ratio, error = figure(ratios, tells)
    return {
        "row": name,
        "unit": unit,
        "floor": floor_name or floor[1],
        "floor_value": figure(floors, tells)[0],
        "value": figure(values, tells)[0],
        "ratio": ratio,
        "error": error,
        "median": statistics.median(ratios),
        "target": target,
        "verdict": verdict(ratio, error, target, rounds.additions),
        "noise": rounds.noise,
        "additions": rounds.additions,
    }


def count(name, unit, value, target):
    """A row that no noise changes: it is the value that is bounded."""
    return {
        "row": name,
        "unit": unit,
        "floor": None,
        "floor_value": None,
        "value": value,
        "ratio": None,
        "error": None,
        "median": None,
        "target": target,
        "verdict": "holds" if value <= target else "MISSED",
        "noise": None,
        "additions": None,
    }


def difference(name, ours, theirs, tells):
    """Of two builds in the same rounds."""
    ratio, error = figure([a / b for a, b in zip(ours, theirs)], tells)
    if error is None:
        verdict = "too few rounds to say"
    elif abs(ratio - 1) <= max(error, SMALL):
        verdict = "no difference beyond the noise"
    else:
        verdict = "slower" if ratio > 1 else "faster"
    return {
        "row": name,
        "theirs": figure(theirs, tells)[0],
        "ours": figure(ours, tells)[0],
        "ratio": ratio,
        "error": error,
        "verdict": verdict,
    }
