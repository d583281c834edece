import { expect, test } from 'vitest';
import { EngineError } from '../base/errors.ts';
import { Prng } from '../testing/prng.ts';
import { compareText, compareTexts } from '../base/text-order.ts';
import { aggregateInputSchema, aggregateOperations, type AggregateValue } from '../contract/aggregation.ts';
import type { AggregateName } from '../contract/language.ts';
import { aggregate } from '../language/arithmetic.ts';
import { isInteger, isNumber } from '../language/numbers.ts';
import { parseAtom } from '../language/parse.ts';
import {
  type Flavour,
  plainFlavour,
  randomCase,
  randomQuestion,
  randomUpdate,
  randomView,
  richFlavour,
  type Vocabulary,
} from '../testing/generators.ts';
import { type Knowledge, modelOf, type ModelView } from '../testing/naive-model.ts';
import { fuzzCaller, overSeeds, Twin, viewFields } from '../testing/twin.ts';

/** Aggregates of the engine against a plain computation over the atoms of the naive model. */

const numbers: Flavour = { ...plainFlavour, arithmetic: true, scopes: true, maxArity: 4 };
const flavours: Record<string, Flavour> = { numbers, rich: richFlavour };

interface Asked {
  readonly operation: (typeof aggregateOperations)[number];
  readonly predicate: string;
  readonly args: readonly string[] | null;
  readonly variable: string | null;
  readonly argIndex: number | null;
  readonly groupBy: readonly string[];
  readonly distinct: boolean;
  readonly infer: boolean;
}

/** A request that makes sense. */
function randomAsked(prng: Prng, vocabulary: Vocabulary, flavour: Flavour): Asked {
  const { predicate, args } = randomQuestion(prng, vocabulary, flavour);
  const named = [...new Set(args)].filter((term) => /^\?[xyz]$/.test(term));
  const bare = (name: string): string => (prng.chance(0.5) ? name.slice(1) : name);
  const anyArgs = prng.chance(0.2);
  const places = anyArgs ? 3 : args.length;
  const of =
    !anyArgs && named.length > 0 && prng.chance(0.5)
      ? { variable: bare(prng.pick(named)), argIndex: null }
      : { variable: null, argIndex: places > 0 && prng.chance(0.9) ? prng.below(places) : null };
  const hasValue = of.variable !== null || of.argIndex !== null;
  return {
    operation: hasValue ? prng.pick(aggregateOperations) : 'COUNT',
    predicate,
    args: anyArgs ? null : args,
    ...of,
    groupBy: anyArgs ? [] : named.filter(() => prng.chance(0.4)).map(bare),
    distinct: prng.chance(0.4),
    infer: prng.chance(0.7),
  };
}

/** The bindings of the pattern for these arguments, or null if they do not match. */
function bindingsOf(pattern: readonly string[], args: readonly string[]): Map<string, string> | null {
  const bound = new Map<string, string>();
  if (pattern.length !== args.length) return null;
  for (const [at, term] of pattern.entries()) {
    const constant = args[at] as string;
    if (term === '?_') continue;
    const known = term.startsWith('?') ? bound.get(term) : term;
    if (known !== undefined && known !== constant) return null;
    if (term.startsWith('?')) bound.set(term, constant);
  }
  return bound;
}

interface Row {
  readonly value: string;
  readonly key: readonly string[];
}

function withMark(name: string): string {
  return name.startsWith('?') ? name : `?${name}`;
}

function rowsOf(asked: Asked, knowledge: Knowledge, view: ModelView): Row[] {
  const { heights } = modelOf(asked.infer ? knowledge : { ...knowledge, rules: [] }, view);
  const rows: Row[] = [];
  for (const text of heights.keys()) {
    const { predicate, args, negated } = parseAtom(text);
    if (predicate !== asked.predicate || negated) continue;
    const bound = asked.args === null ? new Map<string, string>() : bindingsOf(asked.args, args);
    if (bound === null || (asked.argIndex ?? 0) >= Math.max(1, args.length)) continue;
    if (asked.argIndex !== null && args.length === 0) continue;
    const value = asked.variable === null ? args[asked.argIndex ?? 0] : bound.get(withMark(asked.variable));
    rows.push({ value: value ?? '', key: asked.groupBy.map((name) => bound.get(withMark(name)) as string) });
  }
  return rows;
}

function figureOf({ operation, variable, argIndex, distinct }: Asked, rows: readonly Row[]): AggregateValue {
  const hasValue = variable !== null || argIndex !== null;
  const all = rows.map(({ value }) => value);
  const values = distinct && hasValue ? [...new Set(all)] : all;
  const figure = aggregate(operation.toLowerCase() as AggregateName, values);
  if (figure === null) return null;
  const areNumbers = operation === 'COUNT' || values.every(isNumber);
  const isMaintained = !isInteger(figure) || Number.isSafeInteger(Number(figure));
  return areNumbers && isMaintained ? Number(figure) : figure;
}

/** The answer as the contract words it, or the constant that the error must name. */
function expected(asked: Asked, knowledge: Knowledge, view: ModelView): unknown {
  const rows = rowsOf(asked, knowledge, view);
  if (asked.operation === 'SUM' || asked.operation === 'AVG') {
    const [alien] = rows
      .map(({ value }) => value)
      .filter((value) => !isNumber(value))
      .sort(compareText);
    if (alien !== undefined) return JSON.stringify(alien);
  }
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = JSON.stringify(row.key);
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  const sorted = [...groups.values()].sort(([left], [right]) =>
    compareTexts(left?.key ?? [], right?.key ?? []),
  );
  return {
    operation: asked.operation,
    result: figureOf(asked, rows),
    matchedFacts: rows.length,
    groups:
      asked.groupBy.length === 0
        ? []
        : sorted.map((group) => ({
            key: Object.fromEntries(
              asked.groupBy.map((name, at) => [withMark(name).slice(1), group[0]?.key[at]]),
            ),
            result: figureOf(asked, group),
            matchedFacts: group.length,
          })),
  };
}

async function answered(twin: Twin, asked: Asked, view: ModelView): Promise<unknown> {
  const input = aggregateInputSchema.parse({ ...asked, ...viewFields(view), timeoutMs: 600_000 });
  try {
    const answer = await twin.engine.aggregate(fuzzCaller, input);
    return JSON.parse(JSON.stringify(answer)) as unknown;
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== 'ValidationException') throw error;
    return /and (".*") is no number/.exec(error.message)?.[1];
  }
}

for (const [name, flavour] of Object.entries(flavours))
  test(`computes the aggregates of the naive model's atoms (${name})`, { timeout: 3_600_000 }, () =>
    overSeeds({ name, few: 15, many: 4000 }, async (seed) => {
      const prng = new Prng(seed);
      const start = randomCase(prng, flavour);
      const twin = await Twin.open(start, () => Promise.resolve());
      try {
        for (let round = 0; round < 6; round++) {
          const knowledge = twin.knowledge();
          for (let index = 0; index < 5; index++) {
            const asked = randomAsked(prng, start.vocabulary, flavour);
            const view: ModelView = flavour.scopes ? randomView(prng, start.vocabulary) : { kind: 'all' };
            const about = `${JSON.stringify(asked)} in ${JSON.stringify(view)}`;
            expect(await answered(twin, asked, view), about).toEqual(expected(asked, knowledge, view));
          }
          await twin.apply(randomUpdate(prng, start.vocabulary, flavour, twin.current));
        }
      } finally {
        await twin.engine.close();
      }
    }),
  );
