/** The applied packages of a tenant, and what each brought. */
import { compareText } from '../base/text-order.ts';
import type {
  PackageDetail,
  PackagedState,
  PackageList,
  PackageQuery,
  PackageSummary,
} from '../contract/packages.ts';
import { EngineError } from '../base/errors.ts';
import { renderDeclaration } from '../language/declaration-text.ts';
import { renderIdentity } from '../language/print.ts';
import type { ReadContext } from '../session/read-context.ts';
import { packagedThing, type PackageRecord } from '../store/package-record.ts';

const factsBetweenBreaths = 256;

/** The packages, by name. */
export async function listPackages({ tenant, pacer }: ReadContext): Promise<PackageList> {
  const packages: PackageSummary[] = [];
  for (const record of tenant.packages.values()) {
    packages.push(summaryOf(record));
    await pacer.breathe();
  }
  return { packages: packages.sort((one, other) => compareText(one.name, other.name)) };
}

function summaryOf({
  name,
  scope,
  appliedAt,
  actor,
  keyName,
  generation,
  facts,
  shared,
}: PackageRecord): PackageSummary {
  const counts = { facts: facts.size, rules: 0, declarations: 0, constraints: 0 };
  for (const key of shared.keys()) {
    const { kind } = packagedThing(key);
    if (kind !== 'fact') counts[`${kind}s`]++;
  }
  return {
    name,
    scope,
    appliedAt,
    appliedBy: { id: actor ?? 'local', name: keyName },
    generation,
    counts,
  };
}

/** The NotFound for a package of no such name. */
export function noSuchPackage(name: string): EngineError {
  return new EngineError('NotFound', `there is no package ${name}: GET /packages lists them`);
}

/** What a package brought; NotFound if there is none of this name. */
export async function packageDetail(
  context: ReadContext,
  { name, limit, offset }: PackageQuery & { readonly name: string },
): Promise<PackageDetail> {
  const record = context.tenant.packages.get(name);
  if (record === undefined) throw noSuchPackage(name);
  const facts = await factsOf(context, record, { limit, offset });
  const end = offset + facts.length;
  const nextOffset = end < record.facts.size ? end : null;
  return { ...summaryOf(record), facts, nextOffset, ...sharedOf(context, record) };
}

async function factsOf(
  { tenant: { facts }, reader: { time }, pacer }: ReadContext,
  { facts: held }: PackageRecord,
  { limit, offset }: PackageQuery,
): Promise<PackageDetail['facts']> {
  const found: PackageDetail['facts'] = [];
  let at = 0;
  for (const [key, generation] of held) {
    if (++at % factsBetweenBreaths === 0) await pacer.breathe();
    if (at <= offset) continue;
    if (found.length === limit) break;
    const thing = packagedThing(key);
    if (thing.kind !== 'fact') continue;
    const { predicate, args, truthVal, scope } = thing.identity;
    const row = facts.find(predicate, args, truthVal, scope);
    const stored = row !== null && facts.isStored(row, time) ? row : null;
    found.push({
      atom: renderIdentity(thing.identity),
      predicate,
      args: [...args],
      truthVal,
      scope,
      id: stored === null ? null : facts.idOf(stored),
      state: stateOf(stored === null ? null : stored.relation.bornIn(stored.row), generation),
    });
  }
  return found;
}

/** The rules, declarations and constraints that it brought. */
function sharedOf(
  { database: { rules, declarations, constraints } }: ReadContext,
  { shared }: PackageRecord,
): Pick<PackageDetail, 'rules' | 'declarations' | 'constraints'> {
  const found: Pick<PackageDetail, 'rules' | 'declarations' | 'constraints'> = {
    rules: [],
    declarations: [],
    constraints: [],
  };
  for (const [key, generation] of shared) {
    const thing = packagedThing(key);
    if (thing.kind === 'declaration') {
      const { name, arity } = thing;
      const stored = declarations.get(name, arity);
      const text = stored === null ? null : renderDeclaration(stored);
      found.declarations.push({ name, arity, text, state: stateOf(stored?.changedIn ?? null, generation) });
    } else if (thing.kind === 'rule') {
      const { id } = thing;
      const stored = rules.get(id);
      const state = stateOf(stored?.changedIn ?? null, generation);
      found.rules.push({ id, text: stored?.text ?? null, scope: stored?.scope ?? null, state });
    } else if (thing.kind === 'constraint') {
      const { id } = thing;
      const stored = constraints.get(id);
      const { text = null, description = null, scope = null } = stored ?? {};
      const state = stateOf(stored?.changedIn ?? null, generation);
      found.constraints.push({ id, text, description, scope, state });
    }
  }
  return found;
}

/** `now`: the generation of what is stored; null: nothing is. */
function stateOf(now: number | null, brought: number): PackagedState {
  return now === null ? 'gone' : now === brought ? 'held' : 'changed';
}
