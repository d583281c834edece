/**
 * Generated knowledge for the benchmark of context windows: families and organisations, their rules, and distractors
 * that share constants and predicates with the relevant facts. The same seed gives the same knowledge.
 */
import { Prng } from '../../src/engine/testing/prng.ts';

export interface StoredAtom {
  readonly predicate: string;
  readonly args: readonly string[];
}

export interface Knowledge {
  readonly name: string;
  readonly facts: readonly StoredAtom[];
  readonly rules: readonly string[];
  /** Predicates with their arity whose conclusions are asked for. */
  readonly goals: readonly { readonly predicate: string; readonly arity: number }[];
}

const atom = (predicate: string, ...args: string[]): StoredAtom => ({ predicate, args });

const firstNames = ['ada', 'ben', 'cleo', 'dan', 'eva', 'finn', 'gwen', 'hugo', 'iris', 'jan', 'kim', 'leo'];

/** Generations of a few families that marry among each other: parents, marriages, sex and year of birth. */
export function kinship(seed: number): Knowledge {
  const prng = new Prng(seed);
  const facts: StoredAtom[] = [];
  let number = 0;
  const person = (generation: number): string => {
    const name = `${firstNames[prng.below(firstNames.length)] as string}_${++number}`;
    facts.push(atom(prng.below(2) === 0 ? 'female' : 'male', name));
    facts.push(atom('born', name, String(1500 + generation * 27 + prng.below(20))));
    return name;
  };
  let couples = Array.from({ length: 6 }, (): [string, string] => [person(0), person(0)]);
  for (let generation = 1; generation <= 16; generation++) {
    const children: string[][] = couples.map((couple) => {
      const born = Array.from({ length: 2 + prng.below(2) }, () => person(generation));
      facts.push(atom('married', ...couple));
      for (const child of born) for (const parent of couple) facts.push(atom('parent', parent, child));
      return born;
    });
    // Each marries into the next family, so that lines cross.
    couples = children.map((own, at) => {
      const next = children[(at + 1) % children.length] as string[];
      return [own[0] as string, next[1] as string];
    });
  }
  return {
    name: 'kinship',
    facts,
    rules: [
      'ancestor(?x, ?y) :- parent(?x, ?y)',
      'ancestor(?x, ?z) :- parent(?x, ?y), ancestor(?y, ?z)',
      'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)',
      'sibling(?x, ?y) :- parent(?p, ?x), parent(?p, ?y), ?x != ?y',
      'aunt(?x, ?z) :- female(?x), sibling(?x, ?y), parent(?y, ?z)',
      'cousin(?x, ?y) :- parent(?p, ?x), sibling(?p, ?q), parent(?q, ?y)',
      'second_cousin(?x, ?y) :- parent(?p, ?x), cousin(?p, ?q), parent(?q, ?y)',
      'brother_in_law(?x, ?z) :- male(?x), sibling(?x, ?y), spouse(?y, ?z)',
      'spouse(?x, ?y) :- married(?x, ?y)',
      'spouse(?x, ?y) :- married(?y, ?x)',
      'elder_ancestor(?x, ?y) :- ancestor(?x, ?y), born(?x, ?b), ?b < 1600',
    ],
    goals: [
      'ancestor',
      'grandparent',
      'aunt',
      'cousin',
      'second_cousin',
      'brother_in_law',
      'elder_ancestor',
    ].map((predicate) => ({ predicate, arity: 2 })),
  };
}

/** A company: a chain of command, teams in departments, projects that depend on each other, documents, requests. */
export function organisation(seed: number): Knowledge {
  const prng = new Prng(seed);
  const facts: StoredAtom[] = [];
  const people = Array.from(
    { length: 160 },
    (_, at) => `${firstNames[at % firstNames.length] as string}_e${at}`,
  );
  for (let at = 1; at < people.length; at++) {
    const manager = Math.max(0, at - 1 - prng.below(8));
    facts.push(atom('manages', people[manager] as string, people[at] as string));
  }
  const units = Array.from({ length: 40 }, (_, at) => `unit_${at}`);
  for (let at = 1; at < units.length; at++)
    facts.push(atom('part_of', units[at] as string, units[Math.floor(at / 2)] as string));
  for (const person of people) facts.push(atom('member_of', person, units[8 + prng.below(32)] as string));
  const projects = Array.from({ length: 40 }, (_, at) => `project_${at}`);
  for (const [at, project] of projects.entries()) {
    facts.push(atom('owns', units[prng.below(units.length)] as string, project));
    for (let edge = 0; edge < 2; edge++)
      if (at > 0)
        facts.push(atom('depends_on', project, projects[Math.max(0, at - 1 - prng.below(5))] as string));
  }
  for (let at = 0; at < 80; at++) {
    const document = `document_${at}`;
    facts.push(atom('documents', document, projects[prng.below(projects.length)] as string));
    if (prng.below(3) > 0) facts.push(atom('level', document, String(1 + prng.below(3))));
  }
  for (const person of people) facts.push(atom('clearance', person, String(1 + prng.below(3))));
  for (let at = 0; at < 60; at++) {
    facts.push(atom('requested', people[prng.below(people.length)] as string, `request_${at}`));
    facts.push(atom('signs', people[prng.below(20)] as string, `kind_${prng.below(4)}`));
    facts.push(atom('of_kind', `request_${at}`, `kind_${prng.below(4)}`));
  }
  return {
    name: 'organisation',
    facts: [...new Map(facts.map((fact) => [JSON.stringify(fact), fact])).values()],
    rules: [
      'reports_to(?x, ?y) :- manages(?y, ?x)',
      'reports_to(?x, ?z) :- manages(?y, ?x), reports_to(?y, ?z)',
      'within(?x, ?y) :- part_of(?x, ?y)',
      'within(?x, ?z) :- within(?x, ?y), part_of(?y, ?z)',
      'works_for(?p, ?u) :- member_of(?p, ?u)',
      'works_for(?p, ?d) :- member_of(?p, ?u), within(?u, ?d)',
      'needs(?x, ?y) :- depends_on(?x, ?y)',
      'needs(?x, ?z) :- depends_on(?x, ?y), needs(?y, ?z)',
      'may_read(?p, ?doc) :- works_for(?p, ?u), owns(?u, ?project), documents(?doc, ?project), level(?doc, ?l), clearance(?p, ?c), ?c >= ?l',
      'approves(?m, ?r) :- requested(?p, ?r), reports_to(?p, ?m), of_kind(?r, ?k), signs(?m, ?k)',
      'concerned(?p, ?project) :- works_for(?p, ?u), owns(?u, ?other), needs(?project, ?other)',
    ],
    goals: ['reports_to', 'works_for', 'needs', 'may_read', 'approves', 'concerned'].map((predicate) => ({
      predicate,
      arity: 2,
    })),
  };
}

const elsewhere = ['likes', 'visited', 'met', 'mentions', 'reads'];

/** Facts about the same constants, and of the same predicates, that no requested conclusion needs. */
export function distractors(knowledge: Knowledge, count: number, seed: number): StoredAtom[] {
  const prng = new Prng(seed);
  const known = [...new Set(knowledge.facts.flatMap(({ args }) => args))];
  const stored = new Set(knowledge.facts.map((fact) => JSON.stringify(fact)));
  const found: StoredAtom[] = [];
  const one = <Value>(values: readonly Value[]): Value => values[prng.below(values.length)] as Value;
  let made = 0;
  while (found.length < count) {
    const { predicate, args } = one(knowledge.facts);
    const kind = prng.below(4);
    const fact =
      kind === 0
        ? atom(one(elsewhere), one(known), one(known))
        : kind === 1
          ? atom(one(elsewhere), one(known), `thing_${++made}`)
          : atom(predicate, ...args.map((arg, at) => (at === 0 && kind === 2 ? arg : `other_${++made}`)));
    const key = JSON.stringify(fact);
    if (stored.has(key)) continue;
    stored.add(key);
    found.push(fact);
  }
  return found;
}

/** The values in an order determined by the seed. */
export function shuffled<Value>(values: readonly Value[], seed: number): Value[] {
  const prng = new Prng(seed);
  const mixed = [...values];
  for (let at = mixed.length - 1; at > 0; at--) {
    const other = prng.below(at + 1);
    [mixed[at], mixed[other]] = [mixed[other] as Value, mixed[at] as Value];
  }
  return mixed;
}
