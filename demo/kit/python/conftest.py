# SPDX-License-Identifier: Apache-2.0

from otelctx_kit import otelctx_play  # noqa: F401 (a fixture)
