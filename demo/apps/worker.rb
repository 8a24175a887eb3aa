# frozen_string_literal: true

# SPDX-License-Identifier: Apache-2.0

# Three threads serve a request each, and each says so to readers outside.
#
#     LD_PRELOAD=libotelctx_preload.so ruby worker.rb hold
#     otelctx-read --threads PID                      (in another terminal)
#
# The idiom: a span is a block. Its record is swapped in while the block runs,
# and what was there before is swapped back. A fiber may leave its thread in
# the midst of a block: so resume swaps in what the fiber was at, and out again.
# When another SDK of the program is in the way, the span is not shown. When one
# is there at the end, it may show the record again: then that is kept for good.
#
# What Ruby cannot do: tell us when a fiber is switched to that we did not make.
# Enumerator#next, Fiber#transfer and schedulers do: no span may be open then.
# Nor can M:N threads have spans (RUBY_MN_THREADS=1, and Ractors from 3.3 on),
# for they change their native thread.

require "fiddle"

# Says what a thread works for. Copy this module.
module Otelctx
  # Addresses are passed as numbers. Fiddle makes a number of a pointer by
  # Integer(), which swallows interrupts: a Timeout that strikes then is lost.
  POINTER = Fiddle::TYPE_UINTPTR_T
  SIZE = Fiddle::TYPE_SIZE_T
  BYTE = Fiddle::TYPE_CHAR

  def self.function(name, *parameters)
    address = Fiddle::Handle::DEFAULT[name] # in whatever is loaded
    # To give the GVL away would take longer than the call.
    Fiddle::Function.new(address, parameters, Fiddle::TYPE_INT, need_gvl: true)
  rescue Fiddle::DLError
    ->(*) { -1 } # there is no shim
  end
  private_class_method :function

  KEY = function("otelctx_key", POINTER)
  INIT = function("otelctx_record_init", POINTER, POINTER, POINTER, BYTE)
  ATTR = function("otelctx_record_attr", POINTER, BYTE, POINTER, SIZE)
  SWAP = function("otelctx_swap", POINTER, POINTER)
  KEYS = Hash.new do |keys, name|
    text = "#{name}\0"
    keys[name] = KEY.call(address(text))
  end

  KEPT = []

  # Of the bytes of a string, for as long as a variable holds it.
  def self.address(string) = Fiddle::Pointer[string].to_i

  def self.span(trace_id, span_id, attributes = {})
    record = Fiddle::Pointer.malloc(640, Fiddle::RUBY_FREE)
    fill(record.to_i, trace_id, span_id, attributes)
    # Stays odd when the record is not shown: somebody is in the way, or Timeout
    # struck before.
    before = [1].pack("J")
    begin
      SWAP.call(record.to_i, address(before))
      yield
    ensure
      outer = before.unpack1("J")
      KEPT << record unless outer.odd? || SWAP.call(outer, 0).zero?
    end
  end

  def self.fill(record, trace_id, span_id, attributes)
    raise ArgumentError unless [trace_id, span_id].map(&:bytesize) == [16, 8]

    INIT.call(record, address(trace_id), address(span_id), 1)
    attributes.each do |name, value|
      key = KEYS[name]
      next if key.negative?

      ATTR.call(record, key, address(value), value.bytesize)
    end
  end
  private_class_method :fill

  # A fiber that may be suspended within spans.
  class Fiber < ::Fiber
    def resume(...)
      outside = [1].pack("J") # odd addresses are refused
      SWAP.call(@inside || 0, Otelctx.address(outside))
      super
    ensure
      inside = [@inside || 0].pack("J") # kept when somebody is in the way
      SWAP.call(outside.unpack1("J"), Otelctx.address(inside))
      @inside = inside.unpack1("J")
    end
  end
end

WORKERS = (1..3)
HOLD = ARGV == ["hold"]
LOOKERS = Queue.new

# With `hold`: waits here for the others, and then for the main thread.
def look_here
  return unless HOLD

  go = Queue.new
  LOOKERS << go
  go.pop
end

# A tracer makes up ids; by these one sees who is who.
def ids(number, level)
  [number.chr * 16, (level + number).chr * 8]
end

# Its rows come in two batches, from a fiber that waits within its span.
def query(number)
  Otelctx::Fiber.new do
    Otelctx.span(*ids(number, 0x20), "db.operation.name" => "SELECT") do
      look_here
      Fiber.yield 4 * number
      look_here
      6 * number
    end
  end
end

def serve(number)
  attributes = { "http.route" => "/cart", "user.id" => "user-#{number}" }
  Otelctx.span(*ids(number, 0x10), attributes) do
    batches = query(number)
    rows = batches.resume
    look_here # the request's own context is back, the query is not over
    rows += batches.resume
    look_here
    rows
  end
end

threads = WORKERS.map do |number|
  Thread.new do
    Thread.current.name = "worker-#{number}"
    rows = serve(number)
    look_here
    rows
  end
end
(HOLD ? %w[query request query request idle] : []).each do |what|
  lookers = WORKERS.map { LOOKERS.pop }
  puts what
  $stdout.flush
  $stdin.gets
  lookers.each { |go| go << true }
end
WORKERS.zip(threads) do |number, thread|
  puts "worker #{number}: #{thread.value} rows"
end
