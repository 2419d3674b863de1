%% SPDX-License-Identifier: Apache-2.0
%% The lab's port to Erlang: a process for each fiber, and a mailbox for a channel. Where a channel
%% has a bound, the receiver gives credit for as many messages. The workloads of actors are in
%% lab_actors.erl. `erl … -extra WORKLOAD SIZE` runs one workload once to warm up and once timed,
%% and prints one line of JSON; `+S` is the number of threads.
-module(lab).
-export([main/0, tree/3]).

main() ->
    [Name, Text] = init:get_plain_arguments(),
    Size = list_to_integer(Text),
    {Run, Expected, Tasks} = workload(Name, Size),
    case os:getenv("LAB_NO_WARMUP") of
        false -> Run();
        _ -> ok
    end,
    Before = cpu_seconds(),
    Start = erlang:monotonic_time(nanosecond),
    Answer = Run(),
    Seconds = (erlang:monotonic_time(nanosecond) - Start) / 1.0e9,
    io:format("{\"answer\": ~B, \"expected\": ~B, \"seconds\": ~.9f, \"cpu_seconds\": ~.6f, "
              "\"tasks\": ~B, \"peak_rss_kib\": ~B}~n",
              [Answer, Expected, Seconds, cpu_seconds() - Before, Tasks, peak_rss_kib()]),
    halt(if Answer =:= Expected -> 0; true -> 1 end).

workload("skynet-channel", N) -> {fun() -> skynet(N) end, sum(N), (10 * N - 1) div 9};
workload("fiber-yield", N) -> {fun() -> yields(N) end, N, N};
workload("fiber-create", N) -> {fun() -> create(N, 0) end, N, N};
workload("channel-rendezvous", N) -> {fun() -> channel(N, 1) end, sum(N), N};
workload("channel-buffered", N) -> {fun() -> channel(N, 128) end, sum(N), N};
workload("fibers-blocked", N) -> {fun() -> blocked(N) end, N, N};
workload("skynet-actor", N) -> workload("skynet-channel", N);
workload(Name, N) ->
    case lab_actors:workload(Name, N) of
        none -> unknown(Name);
        Found -> Found
    end.

unknown(Name) ->
    io:format(standard_error, "no workload is called '~s'~n", [Name]),
    halt(1).

sum(N) -> N * (N - 1) div 2.

%% Runs F in a process of its own and waits for its answer.
in_process(F) ->
    Me = self(),
    Child = spawn_opt(fun() -> Me ! {self(), F()} end, []),
    receive {Child, Answer} -> Answer end.

skynet(Leaves) ->
    Me = self(),
    spawn(?MODULE, tree, [Me, 0, Leaves]),
    receive Sum -> Sum end.

tree(Above, First, 1) -> Above ! First;
tree(Above, First, Leaves) ->
    Part = Leaves div 10,
    Me = self(),
    _ = [spawn(?MODULE, tree, [Me, First + I * Part, Part]) || I <- lists:seq(0, 9)],
    Above ! collect(10, 0).

collect(0, Sum) -> Sum;
collect(Left, Sum) -> receive Value -> collect(Left - 1, Sum + Value) end.

%% Two processes that yield to each other.
yields(N) ->
    Me = self(),
    Half = fun(Share) -> spawn(fun() -> Me ! {done, yield_times(Share, 0)} end) end,
    Half(N - N div 2),
    Half(N div 2),
    A = receive {done, X} -> X end,
    B = receive {done, Y} -> Y end,
    A + B.

yield_times(Share, Share) -> Share;
yield_times(Share, Done) ->
    erlang:yield(),
    yield_times(Share, Done + 1).

create(N, N) -> N;
create(N, Count) -> create(N, Count + in_process(fun() -> 1 end)).

%% A mailbox has no bound. The receiver gives credit for as many messages as the channel has room,
%% and returns one credit for each message that it takes.
channel(N, Room) ->
    Me = self(),
    To = spawn(fun() -> Me ! {sum, take(N, 0)} end),
    spawn(fun() -> send(To, 0, N, Room) end),
    receive {sum, Sum} -> Sum end.

send(_, N, N, _) -> ok;
send(To, I, N, 0) ->
    receive taken -> send(To, I, N, 1) end;
send(To, I, N, Credit) ->
    To ! {self(), I},
    send(To, I + 1, N, Credit - 1).

take(0, Sum) -> Sum;
take(Left, Sum) ->
    receive
        {From, Value} ->
            From ! taken,
            take(Left - 1, Sum + Value)
    end.

%% All processes block on a message at the same time, and are then released.
blocked(N) ->
    Me = self(),
    All = [spawn(fun() -> Me ! arrived, receive go -> Me ! passed end end) || _ <- lists:seq(1, N)],
    count(arrived, N, 0),
    _ = [One ! go || One <- All],
    count(passed, N, 0).

count(_, 0, Count) -> Count;
count(What, Left, Count) -> receive What -> count(What, Left - 1, Count + 1) end.

%% Returns the user and system time of all threads: fields 14 and 15 of /proc/self/stat, in
%% hundredths of a second.
cpu_seconds() ->
    {ok, Text} = file:read_file("/proc/self/stat"),
    [_, Rest] = string:split(Text, ") ", trailing),
    Fields = string:lexemes(Rest, " "),
    (binary_to_integer(lists:nth(12, Fields)) + binary_to_integer(lists:nth(13, Fields))) / 100.0.

peak_rss_kib() ->
    {ok, Text} = file:read_file("/proc/self/status"),
    {match, [Peak]} = re:run(Text, "VmHWM:\\s*([0-9]+)", [{capture, all_but_first, list}]),
    list_to_integer(Peak).
