# SPDX-License-Identifier: Apache-2.0
require 'etc'

sums = (1..4).map { |i| Thread.new { (1..1000 * i).sum } }.map(&:value)
puts sums.inspect
children = (1..4).map do |i|
  reader, writer = IO.pipe
  pid = fork do
    writer.puts Thread.new { "child #{i}: #{sums[i - 1] * i}" }.value
    exit! i
  end
  writer.close
  [pid, reader]
end
children.each do |pid, reader|
  puts reader.read, Process.wait2(pid).last.exitstatus
end
puts %x(sort words)
