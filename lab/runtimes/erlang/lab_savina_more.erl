%% SPDX-License-Identifier: Apache-2.0
%% Benchmarks of the Savina suite, as workloads/actors/savina_{pi,grids,trees,bitonic}.hpp describe
%% them: an actor is a process.
-module(lab_savina_more).
-export([workload/2, pi_worker/2, cell/3, tree_node/2, stage/5]).

-define(WORKERS, 20).
-define(MODULUS, 1000000007).
-define(SOR_ROUNDS, 100).
-define(OMEGA, 1.25).
-define(MOST_CHILDREN, 10).
-define(MASK, 16#FFFFFFFFFFFFFFFF).
-define(SORT_SEED, 2048).

%% Returns {the function that runs the workload, the answer, the number of operations}, or none.
workload("savina-piprecision", N) ->
    Terms = pi_terms(N),
    Sum = lists:sum([pi_term(N, K) || K <- lists:seq(0, Terms - 1)]),
    {fun() -> pi(N) end, pi_answer(N, Sum), Terms};
workload("savina-sor", N) ->
    {fun() -> sor(N) end, sor_serially(N), ?SOR_ROUNDS * N * N};
workload("savina-uct", N) -> {fun() -> uct(N) end, uct_serially([{1, N}], 0), N};
workload("savina-bitonicsort", N) ->
    {fun() -> bitonic_sort(N) end, lists:sum(numbers(?SORT_SEED, N)), length(stages(N)) * N};
workload(_, _) -> none.

next(Value) -> (Value * 1309 + 13849) band 16#FFFF.

numbers(_, 0) -> [];
numbers(Value, Left) ->
    Next = next(Value),
    [Next | numbers(Next, Left - 1)].

draw(Rounds) -> draw(Rounds, Rounds, 0).

draw(0, _, Sum) -> Sum;
draw(Left, Value, Sum) ->
    Next = next(Value),
    draw(Left - 1, Next, Sum + Next).

%% ---- savina-piprecision: a fraction is a whole number of so many bits

pi_words(N) -> N * 10 div 96 + 4.
pi_terms(N) -> 8 * (pi_words(N) - 2).

pi_term(N, K) ->
    Shift = 32 * pi_words(N) - 4 * K,
    (1 bsl (Shift + 2)) div (8 * K + 1) - (1 bsl (Shift + 1)) div (8 * K + 4)
        - (1 bsl Shift) div (8 * K + 5) - (1 bsl Shift) div (8 * K + 6).

pi_answer(N, Sum) -> ((Sum * power(10, N)) bsr (32 * pi_words(N))) rem ?MODULUS.

power(_, 0) -> 1;
power(Base, N) when N rem 2 =:= 0 -> power(Base * Base, N div 2);
power(Base, N) -> Base * power(Base, N - 1).

pi(N) ->
    Me = self(),
    Workers = [spawn(?MODULE, pi_worker, [Me, N]) || _ <- lists:seq(1, ?WORKERS)],
    Given = give_terms(Workers, 0, pi_terms(N)),
    Sum = add_terms(pi_terms(N), Given, pi_terms(N), 0),
    _ = [Worker ! stop || Worker <- Workers],
    pi_answer(N, Sum).

give_terms([], K, _) -> K;
give_terms(_, K, K) -> K;
give_terms([Worker | Others], K, Terms) ->
    Worker ! K,
    give_terms(Others, K + 1, Terms).

add_terms(0, _, _, Sum) -> Sum;
add_terms(Left, Given, Terms, Sum) ->
    receive
        {term, Worker, Value} ->
            add_terms(Left - 1, give_terms([Worker], Given, Terms), Terms, Sum + Value)
    end.

pi_worker(Master, N) ->
    receive
        stop -> ok;
        K ->
            Master ! {term, self(), pi_term(N, K)},
            pi_worker(Master, N)
    end.

%% ---- savina-sor: the values around are a tuple: left, right, above, below

sor(N) ->
    Me = self(),
    Places = [{Row, Column} || Row <- lists:seq(0, N - 1), Column <- lists:seq(0, N - 1)],
    Cells = [spawn(?MODULE, cell, [Me, Place, Number * 1.0])
             || {Place, Number} <- lists:zip(Places, numbers(N, N * N))],
    All = list_to_tuple(Cells),
    _ = [Cell ! {neighbours, [{Side, element(Row * N + Column + 1, All)}
                              || {Side, Row, Column} <- around(Place, N)]}
         || {Cell, Place} <- lists:zip(Cells, Places)],
    lists:sum([receive {sum, Sum} -> Sum end || _ <- Cells]).

%% The neighbours, with the side on which this cell lies as they see it.
around({Row, Column}, N) ->
    [One || {_, I, J} = One <- [{2, Row, Column - 1}, {1, Row, Column + 1},
                                {4, Row - 1, Column}, {3, Row + 1, Column}],
            I >= 0, I < N, J >= 0, J < N].

cell(Whole, {Row, Column}, Value) ->
    receive
        {neighbours, Neighbours} ->
            IsRed = (Row + Column) rem 2 =:= 0,
            _ = [tell_neighbours(Neighbours, Value) || IsRed],
            relax(Whole, Neighbours, IsRed, Value, ?SOR_ROUNDS, 0)
    end.

tell_neighbours(Neighbours, Value) ->
    _ = [Cell ! {value, Side, Value} || {Side, Cell} <- Neighbours].

%% excerpt savina-sor
relax(Whole, _, _, _, 0, Sum) -> Whole ! {sum, Sum};
relax(Whole, Neighbours, IsRed, Value, Left, Sum) ->
    Now = over_relaxed(Value, values(length(Neighbours), {0.0, 0.0, 0.0, 0.0})),
    _ = [tell_neighbours(Neighbours, Now) || Left > 1 orelse not IsRed],
    relax(Whole, Neighbours, IsRed, Now, Left - 1, Sum + floor(Now + 0.5)).

values(0, Around) -> Around;
values(Left, Around) ->
    receive {value, Side, Value} -> values(Left - 1, setelement(Side, Around, Value)) end.

over_relaxed(Own, {A, B, C, D}) -> ?OMEGA / 4 * (A + B + C + D) + (1 - ?OMEGA) * Own.
%% excerpt end

sor_serially(N) ->
    Places = [{Row, Column} || Row <- lists:seq(0, N - 1), Column <- lists:seq(0, N - 1)],
    Begin = maps:from_list(lists:zip(Places, [Number * 1.0 || Number <- numbers(N, N * N)])),
    Half = fun(Colour, State) ->
        lists:foldl(fun({Row, Column} = Place, {Grid, Sum}) ->
            At = fun(Key) -> maps:get(Key, Grid, 0.0) end,
            Now = over_relaxed(At(Place), {At({Row, Column - 1}), At({Row, Column + 1}),
                                           At({Row - 1, Column}), At({Row + 1, Column})}),
            {Grid#{Place := Now}, Sum + floor(Now + 0.5)}
        end, State, [Place || {R, C} = Place <- Places, (R + C) rem 2 =:= Colour])
    end,
    Round = fun(_, State) -> Half(0, Half(1, State)) end,
    {_, Sum} = lists:foldl(Round, {Begin, 0}, lists:seq(1, ?SOR_ROUNDS)),
    Sum.

%% ---- savina-uct: a node is {its seed, the number of nodes of its subtree}

children({Seed, Size}) ->
    Count = min(Size - 1, ?MOST_CHILDREN),
    children(Seed, Size - 1, 0, Count).

children(_, _, Count, Count) -> [];
children(Above, Rest, I, Count) ->
    Mixed = (Above + I + 1) band ?MASK,
    Seed = ((Mixed bxor (Mixed bsr 33)) * 6364136223846793005 + 1442695040888963407) band ?MASK,
    Size = if
        I + 1 =:= Count -> Rest;
        true -> 1 + (Seed bsr 33) rem (Rest - (Count - I) + 1)
    end,
    [{Seed, Size} | children(Above, Rest - Size, I + 1, Count)].

uct_work({Seed, _}) -> draw(400 + (Seed bsr 33) rem 201).

uct_serially([], Sum) -> Sum;
uct_serially([Node | Left], Sum) -> uct_serially(children(Node) ++ Left, Sum + uct_work(Node)).

uct(N) ->
    Root = spawn(?MODULE, tree_node, [self(), {1, N}]),
    receive grown -> Root ! visit end,
    receive {sum, Sum} -> Sum end.

%% excerpt savina-uct
tree_node(Above, Node) ->
    Me = self(),
    Children = [spawn(?MODULE, tree_node, [Me, Child]) || Child <- children(Node)],
    _ = [receive grown -> ok end || _ <- Children],
    Above ! grown,
    receive visit -> ok end,
    Own = uct_work(Node),
    _ = [Child ! visit || Child <- Children],
    Above ! {sum, Own + lists:sum([receive {sum, Sum} -> Sum end || _ <- Children])}.
%% excerpt end

%% ---- savina-bitonicsort

stages(N) -> [{Block, Distance} || Block <- doubled(2, N), Distance <- halved(Block div 2)].

doubled(Block, N) when Block > N -> [];
doubled(Block, N) -> [Block | doubled(2 * Block, N)].

halved(0) -> [];
halved(Distance) -> [Distance | halved(Distance div 2)].

bitonic_sort(N) ->
    First = lists:foldr(fun({Block, Distance}, Next) ->
        spawn(?MODULE, stage, [Next, Block, Distance, 0, {[], []}])
    end, self(), stages(N)),
    _ = [First ! Number || Number <- numbers(?SORT_SEED, N)],
    Sum = sorted(N, 0, 0),
    First ! stop,
    receive stop -> Sum end.

sorted(0, _, Sum) -> Sum;
sorted(Left, Last, Sum) ->
    receive
        Value when is_integer(Value), Value >= Last -> sorted(Left - 1, Value, Sum + Value);
        Value when is_integer(Value) -> sorted(Left - 1, Value, -1 bsl 60)
    end.

%% The numbers of the first half of a pair of runs wait in a list. Those of the second half leave
%% the larger or smaller number in another list, both newest first.
stage(Next, Block, Distance, Taken, {Waiting, Kept}) ->
    receive
        stop -> Next ! stop;
        Value when Taken rem (2 * Distance) < Distance ->
            Now = [Value | Waiting],
            Whole = (Taken + 1) rem Distance =:= 0,
            Turned = if Whole -> lists:reverse(Now); true -> Now end,
            stage(Next, Block, Distance, Taken + 1, {Turned, Kept});
        Value ->
            [Other | Left] = Waiting,
            Ascending = Taken band Block =:= 0,
            {Sent, Stays} = case Other > Value of
                Ascending -> {Value, Other};
                _ -> {Other, Value}
            end,
            Next ! Sent,
            case Left of
                [] ->
                    _ = [Next ! One || One <- lists:reverse([Stays | Kept])],
                    stage(Next, Block, Distance, Taken + 1, {[], []});
                _ -> stage(Next, Block, Distance, Taken + 1, {Left, [Stays | Kept]})
            end
    end.
