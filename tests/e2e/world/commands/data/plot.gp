# SPDX-License-Identifier: Apache-2.0
set terminal dumb 60 20
set xrange [0:10]
plot sin(x) title "sine"
call "nowhere.gp"
