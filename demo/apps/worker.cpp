// SPDX-License-Identifier: Apache-2.0

/*
 * Three threads serve a request each, and each says so to readers outside.
 *
 *     c++ -std=c++20 -I../../shim worker.cpp -o worker -pthread -ldl
 *     LD_PRELOAD=libotelctx_preload.so ./worker hold
 *     otelctx-read --threads PID                      (in another terminal)
 *
 * The idiom: a span is an object on the stack that owns its record. The
 * constructor swaps the record in, the destructor swaps back what was there
 * before; so spans nest and end on every way out, exceptions included. When
 * another SDK of the program is in the way, the span is not shown. When one is
 * there at the end, it may show the record again: then that is never deleted.
 *
 * What C++ cannot do: follow a coroutine. One that suspends inside a span
 * leaves its record on the thread, and may go on on another: swap it in before
 * each resume() and out after it, as python/otelctx.py does.
 */

#include <otelctx.h>

#include <array>
#include <barrier>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using TraceId = std::array<std::uint8_t, 16>;
using SpanId = std::array<std::uint8_t, 8>;

class Span
{
  public:
    struct Attribute {
        int key; // negative: there is no shim, or no room for the key
        std::string_view value;
    };

    Span(const TraceId &trace_id, const SpanId &span_id,
         std::initializer_list<Attribute> attributes)
    {
        otelctx_record_init(record_.get(), trace_id.data(), span_id.data(), 1);
        for (const auto &[key, value] : attributes)
            if (key >= 0)
                otelctx_record_attr(record_.get(),
                                    static_cast<std::uint8_t>(key),
                                    value.data(), value.size());
        shown_ = otelctx_swap(record_.get(), &outer_) == 0;
    }
    ~Span()
    {
        if (shown_ && otelctx_swap(outer_, nullptr) != 0)
            static_cast<void>(record_.release());
    }
    // It belongs to one thread, and to one scope.
    Span(const Span &) = delete;
    Span &operator=(const Span &) = delete;

  private:
    std::unique_ptr<otelctx_record> record_{new otelctx_record};
    otelctx_record *outer_ = nullptr;
    bool shown_ = false;
};

static const int http_route = otelctx_key("http.route");
static const int user_id = otelctx_key("user.id");
static const int db_operation = otelctx_key("db.operation.name");

static constexpr int workers = 3;
static std::barrier step(workers + 1);
static bool hold;

// With `hold`: waits here for the others, and then for main to go on.
static void look_here()
{
    if (hold) {
        step.arrive_and_wait();
        step.arrive_and_wait();
    }
}

// A tracer makes up ids; by these one sees who is who.
template <class Id> static Id id_of(int number)
{
    Id id;
    id.fill(static_cast<std::uint8_t>(number));
    return id;
}

static int query(int number)
{
    Span span(id_of<TraceId>(number), id_of<SpanId>(0x20 + number),
              {{db_operation, "SELECT"}});

    look_here();
    return 10 * number;
}

static int serve(int number)
{
    const auto user = "user-" + std::to_string(number);
    Span span(id_of<TraceId>(number), id_of<SpanId>(0x10 + number),
              {{http_route, "/cart"}, {user_id, user}});
    const int rows = query(number);

    look_here(); // the request's own context is back
    return rows;
}

static void work(int number, int &rows)
{
    pthread_setname_np(pthread_self(),
                       ("worker-" + std::to_string(number)).c_str());
    rows = serve(number);
    look_here();
}

int main(int argc, char **argv)
{
    std::array<int, workers> rows{};
    std::vector<std::jthread> threads;

    hold = argc > 1 && std::string_view(argv[1]) == "hold";
    for (int i = 0; i < workers; i++)
        threads.emplace_back(work, i + 1, std::ref(rows[i]));
    if (hold) {
        for (const auto *what : {"query", "request", "idle"}) {
            std::string line;

            step.arrive_and_wait();
            std::cout << what << std::endl;
            std::getline(std::cin, line);
            step.arrive_and_wait();
        }
    }
    threads.clear(); // joins them
    for (int i = 0; i < workers; i++)
        std::cout << "worker " << i + 1 << ": " << rows[i] << " rows\n";
}
