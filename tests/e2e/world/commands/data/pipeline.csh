# SPDX-License-Identifier: Apache-2.0
foreach word (`sort words`)
    echo "<$word>" | tr a-z A-Z
end
@ total = 6 * 7
echo $total
(echo in a subshell; exit 3)
echo status $status
cat nowhere
exit 4
