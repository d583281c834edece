import { TextMap } from '../base/text-map.ts';
import { compareText } from '../base/text-order.ts';
import type { InferenceContext } from './ask.ts';
import type { WhyNot } from '../contract/explanation.ts';
import { type Atom, type AtomLiteral, isVariable } from '../contract/language.ts';
import type { ScopeChoice } from '../store/fact-store.ts';
import type { RuleRecord } from '../store/rule-store.ts';
import { renderAtom } from '../language/print.ts';
import { isAbsence, isAggregate, relationOf } from '../language/terms.ts';
import { apart } from '../datalog/model/fact-overlay.ts';
import { LiteralReader } from '../datalog/tables/literal-reader.ts';
import { Program, relationsRead } from '../datalog/model/program.ts';
import { sees, viewKey } from '../datalog/model/reader.ts';
import type { TableSet } from '../datalog/tables/table-set.ts';
import { furthest } from '../datalog/explain/why-not.ts';

/** An atom that is not true in a view: the explained atom or a missing premise. */
export interface MissingAtom {
  readonly view: ScopeChoice;
  /** Not true anywhere in the view; a premise may have variables. */
  readonly atom: AtomLiteral;
}

type Block = WhyNot['blockedBy'][number];

/**
 * Finds what blocks an atom that is not true, or a missing premise: an expired or not yet valid fact, a fact in another
 * scope, or a disabled rule.
 *
 * Each reason is searched in the view that lacks the atom. For a premise with variables, one fact per scope is
 * reported: the one that expired last, that becomes valid first, or the first by code point.
 */
export class BlockFinder {
  readonly #context: InferenceContext;
  readonly #set: TableSet;
  readonly #rules: readonly RuleRecord[];
  /** By the relation they conclude. */
  readonly #disabledRules = new Map<string, RuleRecord[]>();
  /** Unscoped, then every scope of a fact or rule by code point. */
  readonly #views: readonly ScopeChoice[];
  /** False if everything true in some scope is also true in the view of all scopes. */
  readonly #canHoldApart: boolean;
  readonly #found = new TextMap<Block>();

  /** `rules`: all rules of the reader's state, including disabled ones. The caller owns the table set. */
  constructor(context: InferenceContext, set: TableSet, rules: readonly RuleRecord[]) {
    this.#context = context;
    this.#set = set;
    this.#rules = rules;
    this.#views = viewsOf(context, rules);
    this.#canHoldApart = rules.some(
      ({ rule, enabled }) => enabled && rule.body.some((each) => isAbsence(each) || isAggregate(each)),
    );
    for (const record of rules) {
      if (record.enabled) continue;
      const head = relationOf(record.rule.head);
      const known = this.#disabledRules.get(head);
      if (known === undefined) this.#disabledRules.set(head, [record]);
      else known.push(record);
    }
  }

  /** All blocks, each once: by reason, then in the order of `lacking`, then by scope or rule. */
  async of(lacking: readonly MissingAtom[]): Promise<Block[]> {
    const distinct = new TextMap<MissingAtom>();
    for (const each of lacking) {
      const key = `${viewKey(each.view)}\n${renderAtom(each.atom)}`;
      if (!distinct.has(key)) distinct.set(key, each);
    }
    const all = [...distinct.values()];
    for (const each of all) await this.#expired(each);
    for (const each of all) await this.#notYetValid(each);
    for (const each of all) await this.#inOtherScopes(each);
    for (const each of all) await this.#disabled(each);
    return [...this.#found.values()];
  }

  #add(reason: Block['reason'], detail: string): void {
    const key = `${reason} ${detail}`;
    if (!this.#found.has(key)) this.#found.set(key, { reason, detail });
  }

  async #expired({ view, atom }: MissingAtom): Promise<void> {
    const { tenant, reader, pacer } = this.#context;
    await pacer.breathe();
    const wanted = { ...patternOf(atom), scope: view };
    const perScope = new BestPerScope<{ atom: string; until: number }>(
      (left, right) => right.until - left.until || compareText(left.atom, right.atom),
    );
    for (const { args, scope, until } of tenant.facts.matchEnded(wanted, reader.generation, reader.time)) {
      await pacer.breathe();
      perScope.offer(scope, { atom: renderAtom({ ...atom, args }), until });
    }
    for (const [scope, found] of perScope.sorted())
      this.#add('expired', `${found.atom}${inScope(scope)} expired at ${iso(found.until)}`);
  }

  async #notYetValid({ view, atom }: MissingAtom): Promise<void> {
    const { tenant, reader, pacer } = this.#context;
    const { facts } = tenant;
    await pacer.breathe();
    const wanted = { ...patternOf(atom), scope: view };
    const perScope = new BestPerScope<{ atom: string; from: number }>(
      (left, right) => left.from - right.from || compareText(left.atom, right.atom),
    );
    for (const fact of facts.matchPending(wanted, reader.generation, reader.time)) {
      await pacer.breathe();
      if (reader.overlay?.hidden.get(fact.relation)?.has(fact.row) === true) continue;
      const from = fact.relation.validFrom?.[fact.row] as number;
      perScope.offer(facts.scopeOf(fact), { atom: renderAtom({ ...atom, args: facts.argsOf(fact) }), from });
    }
    for (const [scope, found] of perScope.sorted())
      this.#add('not_yet_valid', `${found.atom}${inScope(scope)} is valid only from ${iso(found.from)} on`);
  }

  async #inOtherScopes({ view, atom }: MissingAtom): Promise<void> {
    const stored = await this.#storedElsewhere(view, atom);
    for (const [scope, found] of stored)
      this.#add('other_scope', `${found} is stored${inScope(scope)}, not${inView(view)}`);
    // For an atom with variables, conclusions elsewhere may be unbounded.
    if (atom.args.some(isVariable) || (view.kind === 'all' && !this.#canHoldApart)) return;
    const { reader, pacer } = this.#context;
    for (const other of this.#views) {
      if (viewKey(other) === viewKey(view) || !this.#set.isDerived(other, relationOf(atom))) continue;
      const scope = other.kind === 'scope' ? other.scope : null;
      if (stored.some(([name]) => name === scope)) continue;
      await pacer.breathe();
      if (await new LiteralReader(this.#set, reader, pacer, other).holds(atom))
        this.#add('other_scope', `${renderAtom(atom)} is true${inScope(scope)}, not${inView(view)}`);
    }
  }

  /** For each scope outside the view, by name, the first atom stored and visible there. */
  async #storedElsewhere(view: ScopeChoice, atom: AtomLiteral): Promise<[string | null, string][]> {
    if (view.kind === 'all') return [];
    const { tenant, reader, pacer } = this.#context;
    const { facts } = tenant;
    await pacer.breathe();
    const own = view.kind === 'scope' ? view.scope : null;
    const perScope = new BestPerScope<string>(compareText);
    const wanted = { ...patternOf(atom), scope: { kind: 'all' as const } };
    for (const fact of facts.match(wanted, reader.generation, reader.time)) {
      await pacer.breathe();
      if (!sees(reader, fact.relation, fact.row)) continue;
      const scope = facts.scopeOf(fact);
      if (scope !== own) perScope.offer(scope, renderAtom({ ...atom, args: facts.argsOf(fact) }));
    }
    return perScope.sorted();
  }

  async #disabled(lacking: MissingAtom): Promise<void> {
    const { view, atom } = lacking;
    for (const record of this.#disabledRules.get(relationOf(atom)) ?? []) {
      await this.#context.pacer.breathe();
      const bodyView = viewOfBody(record, view);
      if (bodyView === null) continue;
      const concluded = await this.#concluded(record, bodyView, lacking);
      if (concluded !== null)
        this.#add(
          'rule_disabled',
          `rule ${record.id} is disabled and would conclude ${concluded}: ${record.text}`,
        );
    }
  }

  /**
   * What the rule would conclude of the atom if enabled; null: nothing. Its body can be evaluated as is: what is under
   * `not` or in an aggregate never depends on its head. Only recursion through the head needs a new evaluation.
   */
  async #concluded(
    record: RuleRecord,
    bodyView: ScopeChoice,
    { view, atom }: MissingAtom,
  ): Promise<string | null> {
    const { reasoner, reader, pacer } = this.#context;
    const { rule } = record;
    const found = await furthest(rule, atom, new LiteralReader(this.#set, reader, pacer, bodyView));
    if (found === null) return null;
    if (found.missing.length === 0) {
      const args = rule.head.args.map((term) =>
        isVariable(term) ? (found.bindings[term.slice(1)] ?? term) : term,
      );
      return isInstance(args, atom) ? renderAtom({ ...rule.head, args }) : null;
    }
    const above = reader.program.reached(relationOf(rule.head));
    if (atom.args.some(isVariable) || !relationsRead(rule.body).some((relation) => above.has(relation)))
      return null;
    const program = new Program(
      this.#rules.map((each) => (each === record ? { ...each, enabled: true } : each)),
    );
    // A hypothetical evaluation: the rule's firings are not counted.
    const enabled =
      reader.overlay === null
        ? apart(reasoner.reader(reader.generation, reader.time, program))
        : { ...reader, program, version: -1 };
    const holds = await reasoner.evaluate(enabled, false, pacer, (set) =>
      new LiteralReader(set, enabled, pacer, view).holds(atom),
    );
    return holds ? renderAtom(atom) : null;
  }
}

/** The best offer for each scope: the first in order. */
class BestPerScope<Found> {
  readonly #compare: (left: Found, right: Found) => number;
  readonly #best = new Map<string | null, Found>();

  constructor(compare: (left: Found, right: Found) => number) {
    this.#compare = compare;
  }

  offer(scope: string | null, found: Found): void {
    const known = this.#best.get(scope);
    if (known === undefined || this.#compare(found, known) < 0) this.#best.set(scope, found);
  }

  /** Unscoped first, then by scope name. */
  sorted(): [string | null, Found][] {
    return [...this.#best].sort(([left], [right]) => compareText(left ?? '', right ?? ''));
  }
}

function viewsOf({ tenant }: InferenceContext, rules: readonly RuleRecord[]): ScopeChoice[] {
  const scopes = new Set<string>();
  for (const name of tenant.facts.scopeNames) if (name !== null) scopes.add(name);
  for (const { scope } of rules) if (scope !== null) scopes.add(scope);
  const views = [...scopes].sort(compareText).map((scope): ScopeChoice => ({ kind: 'scope', scope }));
  return [{ kind: 'unscoped' }, ...views];
}

/** The view in which the rule's body is evaluated to conclude in `view`; null: the rule does not conclude there. */
function viewOfBody({ scope }: RuleRecord, view: ScopeChoice): ScopeChoice | null {
  if (scope === null) return view;
  if (view.kind === 'all') return { kind: 'scope', scope };
  return view.kind === 'scope' && view.scope === scope ? view : null;
}

function patternOf({ predicate, args, negated }: Atom) {
  return { predicate, args, truthVal: !negated };
}

/** True if the constants match the atom; repeated variables match equal constants. */
function isInstance(args: readonly string[], { args: pattern }: Atom): boolean {
  const bound = new Map<string, string>();
  return pattern.every((term, at) => {
    const constant = args[at] as string;
    if (!isVariable(term)) return term === constant;
    const known = bound.get(term);
    if (term !== '?_') bound.set(term, known ?? constant);
    return known === undefined || known === constant;
  });
}

function inScope(scope: string | null): string {
  return scope === null ? ' without a scope' : ` in scope ${scope}`;
}

function inView(view: ScopeChoice): string {
  if (view.kind === 'all') return ' in the view of all scopes';
  return inScope(view.kind === 'scope' ? view.scope : null);
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
