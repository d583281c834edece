/**
 * SWI-Prolog with tabling: a clause file consulted, the answers counted, CPU time by its own clock. With changes
 * the tables are incremental, so that a change costs it what its own maintenance costs.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { prologAtom, prologRule } from '../program.ts';
import type { Workload } from '../workloads.ts';
import { complete, type Contestant, readReport, type Task, versionOf } from './contestant.ts';

function declarations({ workload, relations }: Task): string[] {
  const incremental = workload.kind === 'change';
  const heads = new Set(workload.rules.map(({ head }) => `${head[0]}/${head.length - 1}`));
  return [
    ...(incremental ? relations.map(({ name }) => `:- dynamic([${name}/2], [incremental(true)]).`) : []),
    ...[...heads].map((name) => `:- table ${name}${incremental ? ' as incremental' : ''}.`),
  ];
}

function askProgram(goal: string): string {
  return `
main :-
    statistics(cputime, T0),
    consult(facts), consult(rules),
    statistics(cputime, T1),
    aggregate_all(count, ${goal}, Answers),
    statistics(cputime, T2),
    Load is T1 - T0, Solve is T2 - T1,
    format('{"load": ~8f, "solve": ~8f, "answers": ~d}~n', [Load, Solve, Answers]).
`;
}

/** Resident memory from /proc: what the facts take, measured as for the other contestants. */
function loadProgram(goal: string, lookUp: string): string {
  return `
resident(Bytes) :-
    read_file_to_string('/proc/self/statm', Text, []),
    split_string(Text, " ", "", [_, Pages|_]),
    number_string(Number, Pages), Bytes is Number * 4096.

main :-
    resident(M0), statistics(cputime, T0),
    consult(facts),
    statistics(cputime, T1), resident(M1),
    consult(rules), findall(K, probe(K, _), Keys),
    statistics(cputime, T2),
    aggregate_all(count, (member(K, Keys), ${lookUp}), Found),
    statistics(cputime, T3),
    aggregate_all(count, ${goal}, All),
    Load is T1 - T0, Solve is T3 - T2, Answers is All + Found, Each is (M1 - M0) / All,
    format('{"load": ~8f, "solve": ~8f, "answers": ~d, "bytesPerFact": ~2f}~n', [Load, Solve, Answers, Each]).
`;
}

function changeProgram(goal: string, relation: string): string {
  return `
change(From, To, Count, Seconds) :-
    statistics(cputime, T0),
    retract(${relation}(From, To)),
    aggregate_all(count, ${goal}, Count),
    statistics(cputime, T1), Seconds is T1 - T0,
    assertz(${relation}(From, To)),
    aggregate_all(count, ${goal}, _).

main :-
    statistics(cputime, T0),
    consult(facts), consult(rules),
    statistics(cputime, T1),
    aggregate_all(count, ${goal}, First),
    findall(Seconds-Count, (probe(From, To), change(From, To, Count, Seconds)), Pairs),
    pairs_keys_values(Pairs, Times, Counts),
    sum_list(Counts, Sum), msort(Times, Sorted),
    length(Sorted, Length), Middle is Length // 2, nth0(Middle, Sorted, Solve),
    Load is T1 - T0, Answers is First + Sum,
    format('{"load": ~8f, "solve": ~8f, "answers": ~d}~n', [Load, Solve, Answers]).
`;
}

function program(workload: Workload, relation: string): string {
  const goal = prologAtom(workload.goal);
  if (workload.kind === 'ask') return askProgram(goal);
  return workload.kind === 'load' ? loadProgram(goal, `${relation}(K, _)`) : changeProgram(goal, relation);
}

export const swiProlog: Contestant = {
  name: 'SWI-Prolog',
  version: () => versionOf('swipl', ['--version']),
  declines: () => null,
  async run(task) {
    const { workload, folder, relations } = task;
    const facts = relations.flatMap(({ name, rows }) => rows.map(([x, y]) => `${name}(${x}, ${y}).`));
    writeFileSync(join(folder, 'facts.pl'), `${[...declarations(task), ...facts].join('\n')}\n`);
    const probes = task.probes.map(([x, y]) => `probe(${x}, ${y}).`);
    writeFileSync(join(folder, 'rules.pl'), `${[...workload.rules.map(prologRule), ...probes].join('\n')}\n`);
    writeFileSync(
      join(folder, 'main.pl'),
      `:- working_directory(_, '${folder}').\n${program(workload, relations[0]?.name ?? '')}`,
    );
    const space = ['--stack-limit=8g', '--table-space=8g'];
    const goals = ['-g', 'main', '-g', 'halt', join(folder, 'main.pl')];
    return readReport(await complete('swipl', ['-q', ...space, ...goals], { timeoutMs: task.timeoutMs }));
  },
};
