import { present } from '../base/assert.ts';
import { compareTexts } from '../base/text-order.ts';
import { type AtomLiteral, isVariable, type Literal } from '../contract/language.ts';
import { maxProofSteps, type Proof, type ProofStep } from '../contract/inference.ts';
import type { FactRow, ScopeChoice } from '../facts/fact-store.ts';
import { renderAtom, renderLiteral } from '../logic/print.ts';
import { isComparison, relationKey, relationOf, wildcard } from '../logic/terms.ts';
import { compileExplainer } from './compile-rule.ts';
import { clear, type Derived, newDerived } from './derived.ts';
import { demand, type Pacer, settle } from './evaluation.ts';
import type { Machine } from './machine.ts';
import { instance, type Matches, onlyDerivedAtom, tableFor } from './question.ts';
import { type Reader, sees, viewKey } from './reader.ts';
import type { TableSet } from './table-set.ts';
import type { BuiltRule, Table } from './table.ts';

/**
 * Canonical proofs: of every atom the one of minimal height, among those by the rule created first, then by its
 * premises as rendered, in the order of the body.
 *
 * Heights come from a set of tables in which every row carries its least height and no recursion was rewritten. A
 * stored fact is proved by itself, at height 0. A proof is a list of steps, each after its premises, every atom of
 * a view once; it is built without recursion, since proofs can be deep.
 */
export interface GroundAtom {
  readonly view: ScopeChoice;
  readonly literal: AtomLiteral;
}

/** One rule's instances for a head, found among what is derived. */
interface Explainer {
  readonly rule: BuiltRule;
  readonly body: readonly Literal[];
  readonly variables: readonly string[];
  readonly heads: Derived;
  readonly instances: Derived;
  readonly machine: Machine;
}

interface Choice {
  readonly rule: BuiltRule;
  readonly premises: readonly Literal[];
}

export class ProofBuilder {
  readonly steps: ProofStep[] = [];
  /** The stored facts that the proofs rest on. */
  readonly facts: FactRow[] = [];
  isTruncated = false;
  readonly #set: TableSet;
  readonly #reader: Reader;
  readonly #pacer: Pacer;
  readonly #mostSteps: number;
  readonly #stepOf = new Map<string, number>();
  readonly #explainers = new Map<string, Explainer[]>();

  /** `set` keeps heights and is the caller's until the proof is done. */
  constructor(set: TableSet, reader: Reader, pacer: Pacer, mostSteps = maxProofSteps) {
    this.#mostSteps = mostSteps;
    this.#set = set;
    this.#reader = reader;
    this.#pacer = pacer;
  }

  /** Proves the rows of an answer that are given (numbers of `matches`). The roots are in the same order. */
  async prove(matches: Matches, rows: readonly number[]): Promise<Proof> {
    const { question: asked, ids } = matches;
    const width = asked.variables.length;
    const place = new Map(asked.variables.map((variable, at) => [variable, at]));
    const bodies = rows.map((row) =>
      instance(asked, (variable) =>
        matches.constants.text(
          ids[row * width + present(place.get(variable), 'a variable of the question')] as number,
        ),
      ),
    );
    await this.#demandRoots(matches, bodies);
    const roots: number[] = [];
    for (const body of bodies) {
      const root = await this.#proveBody(asked.view, body);
      if (root === null) break;
      roots.push(root);
    }
    return this.isTruncated ? { roots, steps: this.steps, truncated: true } : { roots, steps: this.steps };
  }

  /** Of these conclusions, rendered, those whose proof uses the stored fact. Each is proved where it is not yet. */
  async dependentsOf(fact: FactRow, goals: readonly GroundAtom[]): Promise<string[]> {
    const id = this.#reader.facts.idOf(fact);
    for (const { view, literal } of goals) {
      const { table, key } = tableFor(literal, view, this.#set);
      demand(this.#set, table, key);
    }
    await settle(this.#set, this.#reader, this.#pacer);
    const roots = new Set<number>();
    for (const { view, literal } of goals) {
      const root = await this.#proveLiteral(view, literal);
      if (root !== null) roots.add(root);
    }
    const uses: boolean[] = [];
    const found: string[] = [];
    for (const step of this.steps) {
      uses.push(step.factId === id || step.premises.some((premise) => uses[premise] === true));
      if (step.kind === 'rule' && uses[step.id] === true && roots.has(step.id)) found.push(step.atom);
    }
    return found;
  }

  /**
   * Demands what the proofs can need. A pattern is demanded as it was asked, since its answers share most of their
   * proofs; unless its recursion was factored: then that would derive what factoring avoids, and each answer is
   * demanded by itself.
   */
  async #demandRoots(matches: Matches, bodies: readonly Literal[][]): Promise<void> {
    const set = this.#set;
    const { question: asked } = matches;
    const atom = onlyDerivedAtom(asked, set);
    if (atom !== null) {
      const { table, key } = tableFor(atom, asked.view, set);
      if (set.factored(table) === null) {
        if (matches.count > 0) demand(set, table, key);
        await settle(set, this.#reader, this.#pacer);
        return;
      }
    }
    for (const body of bodies)
      for (const literal of body)
        if (
          !('aggregate' in literal) &&
          !isComparison(literal) &&
          set.isDerived(asked.view, relationOf(literal))
        ) {
          const { table, key } = tableFor(literal, asked.view, set);
          demand(set, table, key);
        }
    await settle(set, this.#reader, this.#pacer);
  }

  /** The step of an answer: of a single literal its own, of a conjunction one over those of its literals. */
  async #proveBody(view: ScopeChoice, body: readonly Literal[]): Promise<number | null> {
    const premises: number[] = [];
    for (const literal of body) {
      const step = await this.#proveLiteral(view, literal);
      if (step === null) return null;
      premises.push(step);
    }
    const [only] = premises;
    if (premises.length === 1 && only !== undefined) return only;
    const atom = body.map(renderLiteral).join(', ');
    return this.#add(`answer\n${atom}`, {
      atom,
      kind: 'rule',
      rule: null,
      ruleId: null,
      premises,
      scope: null,
    });
  }

  async #proveLiteral(view: ScopeChoice, root: Literal): Promise<number | null> {
    const open: { view: ScopeChoice; literal: Literal; choice: Choice | null }[] = [
      { view, literal: root, choice: null },
    ];
    for (;;) {
      const top = open[open.length - 1];
      if (top === undefined) return this.#stepOf.get(stepKey(view, root)) ?? null;
      await this.#pacer.breathe();
      if (this.#stepOf.has(stepKey(top.view, top.literal))) {
        open.pop();
        continue;
      }
      if (top.choice === null) {
        if (this.#addLeaf(top.view, top.literal)) {
          open.pop();
          continue;
        }
        if (this.isTruncated) return null;
        top.choice = await this.#choose({ view: top.view, literal: top.literal as AtomLiteral });
      }
      const { rule, premises } = top.choice;
      const missing = premises.filter((premise) => !this.#stepOf.has(stepKey(rule.bodyView, premise)));
      if (missing.length > 0) {
        for (const literal of missing.reverse()) open.push({ view: rule.bodyView, literal, choice: null });
        continue;
      }
      const { kept } = rule;
      const added = this.#add(stepKey(top.view, top.literal), {
        atom: renderLiteral(top.literal),
        kind: 'rule',
        rule: kept.text,
        ruleId: kept.id,
        premises: premises.map((premise) => this.#stepOf.get(stepKey(rule.bodyView, premise)) as number),
        scope: kept.scope,
      });
      if (added === null) return null;
      open.pop();
    }
  }

  /** Adds the step of what needs no rule: a comparison that holds, or a stored fact. False where it is neither. */
  #addLeaf(view: ScopeChoice, literal: Literal): boolean {
    const key = stepKey(view, literal);
    if (isComparison(literal)) {
      const step = { kind: 'builtin' as const, rule: null, ruleId: null, premises: [], scope: null };
      return this.#add(key, { atom: renderLiteral(literal), ...step }) !== null;
    }
    const fact = this.storedFact(view, literal as AtomLiteral);
    if (fact === null) return false;
    const { facts } = this.#reader;
    const metadata = facts.metadataOf(fact);
    const added = this.#add(key, {
      atom: renderAtom(literal as AtomLiteral),
      kind: 'fact',
      rule: null,
      ruleId: null,
      premises: [],
      scope: facts.scopeOf(fact),
      factId: facts.idOf(fact),
      ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
    });
    if (added !== null) this.facts.push(fact);
    return added !== null;
  }

  /** The stored fact behind a ground atom in a view: without scope before scopes, those by the order they came up. */
  storedFact(view: ScopeChoice, atom: AtomLiteral): FactRow | null {
    const reader = this.#reader;
    let first: FactRow | null = null;
    let firstScope = Number.POSITIVE_INFINITY;
    const pattern = { predicate: atom.predicate, args: atom.args, truthVal: !atom.negated, scope: view };
    for (const fact of reader.facts.match(pattern, reader.generation, reader.time)) {
      const scope = (fact.relation.columns[fact.relation.arity] as Int32Array)[fact.row] as number;
      if (scope >= firstScope || !sees(reader, fact.relation, fact.row)) continue;
      first = fact;
      firstScope = scope;
    }
    return first;
  }

  #add(key: string, step: Omit<ProofStep, 'id'>): number | null {
    if (this.steps.length >= this.#mostSteps) {
      this.isTruncated = true;
      return null;
    }
    const id = this.steps.length;
    this.steps.push({ id, ...step });
    this.#stepOf.set(key, id);
    return id;
  }

  /** The rule and the premises of the canonical proof of a derived atom. */
  async #choose(goal: GroundAtom): Promise<Choice> {
    const { table, tuple, height } = this.#find(goal);
    for (const explainer of this.#explainersOf(table)) {
      const found = await this.#instances(explainer, tuple);
      let best: { premises: readonly Literal[]; rendered: readonly string[] } | null = null;
      const heights = present(found.rows.heights, 'instances carry heights').of;
      for (let row = 0; row < found.rows.count; row++) {
        if (heights[row] !== height) continue;
        const premises = this.#premises(explainer, row);
        const rendered = premises.map(renderLiteral);
        if (best === null || compareTexts(rendered, best.rendered) < 0) best = { premises, rendered };
        if ((row & 0xff) === 0xff) await this.#pacer.breathe();
      }
      if (best !== null) return { rule: explainer.rule, premises: best.premises };
    }
    throw new Error(`assertion failed: ${renderAtom(goal.literal)} has an instance of its height`);
  }

  /** The table that holds the atom, its tuple and its least height. */
  #find(goal: GroundAtom): { table: Table; tuple: Int32Array; height: number } {
    const { literal, view } = goal;
    const tuple = Int32Array.from(literal.args, (text) => this.#set.constants.ofQuestion(text));
    const name = relationKey(literal.predicate, literal.args.length, literal.negated);
    const wanted = viewKey(view);
    for (const table of this.#set.tablesOf(name)) {
      if (viewKey(table.view) !== wanted) continue;
      // Only what was demanded has its least height.
      const key = Int32Array.from(table.boundPositions, (position) => tuple[position] as number);
      if (table.demand.rows.find(key) < 0) continue;
      const row = table.rows.rows.find(tuple);
      if (row < 0) continue;
      return {
        table,
        tuple,
        height: present(table.rows.rows.heights, 'proof tables carry heights').of[row] as number,
      };
    }
    throw new Error(`assertion failed: ${renderAtom(literal)} was derived`);
  }

  #explainersOf(table: Table): readonly Explainer[] {
    let explainers = this.#explainers.get(table.key);
    if (explainers === undefined) {
      explainers = table.rules.map((rule) => this.#explainer(table, rule));
      this.#explainers.set(table.key, explainers);
    }
    return explainers;
  }

  #explainer(table: Table, rule: BuiltRule): Explainer {
    const { head } = rule.kept.rule;
    let made = 0;
    const named = new Map<AtomLiteral, AtomLiteral>();
    const atoms = rule.atoms.map((atom) => {
      const literal = {
        ...atom.literal,
        args: atom.literal.args.map((term) => (term === wildcard ? `?_ ${made++}` : term)),
      };
      named.set(atom.literal, literal);
      return { ...atom, literal };
    });
    const body = rule.kept.rule.body.map((literal) => named.get(literal as AtomLiteral) ?? literal);
    const variables = new Set<string>();
    for (const literal of body)
      if (!('aggregate' in literal))
        for (const term of literal.args) if (isVariable(term)) variables.add(term);
    const heads = newDerived('heads', table.arity, false, null);
    const instances = newDerived('instances', variables.size, true, null);
    const machine = compileExplainer(
      {
        target: instances,
        headTerms: [...variables],
        rise: 1,
        tally: null,
        demand: heads,
        demandTerms: head.args,
        atoms,
        filters: body.filter(isComparison),
        assignments: rule.assigned,
      },
      this.#set.context(rule.bodyView, false),
    );
    return { rule, body, variables: [...variables], heads, instances, machine };
  }

  /** All instances of the rule for this head, with their heights. */
  async #instances(explainer: Explainer, head: Int32Array): Promise<Derived> {
    const { heads, instances, machine } = explainer;
    clear(heads);
    clear(instances);
    heads.rows.insert(head);
    machine.start(this.#reader, 0, 1, null, 1);
    const before = machine.matches;
    while (machine.run(8192) === 0) await this.#pacer.breathe();
    this.#pacer.derivations += machine.matches - before;
    this.#set.work.clear();
    return instances;
  }

  #premises(explainer: Explainer, row: number): Literal[] {
    const { variables, instances, body } = explainer;
    const columns = instances.rows.columns;
    const text = new Map(
      variables.map((variable, at) => [
        variable,
        this.#set.constants.text((columns[at] as Int32Array)[row] as number),
      ]),
    );
    return body.map((literal) =>
      'aggregate' in literal
        ? literal
        : { ...literal, args: literal.args.map((term) => text.get(term) ?? term) },
    );
  }
}

function stepKey(view: ScopeChoice, literal: Literal): string {
  return `${viewKey(view)}\n${renderLiteral(literal)}`;
}
