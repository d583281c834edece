/**
 * Random packages among changes by others, beside a naive model: each stored version knows which packages brought it, and
 * each package what it ever brought and still states. Two tenants share rules, declarations and constraints; the engine is
 * closed and opened again, with and without a snapshot.
 */
import { expect, test } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { declarationInputSchema } from '../contract/declarations.ts';
import { factInputSchema, retractInputSchema } from '../contract/facts.ts';
import { packageInputSchema, type PackageOutcome, packageQuerySchema } from '../contract/packages.ts';
import { ruleInputSchema, ruleUpdateSchema } from '../contract/rules.ts';
import { parseAtom } from '../language/parse.ts';
import { memoryBackend } from '../log/backend.ts';
import { openEngineOn } from '../open-engine.ts';
import { longest, startTime, testCaller } from '../testing/engine-fixtures.ts';
import { Prng } from '../testing/prng.ts';
import { overSeeds } from '../testing/twin.ts';

const timeout = 3_600_000;
const tenants = ['one', 'two'];
const names = ['a', 'b'];
const scopes = [null, null, 's'];
const facts = ['p(a)', 'p(b)', 'p(c)', '-p(a)', 'q(a, b)', 'q("x, y", b)', 'n()'];
const rules = ['r(?x) :- p(?x)', 's(?x) :- r(?x), not q(?x, ?_)', 's(?x) :- q(?x, ?y)'];
/** The variants of each declaration and constraint. */
const declarations = [[':declare p(it: entity)', ':declare p(it: entity) "a thing"'], [':declare q/2']];
const constraints = [['!- p(?x), q(?x, ?_)', '!- p(?x), q(?x, ?_) "not both"', '!- p(?x), q(?x, ?_) "why"']];
type Kind = 'facts' | 'rules' | 'declarations' | 'constraints';

/** A stored version. */
interface Stored {
  /** Which of the variants it is. */
  readonly text: string;
  /** The packages that brought it. */
  readonly owners: Set<string>;
  /** Versions of one rule or constraint have one id. */
  readonly life: number;
}

interface Claim {
  readonly kind: Kind;
  readonly life: number;
}

interface Statement {
  readonly kind: Kind;
  /** What it is a version of, by tenant and scope where it has them. */
  readonly key: string;
  readonly text: string;
}

class Model {
  readonly stored = new Map<string, Stored>();
  /** What each package brought and stated ever since, with its kind. */
  readonly claims = new Map<string, Map<string, Claim>>();
  #lives = 0;

  /** What applying does, as counts and sorted lines. */
  apply(owner: string, statements: readonly Statement[], isRemoved: boolean): string[] {
    const lines: string[] = [];
    const claims = this.claims.get(owner) ?? new Map<string, Claim>();
    // Rules and constraints are known by their ids: one that was deleted and added again is another one.
    for (const [key, { kind, life }] of claims)
      if ((kind === 'rules' || kind === 'constraints') && this.stored.get(key)?.life !== life)
        claims.delete(key);
    const stated = new Set<string>();
    for (const { kind, key, text } of statements) {
      if (stated.has(key)) continue;
      stated.add(key);
      const known = this.stored.get(key);
      const isOwned = known !== undefined && (known.owners.size > 0 || claims.has(key));
      // A constraint without a reason says nothing about the reason.
      const isSame = known?.text === text || (kind === 'constraints' && !text.endsWith('"'));
      if (known !== undefined && isSame) {
        if (known.owners.size > 0) {
          known.owners.add(owner);
          claims.set(key, { kind, life: known.life });
        }
        lines.push(`${kind} kept`);
        continue;
      }
      const isOwn = known === undefined || isOwned;
      const life = known?.life ?? ++this.#lives;
      this.stored.set(key, { text, owners: new Set(isOwn ? [owner] : []), life });
      if (isOwn) claims.set(key, { kind, life });
      lines.push(`${kind} ${known === undefined ? 'added' : 'changed'} ${text}`);
    }
    for (const [key, { kind }] of claims) {
      if (stated.has(key)) continue;
      claims.delete(key);
      const known = this.stored.get(key);
      if (known === undefined) continue;
      const isOwn = known.owners.delete(owner);
      if (isOwn && known.owners.size === 0) {
        this.stored.delete(key);
        lines.push(`${kind} removed ${known.text}`);
      } else lines.push(`stays ${known.text}`);
    }
    if (isRemoved) this.claims.delete(owner);
    else this.claims.set(owner, claims);
    return lines.sort();
  }

  /** Somebody makes another version. */
  change(key: string, text: string): void {
    const life = this.stored.get(key)?.life ?? ++this.#lives;
    this.stored.set(key, { text, owners: new Set(), life });
  }
}

function linesOf(outcome: PackageOutcome): string[] {
  const kinds = ['facts', 'rules', 'declarations', 'constraints'] as const;
  return [
    ...kinds.flatMap((kind) => {
      const { kept, listed } = outcome[kind];
      return [
        ...Array.from({ length: kept }, () => `${kind} kept`),
        ...listed.added.map((text) => `${kind} added ${text}`),
        ...listed.changed.map((text) => `${kind} changed ${text}`),
        ...listed.removed.map((text) => `${kind} removed ${text}`),
      ];
    }),
    ...outcome.kept.map(({ text }) => `stays ${text}`),
  ].sort();
}

function declared(text: string) {
  const [, name = '', rest = ''] = /^:declare (\w+)(.*)$/.exec(text) ?? [];
  const description = /"(.*)"/.exec(rest)?.[1] ?? null;
  const named = rest.startsWith('(') ? [{ name: 'it', type: 'entity' }] : [];
  const arity = named.length > 0 ? 1 : 2;
  return { name, arity, ...declarationInputSchema.parse({ description, arguments: named }) };
}

async function play(seed: number): Promise<void> {
  const prng = new Prng(seed);
  const backend = memoryBackend();
  const clock = new ManualClock(startTime);
  const open = async () => (await openEngineOn(backend, null, { clock })).engine;
  let engine = await open();
  const model = new Model();

  const keyOf = (tenant: string, kind: Kind, text: string, scope: string | null, of = text): string =>
    kind === 'declarations'
      ? `declaration ${of}`
      : `${kind === 'facts' ? tenant : ''} ${kind} ${scope ?? ''} ${of}`;

  function statement(tenant: string, scope: string | null): Statement {
    const kind = prng.pick(['facts', 'facts', 'facts', 'rules', 'declarations', 'constraints'] as const);
    const variants =
      kind === 'facts'
        ? [prng.pick(facts)]
        : kind === 'rules'
          ? [prng.pick(rules)]
          : prng.pick(kind === 'declarations' ? declarations : constraints);
    const text = prng.pick(variants);
    return { kind, text, key: keyOf(tenant, kind, text, scope, variants[0]) };
  }

  /** Changes by others than packages. */
  async function changeByOthers(tenant: string): Promise<void> {
    const caller = testCaller({ tenant });
    const scope = prng.pick(scopes);
    const { kind, key, text } = statement(tenant, scope);
    const known = model.stored.get(key);
    if (kind === 'facts') {
      const { predicate, args, negated } = parseAtom(text);
      const fact = { predicate, args, truthVal: !negated, scope };
      const metadata = prng.chance(0.5) ? { n: prng.below(1e6) } : null;
      if (prng.chance(0.5)) {
        const input = { ...factInputSchema.parse({ ...fact, metadata }), ifGeneration: null };
        const { status } = await engine.tell(caller, input);
        if (status !== 'unchanged') model.change(key, text);
        return;
      }
      const where = scope === null ? { unscoped: true } : { scope };
      const { predicate: _p, args: _a, truthVal } = fact;
      await engine.forget(
        caller,
        retractInputSchema.parse({ predicate, args, truthVal, ...where, ...longest }),
      );
      model.stored.delete(key);
    } else if (kind === 'rules') {
      const found = (await engine.rules(caller)).find((rule) => rule.text === text && rule.scope === scope);
      if (found === undefined) {
        await engine.teach(caller, ruleInputSchema.parse({ text, scope }));
        model.change(key, text);
      } else if (prng.chance(0.5)) {
        await engine.updateRule(caller, found.id, ruleUpdateSchema.parse({ name: `n${prng.below(1e6)}` }));
        model.change(key, text);
      } else {
        await engine.forgetRule(caller, found.id);
        model.stored.delete(key);
      }
    } else if (kind === 'declarations') {
      const { name, arity, ...input } = declared(text);
      if (known !== undefined && prng.chance(0.5)) {
        await engine.withdraw(caller, { name, arity });
        model.stored.delete(key);
      } else if ((await engine.declare(caller, { name, arity, ...input })).status !== 'unchanged')
        model.change(key, text);
    } else {
      const found = (await engine.constraints(caller)).find(
        (each) => text.startsWith(each.text) && each.scope === scope,
      );
      if (found === undefined) return;
      await engine.deleteConstraint(caller, found.id);
      model.stored.delete(key);
    }
  }

  async function apply(tenant: string, told: string): Promise<void> {
    const caller = testCaller({ tenant });
    const [name, scope] = [prng.pick(names), prng.pick(scopes)];
    const owner = `${tenant} ${name}`;
    const isRemoved = model.claims.has(owner) && prng.chance(0.15);
    const count = prng.below(12);
    const statements = isRemoved ? [] : Array.from({ length: count }, () => statement(tenant, scope));
    // Declarations are two to one predicate, so a text has one of them.
    const distinct = statements.filter(
      ({ key, text }) => statements.find((each) => each.key === key)?.text === text,
    );
    const text = distinct.map((each) => `${each.text}${each.kind === 'declarations' ? '' : '.'}`).join('\n');
    const attempt = (dryRun: boolean): Promise<PackageOutcome> =>
      isRemoved
        ? engine.deletePackage(caller, { name, dryRun, ...longest })
        : engine.applyPackage(caller, {
            name,
            ...packageInputSchema.parse({ text, scope, dryRun, ...longest }),
          });
    const tried = await attempt(true);
    const done = await attempt(false);
    const { dryRun: _, ...same } = tried;
    expect({ ...done, generation: 0 }, told).toEqual({ ...same, generation: 0 });
    expect(linesOf(done), `${told}: ${name} in ${scope ?? 'no scope'}\n${text}`).toEqual(
      model.apply(owner, distinct, isRemoved),
    );
    if (isRemoved) return;
    const again = await attempt(false);
    expect(again, told).toMatchObject({ status: 'unchanged', generation: done.generation, keptCount: 0 });
    model.apply(owner, distinct, false);
  }

  async function compare(told: string): Promise<void> {
    for (const tenant of tenants) {
      const caller = testCaller({ tenant });
      const { packages } = await engine.packages(caller, null);
      const owners = [...model.claims.keys()].filter((owner) => owner.startsWith(`${tenant} `));
      expect(
        packages.map(({ name }) => `${tenant} ${name}`),
        told,
      ).toEqual(owners.sort());
      for (const { name, counts } of packages) {
        const claims = [...(model.claims.get(`${tenant} ${name}`) ?? [])];
        const shown = await engine.packageDetail(caller, { name, ...packageQuerySchema.parse({}) });
        const lists = { ...shown } as const;
        for (const kind of ['facts', 'rules', 'declarations', 'constraints'] as const) {
          const own = claims.filter(([, of]) => of.kind === kind);
          const states = own.map(([key]) => {
            const known = model.stored.get(key);
            if (known === undefined) return 'gone';
            return known.owners.has(`${tenant} ${name}`) ? 'held' : 'changed';
          });
          // Only what is shown as gone can be there under another id.
          expect(
            lists[kind]
              .map(({ state }) => state)
              .filter((state) => state === 'held')
              .sort(),
            told,
          ).toEqual(states.filter((state) => state === 'held').sort());
          if (kind === 'facts')
            expect(lists[kind].map(({ state }) => state).sort(), told).toEqual(states.sort());
          if (kind === 'facts') expect(counts[kind], told).toBe(own.length);
        }
      }
    }
  }

  for (let step = 0; step < 30; step++) {
    const told = `seed ${seed}, step ${step}`;
    clock.advance(1 + prng.below(1000));
    const tenant = prng.pick(tenants);
    if (prng.chance(0.5)) await apply(tenant, told);
    else await changeByOthers(tenant);
    if (prng.chance(0.1)) {
      if (prng.chance(0.5)) await engine.snapshot();
      await engine.close();
      engine = await open();
    }
    await compare(told);
  }
  await engine.close();
}

test(
  'packages bring and take away what a naive model says',
  async () => {
    await overSeeds({ name: 'packages', few: 12, many: 2000 }, play);
  },
  timeout,
);
