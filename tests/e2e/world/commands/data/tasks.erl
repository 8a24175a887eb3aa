%% SPDX-License-Identifier: Apache-2.0
-module(tasks).
-export([main/0]).

main() ->
    Parent = self(),
    Fib = fun F(N) when N < 2 -> N; F(N) -> F(N - 1) + F(N - 2) end,
    [spawn(fun() -> Parent ! {N, Fib(N)} end) || N <- lists:seq(10, 20)],
    [receive {N, Sum} -> io:format("~p ~p~n", [N, Sum]) end || N <- lists:seq(10, 20)],
    io:put_chars(os:cmd("sort words")),
    halt(6).
