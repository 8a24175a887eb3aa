# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
#
# A repository with two branches that do not merge.
set -e
git init -q -b ours repository
cd repository
for number in $(seq 30); do
    seq "$number" 2000 >"file$((number % 7))"
    git add .
    git commit -q -m "commit $number"
done
git checkout -q -b theirs HEAD~3
echo theirs >file2
git commit -q -a -m 'the other way'
git checkout -q ours
git gc -q --prune=now
rm -r .git/hooks
