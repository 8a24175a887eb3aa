# SPDX-License-Identifier: Apache-2.0
# For every shell: pipelines, substitutions, background jobs, a trap, a status.
trap 'echo trapped' TERM
total=0
for number in $(seq 20); do
    total=$((total + $(echo "$number" | tr 1 2 | sort)))
done
echo "$total"
(
    echo in a subshell
    exit 3
) || echo "status $?"
sort words | while read -r word; do echo "<$word>"; done
sleep 0.01 &
wait $!
echo "waited $?"
kill -TERM $$
cat nowhere
no-such-command
exit 4
