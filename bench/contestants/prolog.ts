/**
 * SWI-Prolog with tabling: consults a clause file and counts the answers, with CPU time by its own clock. With changes
 * the tables are incremental, so that a change costs its own maintenance.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { prologAtom, prologRule } from '../program.ts';
import { complete, type Contestant, readReport, type Task, versionOf } from './contestant.ts';

function declarations({ workload, relations, rules }: Task): string[] {
  const incremental = workload.kind === 'change';
  const heads = new Set(rules.map(({ head }) => `${head[0]}/${head.length - 1}`));
  return [
    ...(incremental ? relations.map(({ name }) => `:- dynamic([${name}/2], [incremental(true)]).`) : []),
    ...[...heads].map((name) => `:- table ${name}${incremental ? ' as incremental' : ''}.`),
  ];
}

function askProgram(before: string, goal: string): string {
  return `
main :-
    cpu(T0),
    consult(facts), consult(rules),
    cpu(T1),
    aggregate_all(count, ${before}, _),
    get_time(W2), cpu(T2),
    aggregate_all(count, ${goal}, Answers),
    cpu(T3), get_time(W3),
    Load is T1 - T0, Solve is T3 - T2, Wall is W3 - W2,
    format('{"load": ~8f, "solve": ~8f, "wall": ~8f, "answers": ~d}~n', [Load, Solve, Wall, Answers]).
`;
}

/** The look-ups are of facts, or of what a first question left in its table. */
function lookUpProgram(goal: string, lookUp: string): string {
  return `
main :-
    cpu(T0),
    consult(facts), consult(rules),
    cpu(T1),
    aggregate_all(count, ${goal}, All),
    findall(K, probe(K, _), Keys),
    cpu(T2),
    aggregate_all(count, (lists:member(K, Keys), ${lookUp}), Found),
    cpu(T3),
    Load is T1 - T0, Solve is T3 - T2, Answers is All + Found,
    format('{"load": ~8f, "solve": ~8f, "answers": ~d}~n', [Load, Solve, Answers]).
`;
}

/** Resident memory from /proc, if available: that of the facts, measured as for the other contestants. */
function loadProgram(goal: string, lookUp: string): string {
  return `
resident(Bytes) :-
    exists_file('/proc/self/statm'), !,
    read_file_to_string('/proc/self/statm', Text, []),
    split_string(Text, " ", "", [_, Pages|_]),
    number_string(Number, Pages), Bytes is Number * 4096.
resident(none).

tell(none, _, _) :- !, format('}~n').
tell(M0, M1, All) :- Each is (M1 - M0) / All, format(', "bytesPerFact": ~2f}~n', [Each]).

main :-
    resident(M0), cpu(T0),
    consult(facts),
    cpu(T1), resident(M1),
    consult(rules), findall(K, probe(K, _), Keys),
    cpu(T2),
    aggregate_all(count, (lists:member(K, Keys), ${lookUp}), Found),
    cpu(T3),
    aggregate_all(count, ${goal}, All),
    Load is T1 - T0, Solve is T3 - T2, Answers is All + Found,
    format('{"load": ~8f, "solve": ~8f, "answers": ~d', [Load, Solve, Answers]),
    tell(M0, M1, All).
`;
}

function changeProgram(before: string, goal: string, relation: string): string {
  return `
change(From, To, Count, Seconds) :-
    cpu(T0),
    retract(${relation}(From, To)),
    aggregate_all(count, ${goal}, Count),
    cpu(T1), Seconds is T1 - T0,
    assertz(${relation}(From, To)),
    aggregate_all(count, ${goal}, _).

main :-
    cpu(T0),
    consult(facts), consult(rules),
    cpu(T1),
    aggregate_all(count, ${before}, _),
    aggregate_all(count, ${goal}, First),
    findall(Seconds-Count, (probe(From, To), change(From, To, Count, Seconds)), Pairs),
    pairs_keys_values(Pairs, Times, Counts),
    sum_list(Counts, Sum), msort(Times, Sorted),
    length(Sorted, Length), Middle is Length // 2, nth0(Middle, Sorted, Solve),
    Load is T1 - T0, Answers is First + Sum,
    format('{"load": ~8f, "solve": ~8f, "answers": ~d}~n', [Load, Solve, Answers]).
`;
}

function program({ workload, relations }: Task): string {
  const goal = prologAtom(workload.goal);
  const before = workload.before === undefined ? 'true' : prologAtom(workload.before);
  const relation = relations[0]?.name ?? '';
  switch (workload.kind) {
    case 'ask':
      return askProgram(before, goal);
    case 'change':
      return changeProgram(before, goal, relation);
    case 'look-up':
      return lookUpProgram(goal, `${workload.goal[0]}(K, _)`);
    case 'reads':
      return lookUpProgram('fail', `${workload.goal[0]}(K, _)`);
    case 'load':
      return loadProgram(goal, `${relation}(K, _)`);
    case 'proof':
      throw new Error('Prolog is asked for no proofs');
  }
}

/** Where Prolog finds its files, and the goal that binds T to the CPU seconds so far. */
export interface PrologHome {
  readonly folder: string;
  readonly clock: string;
}

/** Writes `facts.pl`, `rules.pl` and `main.pl`, whose `main` prints the report. */
export function writePrologProgram(task: Task, { folder, clock }: PrologHome): void {
  const facts = task.relations.flatMap(({ name, rows }) => rows.map((row) => `${name}(${row.join(', ')}).`));
  const write = (name: string, lines: readonly string[]): void =>
    writeFileSync(join(task.folder, name), `${lines.join('\n')}\n`);
  write('facts.pl', [...declarations(task), ...facts]);
  write('rules.pl', [
    ':- style_check(-discontiguous).',
    ...task.rules.map(prologRule),
    ...task.probes.map(([x, y]) => `probe(${x}, ${y}).`),
  ]);
  write('main.pl', [`:- working_directory(_, '${folder}').`, `cpu(T) :- ${clock}.`, program(task)]);
}

export const swiProlog: Contestant = {
  name: 'SWI-Prolog',
  version: () => versionOf('swipl', ['--version']),
  declines: ({ kind }) => (kind === 'proof' ? 'tells no proof' : null),
  async run(task) {
    writePrologProgram(task, { folder: task.folder, clock: 'statistics(cputime, T)' });
    const space = ['--stack-limit=8g', '--table-space=8g'];
    const goals = ['-g', 'main', '-g', 'halt', join(task.folder, 'main.pl')];
    return readReport(await complete('swipl', ['-q', ...space, ...goals], { timeoutMs: task.timeoutMs }));
  },
};
