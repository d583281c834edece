/** Judges expectations of violations: of constraints, and of the keys and types of declarations. */
import { editDistance } from '../base/edit-distance.ts';
import type { Proof } from '../contract/inference.ts';
import type { Expectation } from '../language/test-text.ts';
import { shownViolation } from '../session/constraint-states.ts';
import type { Coverage } from './test-coverage.ts';
import { type TestedWorld, type Unmet, whyMissing } from './tested-world.ts';
import { hintsPart } from './hints.ts';
import { eachViolation, violationsNow } from './violations.ts';

/** Violations that a failure lists. */
const maxListed = 100;
/** Names that a hint is looked for among. */
const maxNamesCompared = 1000;

/** A violation in words, and its proof if it was asked for. */
interface ShownViolation {
  readonly text: string;
  readonly proof: Proof | null;
}

/** What is at odds with the expectation; null: it is met. */
export async function judgeViolation(
  world: TestedWorld,
  { kind, name }: Extract<Expectation, { kind: 'violation' | 'noViolation' }>,
  coverage: Coverage | null,
): Promise<Unmet | null> {
  const { context, view } = world;
  const constraints = world.constraints.filter(
    (each) => each.name === name || each.description === name || each.text === name,
  );
  const declared = context.database.declarations.all().filter((each) => each.name === name);
  if (constraints.length + declared.length === 0) return unknownName(world, name);
  const views = view.kind === 'all' ? null : [view.kind === 'scope' ? view.scope : null];
  const found = await violationsNow(context, constraints, views);
  const wantsProof = coverage !== null || kind === 'noViolation';
  const shown: ShownViolation[] = [];
  for (const each of found.slice(0, maxListed)) {
    const { instance, proof } = await shownViolation(context, each, wantsProof && shown.length === 0);
    shown.push({ text: `${instance} (${JSON.stringify(each.constraint.name)})`, proof });
    if (proof !== null) coverage?.noteProof(proof);
  }
  let count = found.length;
  for (const declaration of declared)
    for (const what of ['key', 'shape'] as const)
      await eachViolation(context, declaration, what, (violation) => {
        const { message, scope, facts, proof } = violation();
        if (views !== null && !views.includes(scope)) return;
        if (count++ < maxListed)
          shown.push({ text: `${message}: ${facts.map(({ atom }) => atom).join(', ')}`, proof });
      });
  if (kind === 'violation') {
    if (count > 0) return null;
    const [first] = constraints;
    const why = first === undefined ? {} : await whyMissing(context, view, first.body);
    return { message: 'expected a violation, found none', ...why };
  }
  if (count === 0) return null;
  const proof = shown[0]?.proof ?? null;
  return {
    message: `expected no violation, found ${count}`,
    unexpected: shown.map(({ text }) => text),
    ...(proof === null ? {} : { proof }),
  };
}

function unknownName({ context, constraints }: TestedWorld, name: string): Unmet {
  const names = new Set([
    ...constraints.flatMap((each) => [each.name, ...(each.description === null ? [] : [each.description])]),
    ...context.database.declarations.all().map((each) => each.name),
  ]);
  const most = Math.ceil(name.length / 3);
  const near = [...names]
    .filter((each) => Math.abs(each.length - name.length) <= most)
    .slice(0, maxNamesCompared)
    .map((each) => ({ name: each, distance: editDistance(name, each) }))
    .filter(({ distance }) => distance <= most)
    .sort((left, right) => left.distance - right.distance);
  return {
    message: `no constraint and no declared predicate has the name ${JSON.stringify(name)}`,
    ...hintsPart(near.slice(0, 1).map((each) => `did you mean ${JSON.stringify(each.name)}?`)),
  };
}
