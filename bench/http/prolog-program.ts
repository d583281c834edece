/**
 * The same three calls served by SWI-Prolog's own HTTP library: facts in its database in memory, the rule a clause,
 * every body and answer JSON. It has a worker for every measured connection, and writes no log.
 */
export function prologProgram(workers: number): string {
  return `
:- use_module(library(http/thread_httpd)).
:- use_module(library(http/http_dispatch)).
:- use_module(library(http/http_json)).
:- use_module(library(http/json)).
:- dynamic parent/2, met/2.

grandparent(X, Z) :- parent(X, Y), parent(Y, Z).

:- http_handler('/query', query, [method(post)]).
:- http_handler('/ask', ask, [method(post)]).
:- http_handler('/tell', tell, [method(post)]).
:- http_handler('/assert/facts', tell_all, [method(post)]).

term(Text, Term) :- ( sub_string(Text, 0, 1, _, "?") -> true ; atom_string(Term, Text) ).
goal(In, Goal) :-
    atom_string(Name, In.predicate), maplist(term, In.args, Args), Goal =.. [Name|Args].

query(Request) :-
    http_read_json_dict(Request, In), goal(In, Goal),
    findall(_{predicate: Name, args: Args, truthVal: true}, (call(Goal), Goal =.. [Name|Args]), Facts),
    reply_json_dict(Facts, [width(0)]).

ask(Request) :-
    get_time(T0), http_read_json_dict(Request, In), goal(In, Goal),
    maplist([Arg, Arg]>>true, In.args, Names), Goal =.. [_|Args],
    findall(Goal, call(Goal), All), sort(All, Distinct),
    findall(Text, (member(Goal, Distinct), with_output_to(string(Text), print_goal(Goal))), Results),
    findall(Binding, (member(Goal, Distinct), bindings(Names, Args, Pairs), dict_pairs(Binding, _, Pairs)), Bindings),
    length(Results, Count), generation(Generation), get_time(T1), Elapsed is (T1 - T0) * 1000,
    reply_json_dict(_{results: Results, bindings: Bindings, count: Count, truncated: false,
                      generation: Generation, elapsedMs: Elapsed}, [width(0)]).

print_goal(Goal) :- Goal =.. [Name|Args], atomic_list_concat(Args, ', ', Text), format('~w(~w)', [Name, Text]).
bindings([], [], []).
bindings([Name|Names], [Arg|Args], Pairs) :-
    ( sub_string(Name, 0, 1, _, "?")
    -> sub_string(Name, 1, _, 0, Key), atom_string(Atom, Key), Pairs = [Atom-Arg|Rest] ; Pairs = Rest ),
    bindings(Names, Args, Rest).

generation(Generation) :- flag(generation, Generation, Generation).
store(Fact, Status) :-
    ( catch(Fact, _, fail) -> Status = unchanged ; assertz(Fact), flag(generation, G, G + 1), Status = asserted ).

tell(Request) :-
    http_read_json_dict(Request, In), goal(In, Fact),
    store(Fact, Status), with_output_to(string(Atom), print_goal(Fact)), generation(Generation),
    format(string(Id), 'f~w-0', [Generation]),
    reply_json_dict(_{status: Status, atom: Atom, id: Id, generation: Generation}, [width(0)]).

tell_all(Request) :-
    http_read_json_dict(Request, In), forall(member(Each, In.facts), (goal(Each, Fact), store(Fact, _))),
    generation(Generation), reply_json_dict(_{status: asserted, generation: Generation}, [width(0)]).

:- initialization(main).
main :-
    http_server(http_dispatch, [port('127.0.0.1':Port), workers(${workers})]),
    format('http://127.0.0.1:~w~n', [Port]), flush_output,
    thread_get_message(never).
`;
}
