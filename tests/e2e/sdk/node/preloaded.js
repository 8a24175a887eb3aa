// SPDX-License-Identifier: Apache-2.0
'use strict';

/* What @opentelemetry/auto-instrumentations-node/register is. */

require('./sdk').start();
