# SPDX-License-Identifier: Apache-2.0

import os

import pytest

from otelctx_kit import play


def test_a_process_publishes_until_the_block_ends():
    with play("payload/int") as stage:
        assert stage["expect"] == {"answer": "context", "resource": {"k": 42}}
        with open(f"/proc/{stage['pid']}/maps", encoding="ascii") as maps:
            assert "OTEL_CTX" in maps.read()
    assert not os.path.exists(f"/proc/{stage['pid']}")


def test_threads_are_told(otelctx_play):
    stage = otelctx_play("records/ordinary")
    thread = stage["expect"]["threads"][0]
    assert thread["tid"] == stage["tids"][0]
    assert thread["attributes"] == {"http.route": "/cart"}


def test_several_scenarios_may_be_on_stage(otelctx_play):
    pids = {otelctx_play(name)["pid"] for name in ("mapping/none", "mapping/memfd")}
    assert len(pids) == 2


def test_an_unknown_scenario_is_an_error():
    with pytest.raises(ValueError, match="status 3"):
        with play("mapping/memfed"):
            pass
