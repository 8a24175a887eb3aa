-- SPDX-License-Identifier: Apache-2.0
local function build(depth)
    if depth == 0 then return {} end
    return { build(depth - 1), build(depth - 1) }
end
local function count(node)
    return node[1] and 1 + count(node[1]) + count(node[2]) or 1
end
print(count(build(14)))
local producer = coroutine.wrap(function() for i = 1, 5 do coroutine.yield(i * i) end end)
for square in producer do print(square) end
print(io.popen("sort words"):read("a"))
os.exit(8)
