import { FactStore } from '../store/fact-store.ts';
import { ruleIdentity, renderRule } from '../language/print.ts';
import { parseAtom, parseRule } from '../language/parse.ts';
import { MemoryBudget } from '../datalog/model/memory-budget.ts';
import { Program } from '../datalog/model/program.ts';
import { question } from '../datalog/tables/question.ts';
import { Reasoner } from '../datalog/maintain/reasoner.ts';
import type { Table } from '../datalog/model/table.ts';

const limits = { timeoutMs: 600_000, maxDerivations: 1e9, signal: new AbortController().signal };
const everything = { kind: 'all' } as const;

/** A fact base that changes, and a reasoner that maintains the tables filled by questions. */
export class KeptFacts {
  readonly facts = new FactStore(0);
  readonly reasoner: Reasoner;
  #generation = 0;

  constructor(rules: readonly string[]) {
    const about = { name: null, description: null, createdAt: 0, scope: null, enabled: true, changedIn: 0 };
    const program = new Program(
      rules.map((text, at) => {
        const rule = parseRule(text);
        return { ...about, id: `r${at}`, rule, text: renderRule(rule), identity: ruleIdentity(rule) };
      }),
    );
    const budget = new MemoryBudget(2 ** 40);
    this.reasoner = new Reasoner(this.facts, program, new Map(), () => Promise.resolve(), budget);
  }

  tell(text: string): void {
    const { predicate, args, negated } = parseAtom(text);
    const fact = { predicate, args, truthVal: !negated, scope: null, metadata: {} };
    const stored = this.facts.store(
      { ...fact, validFrom: 'always', validUntil: 'never' },
      ++this.#generation,
      0,
    );
    this.#touched(stored.relation.number[stored.row] as number);
  }

  forget(text: string): void {
    const { predicate, args, negated } = parseAtom(text);
    const fact = this.facts.find(predicate, args, !negated, null);
    if (fact === null) throw new Error(`${text} is stored`);
    this.facts.retract(fact, ++this.#generation);
    this.#touched(fact.relation.number[fact.row] as number);
  }

  #touched(number: number): void {
    this.reasoner.touched([number], this.#generation);
    if (this.reasoner.readers === 0 && !this.reasoner.holdsFacts)
      this.facts.compact(this.facts.relations.keys(), this.#generation);
  }

  async ask(text: string, withProof: boolean): Promise<number> {
    const asked = question(everything, [{ ...parseAtom(text), naf: false }]);
    const page = { offset: 0, limit: null, withProof, withAlternatives: false };
    this.reasoner.readers++;
    const reader = this.reasoner.reader(this.#generation, 0);
    const { matches } = await this.reasoner.answer(asked, reader, this.reasoner.pacer(limits), page);
    this.reasoner.readers--;
    return matches.count;
  }

  /** The tables that gave the answers, by relation and bound positions as in `path/2 0`. */
  async tables(): Promise<Map<string, Table>> {
    const reader = this.reasoner.reader(this.#generation, 0);
    return this.reasoner.evaluate(reader, false, this.reasoner.pacer(limits), (set) =>
      Promise.resolve(
        new Map(
          [...set.tables.values()].map((each) => [
            `${each.relation} ${each.boundPositions.join()}`.trim(),
            each,
          ]),
        ),
      ),
    );
  }
}
