%% SPDX-License-Identifier: Apache-2.0
%% Benchmarks of the Savina suite, as workloads/actors/savina_*.hpp describe them: an actor is a
%% process.
-module(lab_savina).
-export([workload/2, delay/3, filter/5, sampler/2, integrator/3, searcher/2, quadrant/4]).

-define(CHANNELS, 8).
-define(COLUMNS, 1024).
-define(WORKERS, 20).
-define(THRESHOLD, 1024).
-define(ROUNDS, 100).
-define(SIDE, 500.0).
-define(LIMIT, (2 * 1.4142135623730951 * ?SIDE)).
-define(SEED, (123456 rem 65536)).
-define(NO_PART, 4).

%% Returns {the function that runs the workload, the answer, the number of operations}, or none.
workload("savina-filterbank", N) -> {fun() -> filter_bank(N) end, filtered(N), N};
workload("savina-astar", N) ->
    Count = reached_serially(grid(N), [0], #{0 => true}),
    {fun() -> search(N) end, Count, Count};
workload("savina-facloc", N) -> {fun() -> facilities(N) end, N, N};
workload(Name, N) -> lab_savina_more:workload(Name, N).

next(Value) -> (Value * 1309 + 13849) band 16#FFFF.

%% ---- savina-filterbank

filter_bank(N) ->
    Sums = spawn(?MODULE, integrator, [self(), maps:from_list([{C, 0} || C <- channels()]), #{}]),
    Banks = [bank(C, Sums) || C <- channels()],
    send_numbers(Banks, 0, N),
    Answer = add_sums(0, N - 2 * (?COLUMNS - 1), 0),
    _ = [Bank ! stop || Bank <- Banks],
    Sums ! stop,
    Answer.

channels() -> lists:seq(0, ?CHANNELS - 1).

bank(C, Sums) ->
    Second = spawn(?MODULE, filter, [{C, Sums}, coefficients(C, second), zeros(), 1, false]),
    Delay = spawn(?MODULE, delay, [Second, delayed(), 1]),
    Sampler = spawn(?MODULE, sampler, [Delay, 0]),
    First = spawn(?MODULE, filter, [Sampler, coefficients(C, first), zeros(), 1, false]),
    spawn(?MODULE, delay, [First, delayed(), 1]).

zeros() -> erlang:make_tuple(?COLUMNS, 0).
delayed() -> erlang:make_tuple(?COLUMNS - 1, 0).

%% The coefficient of the first place is the last one.
coefficients(C, Which) ->
    More = fun(I) -> case Which of first -> I; second -> C * C end end,
    list_to_tuple([(I * C + More(I) + I + C) rem 16 + 1
                   || I <- lists:seq(?COLUMNS - 1, 0, -1)]).

send_numbers(_, N, N) -> ok;
send_numbers(Banks, K, N) ->
    _ = [Bank ! K rem 1000 || Bank <- Banks],
    send_numbers(Banks, K + 1, N).

add_sums(N, N, Answer) -> Answer;
add_sums(K, N, Answer) ->
    receive {sum, Sum} -> add_sums(K + 1, N, Answer + Sum * (K rem 7 + 1)) end.

pass({Channel, To}, Value) -> To ! {Channel, Value};
pass(To, Value) -> To ! Value.

delay(To, Kept, At) ->
    receive
        stop -> To ! stop;
        Value ->
            To ! element(At, Kept),
            delay(To, setelement(At, Kept, Value), At rem tuple_size(Kept) + 1)
    end.

%% excerpt savina-filterbank
filter(To, Coefficients, Kept, At, Full) ->
    receive
        stop -> pass_stop(To);
        Value ->
            Now = setelement(At, Kept, Value),
            Next = At rem ?COLUMNS + 1,
            case Full orelse Next =:= 1 of
                true ->
                    pass(To, product(?COLUMNS, Now, Coefficients, 0)),
                    filter(To, Coefficients, Now, Next, true);
                false -> filter(To, Coefficients, Now, Next, false)
            end
    end.

product(0, _, _, Sum) -> Sum;
product(I, A, B, Sum) -> product(I - 1, A, B, Sum + element(I, A) * element(I, B)).
%% excerpt end

pass_stop({_, _}) -> ok;
pass_stop(To) -> To ! stop.

sampler(To, At) ->
    receive
        stop -> To ! stop;
        Value ->
            To ! if At =:= 0 -> Value; true -> 0 end,
            sampler(To, (At + 1) rem ?COLUMNS)
    end.

%% Adds the k-th outputs of all channels. Open maps k to the sum and the number of outputs so far.
integrator(Whole, Seen, Open) ->
    receive
        stop -> ok;
        {Channel, Value} ->
            #{Channel := K} = Seen,
            {Sum, Count} = maps:get(K, Open, {0, 0}),
            Later = Seen#{Channel := K + 1},
            case Count + 1 of
                ?CHANNELS ->
                    Whole ! {sum, Sum + Value},
                    integrator(Whole, Later, maps:remove(K, Open));
                More -> integrator(Whole, Later, Open#{K => {Sum + Value, More}})
            end
    end.

%% Computes a product from the one before it. A state is {coefficients, kept numbers, product}.
filtered(N) -> lists:sum([filtered_channel(C, N) || C <- channels()]).

filtered_channel(C, N) ->
    Begin = fun(Which) -> {coefficients(C, Which), zeros(), 0} end,
    filtered_channel(0, N, Begin(first), Begin(second), queue:new(), 0).

filtered_channel(N, N, _, _, _, Answer) -> Answer;
filtered_channel(K, N, First, Second, Sampled, Answer) ->
    Input = if K >= ?COLUMNS - 1 -> (K - ?COLUMNS + 1) rem 1000; true -> 0 end,
    {_, _, Inner} = Now = change(First, K, Input),
    M = K - ?COLUMNS + 1,
    if
        M < 0 -> filtered_channel(K + 1, N, Now, Second, Sampled, Answer);
        true ->
            Sample = if M rem ?COLUMNS =:= 0 -> Inner; true -> 0 end,
            {Value, Rest} = case queue:len(Sampled) of
                ?COLUMNS - 1 ->
                    {{value, Oldest}, Others} = queue:out(Sampled),
                    {Oldest, queue:in(Sample, Others)};
                _ -> {0, queue:in(Sample, Sampled)}
            end,
            {_, _, Outer} = Later = change(Second, M, Value),
            Output = M - ?COLUMNS + 1,
            More = if Output >= 0 -> Outer * (Output rem 7 + 1); true -> 0 end,
            filtered_channel(K + 1, N, Now, Later, Rest, Answer + More)
    end.

change({Coefficients, Kept, Product}, K, Value) ->
    At = K rem ?COLUMNS + 1,
    More = (Value - element(At, Kept)) * element(At, Coefficients),
    {Coefficients, setelement(At, Kept, Value), Product + More}.

%% ---- savina-astar: the predecessors of all nodes are in an array of atomics, plus one

search(N) ->
    Edges = grid(N),
    persistent_term:put(lab_grid, Edges),
    From = atomics:new(tuple_size(Edges), []),
    atomics:put(From, 1, 1),
    Me = self(),
    Workers = list_to_tuple([spawn(?MODULE, searcher, [Me, From])
                             || _ <- lists:seq(1, ?WORKERS)]),
    element(1, Workers) ! 0,
    give_nodes(Workers, 1, 0),
    _ = [Worker ! stop || Worker <- tuple_to_list(Workers)],
    1 + length([Node || Node <- lists:seq(1, tuple_size(Edges) - 1),
                        By <- [atomics:get(From, Node + 1) - 1], By >= 0,
                        lists:member(Node, element(By + 1, Edges))]).

%% excerpt savina-astar
give_nodes(_, Done, Done) -> ok;
give_nodes(Workers, Given, Done) ->
    receive
        visited -> give_nodes(Workers, Given, Done + 1);
        Node ->
            element(Given rem ?WORKERS + 1, Workers) ! Node,
            give_nodes(Workers, Given + 1, Done)
    end.

searcher(Master, From) ->
    receive
        stop -> ok;
        First ->
            Left = visit(From, persistent_term:get(lab_grid), [First], [], 0, 0),
            _ = [Master ! Node || Node <- Left],
            Master ! visited,
            searcher(Master, From)
    end.

%% Visits nodes in the order in which they were reached. The queue is two lists.
visit(_, _, [], [], _, _) -> [];
visit(From, Edges, [], Back, Count, Drawn) ->
    visit(From, Edges, lists:reverse(Back), [], Count, Drawn);
visit(_, _, Front, Back, ?THRESHOLD, Drawn) when Drawn > 0 -> Front ++ lists:reverse(Back);
visit(From, Edges, [Node | Front], Back, Count, Drawn) ->
    Reached = [Next || Next <- element(Node + 1, Edges),
                       atomics:compare_exchange(From, Next + 1, 0, Node + 1) =:= ok],
    More = draw(?ROUNDS, ?ROUNDS, 0),
    visit(From, Edges, Front, lists:reverse(Reached) ++ Back, Count + 1, Drawn + More).
%% excerpt end

draw(0, _, Sum) -> Sum;
draw(Left, Value, Sum) ->
    Next = next(Value),
    draw(Left - 1, Next, Sum + Next).

%% A tuple with the neighbours of each node.
grid(N) -> list_to_tuple(grid(0, N, N, [])).

grid(Node, N, _, Done) when Node =:= N * N * N -> lists:reverse(Done);
grid(Node, N, Value, Done) ->
    {Neighbours, Drawn} = neighbours(1, Node, N, Value, []),
    grid(Node + 1, N, Drawn, [Neighbours | Done]).

neighbours(7, _, _, Value, Found) -> {lists:reverse(Found), Value};
neighbours(Corner, Node, N, Before, Found) ->
    Value = next(Before),
    Wanted = (Value bsr 8) band 1 =:= 1 orelse Corner =:= 6 andalso Found =:= [],
    At = fun(Coordinate, Bit) -> min(N - 1, Coordinate + (Corner bsr Bit) band 1) end,
    Other = (At(Node div (N * N), 2) * N + At(Node div N rem N, 1)) * N + At(Node rem N, 0),
    IsNew = Wanted andalso Other =/= Node andalso not lists:member(Other, Found),
    neighbours(Corner + 1, Node, N, Value, if IsNew -> [Other | Found]; true -> Found end).

reached_serially(_, [], Found) -> maps:size(Found);
reached_serially(Edges, [Node | Left], Found) ->
    New = [Next || Next <- element(Node + 1, Edges), not maps:is_key(Next, Found)],
    Now = lists:foldl(fun(Next, Map) -> Map#{Next => true} end, Found, New),
    reached_serially(Edges, New ++ Left, Now).

%% ---- savina-facloc: a quadrant without its process is {corners, facilities, customers, cost}

facilities(N) ->
    Root = spawn(?MODULE, quadrant, [self(), ?NO_PART, {0.0, 0.0, ?SIDE, ?SIDE}, {[], [], 0.0}]),
    send_customers(Root, N, ?SEED),
    Root ! count,
    Answer = counted(),
    Root ! stop,
    Answer.

counted() -> receive {count, Customers} -> Customers; {opened, _, _} -> counted() end.

send_customers(_, 0, _) -> ok;
send_customers(Root, Left, Value) ->
    X = next(Value),
    Y = next(X),
    Root ! {customer, {X / 65536 * ?SIDE, Y / 65536 * ?SIDE}},
    send_customers(Root, Left - 1, Y).

centre({X1, Y1, X2, Y2}) -> {(X1 + X2) / 2, (Y1 + Y2) / 2}.

distance({X1, Y1}, {X2, Y2}) -> math:sqrt((X1 - X2) * (X1 - X2) + (Y1 - Y2) * (Y1 - Y2)).

add(Corners, {Facilities, Customers, Cost}, At) ->
    Begin = distance(centre(Corners), At),
    Nearest = lists:foldl(fun(One, Least) -> min(Least, distance(One, At)) end, Begin, Facilities),
    {Facilities, [At | Customers], Cost + Nearest}.

part_of({X, Y}, {Xc, Yc}) ->
    if X >= Xc -> 1; true -> 0 end + if Y >= Yc -> 2; true -> 0 end.

%% excerpt savina-facloc
quadrant(Above, Part, Corners, {Facilities, Customers, _} = Own) ->
    receive
        {customer, At} ->
            case add(Corners, Own, At) of
                {_, _, Cost} = Full when Cost > ?LIMIT ->
                    Above ! {opened, centre(Corners), Part},
                    parent(Above, Part, centre(Corners), split(Corners, Full), 0, 0);
                More -> quadrant(Above, Part, Corners, More)
            end;
        {opened, At, _} ->
            quadrant(Above, Part, Corners, setelement(1, Own, [At | Facilities]));
        count ->
            Above ! {count, length(Customers)},
            quadrant(Above, Part, Corners, Own);
        stop -> ok
    end.

parent(Above, Part, Centre, Parts, Counted, Customers) ->
    receive
        {customer, At} = Message ->
            element(part_of(At, Centre) + 1, Parts) ! Message,
            parent(Above, Part, Centre, Parts, Counted, Customers);
        {opened, _, ?NO_PART} = News ->
            _ = [One ! News || One <- tuple_to_list(Parts)],
            parent(Above, Part, Centre, Parts, Counted, Customers);
        {opened, At, From} ->
            element(3 - From + 1, Parts) ! {opened, At, ?NO_PART},
            Above ! {opened, At, Part},
            parent(Above, Part, Centre, Parts, Counted, Customers);
        {count, More} when Counted =:= 3 ->
            Above ! {count, Customers + More},
            parent(Above, Part, Centre, Parts, 4, Customers + More);
        {count, More} -> parent(Above, Part, Centre, Parts, Counted + 1, Customers + More);
        Message ->
            _ = [One ! Message || One <- tuple_to_list(Parts)],
            Message =:= stop orelse parent(Above, Part, Centre, Parts, Counted, Customers)
    end.
%% excerpt end

%% Starts the processes of the four quadrants, which take the customers over.
split({X1, Y1, X2, Y2} = Corners, {Facilities, Customers, _}) ->
    {X, Y} = Centre = centre(Corners),
    Known = [Centre | Facilities],
    All = [{X1, Y1, X, Y}, {X, Y1, X2, Y}, {X1, Y, X, Y2}, {X, Y, X2, Y2}],
    Me = self(),
    Start = fun({Number, Part}) ->
        Mine = [At || At <- lists:reverse(Customers), part_of(At, Centre) =:= Number],
        Own = lists:foldl(fun(At, So) -> add(Part, So, At) end, {Known, [], 0.0}, Mine),
        spawn(?MODULE, quadrant, [Me, Number, Part, Own])
    end,
    list_to_tuple(lists:map(Start, lists:zip([0, 1, 2, 3], All))).
