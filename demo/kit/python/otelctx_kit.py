# SPDX-License-Identifier: Apache-2.0
"""Scenarios of otelctx-play, for tests in Python.

With pytest, say in conftest.py

    from otelctx_kit import otelctx_play

and call the fixture with the name of a scenario:

    def test_version_3_is_refused(otelctx_play):
        stage = otelctx_play("header/version-3")
        assert my_reader(stage["pid"]) is None
"""

import contextlib
import json
import os
import subprocess

import pytest

NOT_STAGED = 77


class NotStaged(Exception):
    """This machine cannot stage the scenario."""


@contextlib.contextmanager
def play(scenario):
    """What otelctx-play prints, as a dictionary, while the process lives."""
    program = os.environ.get("OTELCTX_PLAY", "otelctx-play")
    with subprocess.Popen(
        [program, scenario], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        line = process.stdout.readline()
        if not line and process.wait() == NOT_STAGED:
            raise NotStaged(scenario)
        if not line:
            raise ValueError(f"otelctx-play: status {process.returncode}")
        try:
            yield json.loads(line)
        finally:
            process.stdin.close()


@pytest.fixture
def otelctx_play():
    """Stages scenarios until the test ends, or skips it."""
    with contextlib.ExitStack() as stages:

        def start(scenario):
            try:
                return stages.enter_context(play(scenario))
            except NotStaged:
                pytest.skip(f"{scenario} cannot be staged here")

        yield start
