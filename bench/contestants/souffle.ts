/**
 * Soufflé, interpreted, on one core. It has no clock that excludes its start and its reading, so a question costs what
 * the whole process takes beyond reading the same facts. Bound questions use its magic-set transformation.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { columnsOf } from '../graphs.ts';
import { type BenchAtom, type BenchRule, souffleRule } from '../program.ts';
import { complete, type Contestant, RunFailure, versionOf } from './contestant.ts';
import { writeRows } from './rows.ts';

/** The goal's own predicate if nothing is bound; else a rule of its own that selects the matches. */
const answer = 'answer_of_the_question';

/** Which columns of a predicate are numbers: those that contain a count. */
function declaration(name: string, arity: number, rules: readonly BenchRule[]): string {
  const counted = new Set(
    rules
      .filter(({ head }) => head[0] === name)
      .flatMap(({ head, body }) =>
        body.flatMap((literal) => ('of' in literal ? [head.indexOf(literal.result) - 1] : [])),
      ),
  );
  const columns = Array.from(
    { length: arity },
    (_, column) => `c${column}: ${counted.has(column) ? 'number' : 'symbol'}`,
  );
  return `.decl ${name}(${columns.join(', ')})`;
}

/** A relation of facts and how many columns it has. */
type Input = readonly [name: string, arity: number];

/** The part of the facts that is read: all existing ones. */
function reading(relations: readonly Input[]): string[] {
  return relations.flatMap(([name, arity]) => [declaration(name, arity, []), `.input ${name}`]);
}

/** The whole program, for facts in `<relation>.facts`; without rules it only reads the facts. */
export function souffleProgram(
  relations: readonly Input[],
  rules: readonly BenchRule[],
  goal: BenchAtom,
): string {
  if (rules.length === 0)
    return [...reading(relations), ...relations.map(([name]) => `.printsize ${name}`), ''].join('\n');
  const heads = new Map(rules.map(({ head }) => [head[0], head.length - 1]));
  const variables = goal.slice(1).filter((arg) => arg.startsWith('?'));
  const isBound = variables.length < goal.length - 1;
  const found: BenchAtom = isBound ? [answer, ...variables] : goal;
  return [
    ...reading(relations),
    ...[...heads].map(([name, arity]) => declaration(name, arity, rules)),
    ...(isBound ? ['.pragma "magic-transform" "*"', declaration(answer, variables.length, [])] : []),
    ...rules.map(souffleRule),
    ...(isBound ? [souffleRule({ head: found, body: [goal] })] : []),
    `.printsize ${found[0]}`,
    '',
  ].join('\n');
}

export const souffle: Contestant = {
  name: 'Soufflé',
  version: () => versionOf('souffle', ['--version']),
  declines: ({ kind }) => (kind === 'ask' ? null : 'no state to keep'),
  async run(task) {
    const { folder, relations, workload, rules, timeoutMs } = task;
    writeRows(task, 'facts');
    const names = relations.map((each): Input => [each.name, columnsOf(each).length]);
    const run = async (file: string, text: string) => {
      writeFileSync(join(folder, file), text);
      return complete('souffle', ['-j1', '-F', folder, '-D', folder, join(folder, file)], { timeoutMs });
    };
    const facts = await run('facts.dl', souffleProgram(names, [], workload.goal));
    const whole = await run('rules.dl', souffleProgram(names, rules, workload.goal));
    const found = /\t(\d+)\s*$/.exec(whole.stdout.trimEnd());
    if (found === null) throw new RunFailure('printed no size');
    if (whole.cpu === null || facts.cpu === null) throw new RunFailure('no CPU times on this platform');
    return {
      answers: Number(found[1]),
      load: facts.cpu,
      solve: Math.max(0, whole.cpu - facts.cpu),
      peakBytes: whole.peakBytes,
    };
  },
};
