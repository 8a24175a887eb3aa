# SPDX-License-Identifier: Apache-2.0
for word in (sort words)
    echo "<$word>" | string upper
end
set total (math (seq -s + 20))
echo $total
sleep 0.01 &
wait
cat nowhere
no-such-command 2>/dev/null
exit 4
