%% SPDX-License-Identifier: Apache-2.0
%% The workloads of actors: an actor is a process.
-module(lab_actors).
-export([workload/2, node/2, sending/3, mayfly/2, fib_call/2, creature/3]).
-export([producer/2, consumer/2, buffer/3, lender/2, prime_worker/2]).
-export([mixed_node/2, mixed_factoriser/2]).

-define(RING, 503).
-define(SENDERS, 20).
-define(CREATURES, 100).
-define(BUFFER, 50).
-define(COMPOSITE, 600213349).
-define(FACTOR, 20483).
-define(MIXED_RINGS, 20).
-define(MIXED_ACTORS, 100).

%% Returns {the function that runs the workload, the answer, the number of messages}, or none.
workload("thread-ring", N) -> {fun() -> ring([N]) end, N rem ?RING + 1, N};
workload("parallel-thread-ring", N) ->
    Hops = parts(N, ?RING),
    All = Hops * ?RING,
    {fun() ->
        case ring(lists:duplicate(?RING, Hops)) of
            ?RING * (?RING + 1) div 2 -> All;
            _ -> -1
        end
     end, All, All};
workload("ping-pong", N) -> {fun() -> ping_pong(N) end, N, N};
workload("counting-actor", N) -> {fun() -> counting(N) end, N * (N - 1) div 2, N};
workload("fan-in", N) ->
    Each = parts(N, ?SENDERS),
    {fun() -> fan_in(Each) end, Each * ?SENDERS, Each * ?SENDERS};
workload("spawn-storm", N) -> {fun() -> storm(N) end, N, N};
workload("producer-consumer", N) -> {fun() -> producer_consumer(N) end, N, N};
workload("prime-factors", N) -> {fun() -> prime_factors(N) end, N * ?FACTOR, N};
workload("mixed-scenario", N) ->
    Hops = parts(N, ?MIXED_RINGS),
    {fun() -> mixed(Hops) end, Hops * ?MIXED_RINGS, Hops * ?MIXED_RINGS};
workload("savina-fib", N) ->
    Value = fib(N, 0, 1),
    {fun() -> savina_fib(N) end, Value, 2 * Value - 1};
workload("savina-chameneos", N) -> {fun() -> chameneos(N) end, 2 * N, N};
workload(Name, N) -> lab_savina:workload(Name, N).

fib(0, A, _) -> A;
fib(N, A, B) -> fib(N - 1, B, A + B).

parts(N, Parts) -> (N + Parts - 1) div Parts.

%% Sends the tokens around the ring, the first token from the first actor, and so on. Returns the
%% sum of the numbers of the actors that have the tokens last.
ring(Tokens) ->
    Me = self(),
    Nodes = [spawn(?MODULE, node, [Number, Me]) || Number <- lists:seq(1, ?RING)],
    [First | Others] = Nodes,
    lists:foreach(fun({Node, Next}) -> Node ! {next, Next} end,
                  lists:zip(Nodes, Others ++ [First])),
    start(Nodes, Tokens),
    Sum = last(length(Tokens), 0),
    _ = [Node ! stop || Node <- Nodes],
    Sum.

start(_, []) -> ok;
start([Node | Nodes], [Hops | Tokens]) ->
    Node ! Hops,
    start(Nodes, Tokens).

last(0, Sum) -> Sum;
last(Left, Sum) -> receive {last, Number} -> last(Left - 1, Sum + Number) end.

node(Number, Whole) ->
    receive {next, Next} -> pass_on(Number, Next, Whole) end.

pass_on(Number, Next, Whole) ->
    receive
        0 ->
            Whole ! {last, Number},
            pass_on(Number, Next, Whole);
        stop -> ok;
        Hops ->
            Next ! Hops - 1,
            pass_on(Number, Next, Whole)
    end.

ping_pong(N) ->
    Me = self(),
    Player = fun() -> Me ! {sent, play(0)} end,
    A = spawn(Player),
    B = spawn(Player),
    B ! {A, N},
    X = receive {sent, First} -> First end,
    Y = receive {sent, Second} -> Second end,
    X + Y.

play(Sent) ->
    receive
        {_, 0} -> Sent;
        {From, 1} ->
            From ! {self(), 0},
            Sent + 1;
        {From, Left} ->
            From ! {self(), Left - 1},
            play(Sent + 1)
    end.

counting(N) ->
    Me = self(),
    To = spawn(fun() -> Me ! {sum, add(0)} end),
    spawn(fun() -> sending(To, 0, N), To ! result end),
    receive {sum, Sum} -> Sum end.

add(Sum) ->
    receive
        result -> Sum;
        Value -> add(Sum + Value)
    end.

sending(_, N, N) -> ok;
sending(To, I, N) ->
    To ! I,
    sending(To, I + 1, N).

fan_in(Each) ->
    Me = self(),
    To = spawn(fun() -> Me ! {seen, count(Each * ?SENDERS, 0)} end),
    _ = [spawn(?MODULE, sending, [To, 0, Each]) || _ <- lists:seq(1, ?SENDERS)],
    receive {seen, Count} -> Count end.

count(0, Seen) -> Seen;
count(Left, Seen) -> receive _ -> count(Left - 1, Seen + 1) end.

storm(N) ->
    First = spawn(?MODULE, mayfly, [N, self()]),
    First ! 1,
    receive {last, Number} -> Number end.

mayfly(N, Whole) ->
    receive
        N -> Whole ! {last, N};
        Number -> spawn(?MODULE, mayfly, [N, Whole]) ! Number + 1
    end.

savina_fib(N) ->
    spawn(?MODULE, fib_call, [N, self()]),
    receive {value, Value} -> Value end.

fib_call(N, Above) when N =< 2 -> Above ! {value, 1};
fib_call(N, Above) ->
    Me = self(),
    spawn(?MODULE, fib_call, [N - 1, Me]),
    spawn(?MODULE, fib_call, [N - 2, Me]),
    A = receive {value, X} -> X end,
    B = receive {value, Y} -> Y end,
    Above ! {value, A + B}.

chameneos(N) ->
    Me = self(),
    Mall = spawn(fun() -> mall(N, none, 0) end),
    _ = [spawn(?MODULE, creature, [I rem 3, Mall, Me]) || I <- lists:seq(0, ?CREATURES - 1)],
    meetings(?CREATURES, 0).

meetings(0, Sum) -> Sum;
meetings(Left, Sum) -> receive {met, Count} -> meetings(Left - 1, Sum + Count) end.

%% The mall introduces the second creature of a pair to the first.
mall(_, _, ?CREATURES) -> ok;
mall(0, none, Home) ->
    receive {_, Who} -> Who ! go_home end,
    mall(0, none, Home + 1);
mall(Left, none, Home) ->
    receive {_, Who} -> mall(Left, Who, Home) end;
mall(Left, Waiting, Home) ->
    receive Visit -> Waiting ! Visit end,
    mall(Left - 1, none, Home).

creature(Colour, Mall, Whole) -> creature(Colour, Mall, Whole, 0).

creature(Colour, Mall, Whole, Met) ->
    Mall ! {Colour, self()},
    receive
        go_home -> Whole ! {met, Met};
        {Other, Who} ->
            Now = mixed(Colour, Other),
            Who ! Now,
            creature(Now, Mall, Whole, Met + 1);
        Now -> creature(Now, Mall, Whole, Met + 1)
    end.

mixed(Same, Same) -> Same;
mixed(A, B) -> 3 - A - B.

%% ---- a bounded buffer between producers and consumers

producer_consumer(N) ->
    Me = self(),
    Buffer = spawn(?MODULE, buffer, [queue:new(), queue:new(), queue:new()]),
    Count = fun(I) -> N div 5 + if I < N rem 5 -> 1; true -> 0 end end,
    _ = [spawn(?MODULE, producer, [Buffer, Count(I)]) || I <- lists:seq(0, 4)],
    Consumers = [spawn(?MODULE, consumer, [Buffer, Me]) || _ <- lists:seq(1, 5)],
    Arrived = arrived(N, 0),
    _ = [exit(One, kill) || One <- [Buffer | Consumers]],
    Arrived.

arrived(0, Sum) -> Sum;
arrived(Left, Sum) -> receive arrived -> arrived(Left - 1, Sum + 1) end.

producer(_, 0) -> ok;
producer(Buffer, Left) ->
    Buffer ! {offer, self(), Left},
    receive room -> producer(Buffer, Left - 1) end.

consumer(Buffer, Whole) ->
    Buffer ! {wants, self()},
    receive {item, _} -> Whole ! arrived end,
    consumer(Buffer, Whole).

buffer(Items, Refused, Waiting) ->
    receive
        {offer, Who, Value} -> move_on(Items, queue:in({Who, Value}, Refused), Waiting);
        {wants, Who} -> move_on(Items, Refused, queue:in(Who, Waiting))
    end.

move_on(Items, Refused, Waiting) ->
    case queue:len(Items) < ?BUFFER andalso queue:out(Refused) of
        {{value, {Who, Value}}, Left} ->
            Who ! room,
            move_on(queue:in(Value, Items), Left, Waiting);
        _ -> serve(Items, Refused, Waiting)
    end.

serve(Items, Refused, Waiting) ->
    case {queue:out(Items), queue:out(Waiting)} of
        {{{value, Value}, Left}, {{value, Who}, Others}} ->
            Who ! {item, Value},
            move_on(Left, Refused, Others);
        _ -> buffer(Items, Refused, Waiting)
    end.

%% ---- workers that borrow from a pool

smallest_factor(Number) -> smallest_factor(Number, 2).
smallest_factor(Number, I) when I * I > Number -> Number;
smallest_factor(Number, I) when Number rem I =:= 0 -> I;
smallest_factor(Number, I) -> smallest_factor(Number, I + 1).

prime_factors(N) ->
    Me = self(),
    Server = spawn(?MODULE, lender, [lists:seq(1, 8), queue:new()]),
    Workers = [spawn(?MODULE, prime_worker, [Me, Server]) || _ <- lists:seq(1, 16)],
    Left = ask(Workers, ask(Workers, N)),
    Sum = solved(N, Left, 0),
    _ = [exit(One, kill) || One <- [Server | Workers]],
    Sum.

ask(_, 0) -> 0;
ask([], Left) -> Left;
ask([Worker | Others], Left) ->
    Worker ! 'query',
    ask(Others, Left - 1).

solved(0, _, Sum) -> Sum;
solved(Open, Left, Sum) ->
    receive {solved, Who, Factor} -> solved(Open - 1, ask([Who], Left), Sum + Factor) end.

lender(Free, Waiting) ->
    receive
        {need, Who} when Free =:= [] -> lender([], queue:in(Who, Waiting));
        {need, Who} ->
            Who ! {lend, hd(Free)},
            lender(tl(Free), Waiting);
        {lend, Buffer} ->
            case queue:out(Waiting) of
                {{value, Who}, Others} ->
                    Who ! {lend, Buffer},
                    lender(Free, Others);
                {empty, _} -> lender([Buffer | Free], Waiting)
            end
    end.

prime_worker(Client, Server) ->
    receive 'query' -> Server ! {need, self()} end,
    receive
        {lend, Buffer} ->
            Factor = smallest_factor(?COMPOSITE),
            Server ! {lend, Buffer},
            Client ! {solved, self(), Factor}
    end,
    prime_worker(Client, Server).

%% ---- rings, with a worker beside each ring

mixed(Hops) ->
    Me = self(),
    Rings = [mixed_ring(Me) || _ <- lists:seq(1, ?MIXED_RINGS)],
    _ = [First ! Hops || {First, _, _} <- Rings],
    _ = [receive stopped -> ok end || _ <- Rings],
    _ = [Node ! stop || {_, Nodes, _} <- Rings, Node <- Nodes],
    Sum = lists:sum([receive {hops, Count} -> Count end || {_, Nodes, _} <- Rings, _ <- Nodes]),
    _ = [Worker ! stop || {_, _, Worker} <- Rings],
    Factorised = [receive {factorised, Right} -> Right end || _ <- Rings],
    case lists:all(fun(Right) -> Right end, Factorised) of
        true -> Sum;
        false -> -1
    end.

mixed_ring(Whole) ->
    Worker = spawn(?MODULE, mixed_factoriser, [Whole, true]),
    First = spawn(?MODULE, mixed_node, [Whole, Worker]),
    Others = [spawn(?MODULE, mixed_node, [Whole, none]) || _ <- lists:seq(2, ?MIXED_ACTORS)],
    Nodes = [First | Others],
    lists:foreach(fun({Node, Next}) -> Node ! {next, Next} end,
                  lists:zip(Nodes, Others ++ [First])),
    {First, Nodes, Worker}.

mixed_node(Whole, Worker) ->
    receive {next, Next} -> mixed_pass_on(Next, Whole, Worker, 0) end.

mixed_pass_on(Next, Whole, Worker, Count) ->
    receive
        0 ->
            Whole ! stopped,
            mixed_pass_on(Next, Whole, Worker, Count);
        stop -> Whole ! {hops, Count};
        Hops ->
            _ = [Worker ! factorise || Worker =/= none, Hops rem ?MIXED_ACTORS =:= 0],
            Next ! Hops - 1,
            mixed_pass_on(Next, Whole, Worker, Count + 1)
    end.

mixed_factoriser(Whole, Right) ->
    receive
        factorise -> mixed_factoriser(Whole, Right andalso smallest_factor(?COMPOSITE) =:= ?FACTOR);
        stop -> Whole ! {factorised, Right}
    end.
