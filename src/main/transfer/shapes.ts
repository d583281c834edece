/**
 * RDFS, OWL and SHACL as declarations and constraints: what a class model in an import of triples says about its properties.
 *
 * The triples are facts as ever; what is made of them comes after the last one. A property is a predicate with a subject and an
 * object. Domains, ranges, disjoint classes and SHACL's counts, bounds, classes and values become constraints that warn, in the
 * closed world of what is stored; data types and values become the type of the object, functional properties a key. RDFS itself
 * would conclude the classes of domains and ranges instead; of its conclusions only the members of subclasses are taken, as a
 * rule, since SHACL counts them as members of the class.
 */
import { declarationInputSchema } from '../../engine/contract/declarations.ts';
import type { ArgumentType } from '../../engine/contract/declarations.ts';
import { type AtomLiteral, constantProblem, type Literal } from '../../engine/contract/language.ts';
import { ruleInputSchema } from '../../engine/contract/rules.ts';
import { renderConstraint, renderRule } from '../../engine/index.ts';
import type { ImportItem, ImportItems } from './items.ts';

const rdf = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';
const rdfs = 'http://www.w3.org/2000/01/rdf-schema#';
const sh = 'http://www.w3.org/ns/shacl#';
const xsd = 'http://www.w3.org/2001/XMLSchema#';
const owl = 'http://www.w3.org/2002/07/owl#';

/** Classes of a type statement that tell about shapes and properties. */
const telling: ReadonlySet<string> = new Set([
  `${sh}NodeShape`,
  `${sh}PropertyShape`,
  `${rdfs}Class`,
  ...[
    'Class',
    'Restriction',
    'FunctionalProperty',
    'InverseFunctionalProperty',
    'TransitiveProperty',
    'SymmetricProperty',
    'AsymmetricProperty',
    'ReflexiveProperty',
    'IrreflexiveProperty',
  ].map((name) => owl + name),
]);

/** What else is said of classes and properties. The first four become something, or say of what the rest is. */
const relating: ReadonlySet<string> = new Set([
  `${rdfs}domain`,
  `${rdfs}range`,
  `${owl}disjointWith`,
  `${owl}onProperty`,
  `${rdfs}subPropertyOf`,
  ...[
    'inverseOf',
    'equivalentClass',
    'equivalentProperty',
    'propertyDisjointWith',
    'propertyChainAxiom',
    'disjointUnionOf',
    'hasKey',
  ].map((name) => owl + name),
]);
const becoming: ReadonlySet<string> = new Set([...relating].slice(0, 4));

/** Comparisons that SHACL's bounds forbid. */
const beyond: ReadonlyMap<string, readonly [comparison: string, words: string]> = new Map([
  [`${sh}minInclusive`, ['<', 'at least']],
  [`${sh}minExclusive`, ['<=', 'more than']],
  [`${sh}maxInclusive`, ['>', 'at most']],
  [`${sh}maxExclusive`, ['>=', 'less than']],
]);

/** What of SHACL is said of a shape without restricting anything. */
const silent: ReadonlySet<string> = new Set(
  [
    'path',
    'name',
    'description',
    'order',
    'group',
    'message',
    'severity',
    'defaultValue',
    'property',
    'deactivated',
  ].map((name) => sh + name),
);

const targeting: ReadonlySet<string> = new Set(
  ['targetClass', 'targetSubjectsOf', 'targetObjectsOf'].map((name) => sh + name),
);

const dataTypes: ReadonlyMap<string, ArgumentType> = new Map<string, ArgumentType>([
  ...['integer', 'int', 'long', 'short', 'byte', 'nonNegativeInteger', 'positiveInteger'].map(
    (name) => [xsd + name, 'integer'] as const,
  ),
  ...['decimal', 'double', 'float'].map((name) => [xsd + name, 'number'] as const),
  [`${xsd}boolean`, 'boolean'],
  [`${xsd}date`, 'date'],
  [`${xsd}dateTime`, 'instant'],
  [`${xsd}string`, 'text'],
  [`${rdf}langString`, 'text'],
  [`${rdfs}Literal`, 'text'],
]);

/** More statements of shapes are not read, nor lists of values longer than `maxValues`. */
const maxStatements = 100_000;
const maxRestricted = 10_000;
const maxValues = 1000;
/** Longer descriptions are left out. */
const maxDescription = 1000;

/** The items of triples, then those of the shapes among them. */
export async function* withShapes(items: ImportItems): ImportItems {
  const shapes = new Shapes();
  for await (const some of items) {
    for (const item of some) shapes.look(item);
    yield some;
  }
  yield* shapes.items();
}

interface Said {
  readonly object: string;
  readonly line: number;
}

/** What is said of one property of all classes. */
interface Property {
  line: number;
  /** Types of the object, by their JSON. */
  readonly types: Map<string, ArgumentType>;
  key: 'subject' | 'object' | null;
}

/** Those whom a shape restricts: the values of `?s` for which the literal is true. */
interface Target {
  readonly member: Literal;
  readonly name: string;
}

class Shapes {
  /** Objects by subject and predicate. */
  readonly #said = new Map<string, Map<string, Said[]>>();
  #count = 0;
  readonly #properties = new Map<string, Property>();
  /** The first description of each subject. */
  readonly #descriptions = new Map<string, string>();
  /** Property shapes applied to targets, which are as many as the product of both. */
  #restricted = 0;
  /** Line of the first subclass. */
  #subclassLine: number | null = null;
  #items: ImportItem[] = [];

  look({ what, line }: ImportItem): void {
    if (what.kind !== 'fact') return;
    const { predicate, args } = what.fact;
    const [subject = '', object = ''] = args;
    if (predicate === `${rdfs}subClassOf`) this.#subclassLine ??= line;
    if (predicate === `${rdfs}comment` || predicate === `${sh}description`) this.#describe(subject, object);
    const isList = predicate === `${rdf}first` || predicate === `${rdf}rest`;
    const isShape = predicate.startsWith(sh) || relating.has(predicate);
    const isClass = predicate === `${rdf}type` && telling.has(object);
    if (!(isList || isShape || isClass) || ++this.#count > maxStatements) return;
    let known = this.#said.get(subject);
    if (known === undefined) this.#said.set(subject, (known = new Map<string, Said[]>()));
    const said = known.get(predicate);
    if (said === undefined) known.set(predicate, [{ object, line }]);
    else said.push({ object, line });
  }

  #describe(subject: string, text: string): void {
    if (
      this.#descriptions.size < maxStatements &&
      text.length <= maxDescription &&
      !this.#descriptions.has(subject)
    )
      this.#descriptions.set(subject, text);
  }

  /** The declarations and constraints, in the order of the statements, and what has no counterpart. */
  *items(): Generator<ImportItem[]> {
    if (this.#count > maxStatements)
      this.#leaveOut(1, `more than ${maxStatements} statements of shapes and lists: the rest of them`);
    if (this.#subclassLine !== null) this.#concludeSubclasses(this.#subclassLine);
    for (const [subject, known] of this.#said) {
      this.#property(subject, known);
      this.#relate(subject, known);
      this.#shape(subject, known);
      yield this.#taken();
    }
    for (const [name, property] of this.#properties) this.#declare(name, property);
    yield this.#taken();
  }

  #taken(): ImportItem[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }

  /** A rule: the members of a subclass are members of the class. */
  #concludeSubclasses(line: number): void {
    const head = atom(`${rdf}type`, '?x', '?class');
    const body = [atom(`${rdfs}subClassOf`, '?sub', '?class'), atom(`${rdf}type`, '?x', '?sub')];
    const text = renderRule({ head, body });
    const rule = { ...ruleInputSchema.parse({ text }), name: 'members of subclasses' };
    this.#items.push({ line, size: text.length, what: { kind: 'rule', rule, isDefault: true } });
  }

  /** Domain, range and cardinality of a property. */
  #property(name: string, known: ReadonlyMap<string, readonly Said[]>): void {
    for (const { object, line } of known.get(`${rdfs}domain`) ?? []) {
      this.#propertyOf(name, line);
      if (isBlank(object)) this.#leaveOut(line, `the domain of ${name}, which is no named class`);
      else
        this.#constrain(
          line,
          [atom(name, '?s', '?_'), absent(`${rdf}type`, '?s', object)],
          `the subject of ${nameOf(name)} is in the class ${nameOf(object)}`,
        );
    }
    for (const { object, line } of known.get(`${rdfs}range`) ?? []) {
      const type = dataTypes.get(object);
      if (type !== undefined) this.#typeOf(name, type, line);
      else if (object.startsWith(xsd)) this.#leaveOut(line, `the data type ${object} of ${name}`);
      else if (isBlank(object)) this.#leaveOut(line, `the range of ${name}, which is no named class`);
      else this.#classOf(name, object, line, null);
    }
    for (const { object, line } of known.get(`${rdf}type`) ?? []) {
      if (object === `${owl}FunctionalProperty`) this.#keyOf(name, 'subject', line);
      else if (object === `${owl}InverseFunctionalProperty`) this.#keyOf(name, 'object', line);
      else if (object.startsWith(owl) && object.endsWith('Property'))
        this.#leaveOut(line, `that ${name} is an owl:${nameOf(object)}`);
    }
  }

  #keyOf(name: string, key: 'subject' | 'object', line: number): void {
    const property = this.#propertyOf(name, line);
    if (property.key !== null && property.key !== key)
      this.#leaveOut(line, `a second key of ${name}: each of its ${key}s is there once`);
    property.key ??= key;
  }

  /** Disjoint classes, and what OWL says besides. */
  #relate(subject: string, known: ReadonlyMap<string, readonly Said[]>): void {
    for (const { object, line } of known.get(`${owl}disjointWith`) ?? [])
      if (isBlank(subject) || isBlank(object))
        this.#leaveOut(line, `owl:disjointWith of ${subject} with a class without a name`);
      else
        this.#constrain(
          line,
          [atom(`${rdf}type`, '?s', subject), atom(`${rdf}type`, '?s', object)],
          `nothing is both ${nameOf(subject)} and ${nameOf(object)}`,
        );
    for (const [predicate, [said]] of known)
      if (said !== undefined && relating.has(predicate) && !becoming.has(predicate))
        this.#leaveOut(said.line, `${shortened(predicate)} of ${subject}`);
    const restricted = known.get(`${rdf}type`)?.find(({ object }) => object === `${owl}Restriction`);
    if (restricted !== undefined)
      this.#leaveOut(
        restricted.line,
        `an owl:Restriction on ${known.get(`${owl}onProperty`)?.[0]?.object ?? 'no property'}`,
      );
  }

  /** The object of the property is of the class; for a target, that of its members. */
  #classOf(name: string, of: string, line: number, target: Target | null): void {
    this.#typeOf(name, 'entity', line);
    this.#constrain(
      line,
      [...(target === null ? [] : [target.member]), atom(name, '?s', '?o'), absent(`${rdf}type`, '?o', of)],
      `${nameOf(name)}${target === null ? '' : ` of ${target.name}`} is in the class ${nameOf(of)}`,
    );
  }

  #shape(shape: string, known: ReadonlyMap<string, readonly Said[]>): void {
    const targets = this.#targetsOf(shape, known);
    const types = (known.get(`${rdf}type`) ?? []).map(({ object }) => object);
    if (targets.length === 0 && !types.includes(`${sh}NodeShape`)) return;
    const first = [...known.values()][0]?.[0]?.line ?? 1;
    if (isDeactivated(known)) return this.#leaveOut(first, `the shape ${shape}, which is deactivated`);
    if (known.has(`${sh}path`)) {
      for (const target of targets) this.#restrict(target, shape, first);
      return;
    }
    for (const [predicate, said] of known)
      if (predicate.startsWith(sh) && !silent.has(predicate) && !targeting.has(predicate))
        this.#leaveOut(said[0]?.line ?? 1, `${shortened(predicate)} of the shape ${shape}`);
    for (const { object, line } of known.get(`${sh}property`) ?? [])
      for (const target of targets) this.#restrict(target, object, line);
    if (targets.length === 0 && known.has(`${sh}property`))
      this.#leaveOut(first, `the shape ${shape}, which has no target`);
  }

  #targetsOf(shape: string, known: ReadonlyMap<string, readonly Said[]>): Target[] {
    const said = (name: string): string[] => (known.get(name) ?? []).map(({ object }) => object);
    const types = said(`${rdf}type`);
    // A class that is a shape is its own target.
    const isOwn = types.some((type) => type === `${rdfs}Class` || type === `${owl}Class`);
    const restricts = types.includes(`${sh}NodeShape`) || known.has(`${sh}property`);
    const classes = [...said(`${sh}targetClass`), ...(isOwn && restricts ? [shape] : [])];
    return [
      ...classes.map((of) => ({ member: atom(`${rdf}type`, '?s', of), name: `every ${nameOf(of)}` })),
      ...said(`${sh}targetSubjectsOf`).map((name) => ({
        member: atom(name, '?s', '?_'),
        name: `every subject of ${nameOf(name)}`,
      })),
      ...said(`${sh}targetObjectsOf`).map((name) => ({
        member: atom(name, '?_', '?s'),
        name: `every object of ${nameOf(name)}`,
      })),
    ];
  }

  /** What a property shape says of the members of a target. */
  #restrict(target: Target, shape: string, line: number): void {
    if (++this.#restricted > maxRestricted) {
      if (this.#restricted === maxRestricted + 1)
        this.#leaveOut(line, `more than ${maxRestricted} properties of targets: the rest of them`);
      return;
    }
    const known = this.#said.get(shape);
    const path = known?.get(`${sh}path`)?.[0]?.object;
    if (known === undefined || path === undefined || isBlank(path)) {
      this.#leaveOut(line, `a property shape of ${target.name} whose path is no single property`);
      return;
    }
    if (isDeactivated(known))
      return this.#leaveOut(line, `the shape of ${path} of ${target.name}, which is deactivated`);
    this.#propertyOf(path, line);
    const described = this.#descriptions.get(shape);
    if (described !== undefined) this.#describe(path, described);
    for (const [predicate, [said]] of known) {
      const isSaid = predicate.startsWith(sh) && !silent.has(predicate) && !targeting.has(predicate);
      if (said === undefined || !isSaid) continue;
      const { object } = said;
      const type = predicate === `${sh}datatype` ? dataTypes.get(object) : undefined;
      const bound = beyond.get(predicate);
      if (predicate === `${sh}minCount` || predicate === `${sh}maxCount`)
        this.#limit(target, path, predicate === `${sh}minCount`, said);
      else if (type !== undefined) this.#typeOf(path, type, said.line);
      else if (bound !== undefined)
        this.#constrain(
          said.line,
          [target.member, atom(path, '?s', '?o'), atom(bound[0], '?o', object)],
          `${nameOf(path)} of ${target.name} is ${bound[1]} ${object}`,
        );
      else if (predicate === `${sh}in`) this.#valuesOf(path, said);
      else if (predicate === `${sh}class` && !isBlank(object)) this.#classOf(path, object, said.line, target);
      else this.#leaveOut(said.line, `${shortened(predicate)} ${object} of ${path}`);
    }
  }

  #limit({ member, name }: Target, path: string, isLeast: boolean, { object, line }: Said): void {
    const limit = Number(object);
    if (!Number.isSafeInteger(limit) || limit < 0)
      return this.#leaveOut(line, `the count ${object} of ${path}`);
    if (isLeast && limit === 0) return;
    const why = `${name} has at ${isLeast ? 'least' : 'most'} ${limit} ${nameOf(path)}`;
    if (isLeast && limit === 1) return this.#constrain(line, [member, absent(path, '?s', '?_')], why);
    if (!isLeast && limit === 0) return this.#constrain(line, [member, atom(path, '?s', '?_')], why);
    const counted: Literal = {
      aggregate: 'count',
      result: '?n',
      over: ['?o'],
      body: [atom(path, '?s', '?o')],
    };
    const compared = atom(isLeast ? '<' : '>', '?n', String(limit));
    this.#constrain(line, [member, counted, compared], why);
  }

  /** The list of the values that the object may have. */
  #valuesOf(path: string, { object, line }: Said): void {
    const values: string[] = [];
    let node = object;
    while (node !== `${rdf}nil` && values.length <= maxValues) {
      const known = this.#said.get(node);
      const first = known?.get(`${rdf}first`)?.[0]?.object;
      const rest = known?.get(`${rdf}rest`)?.[0]?.object;
      if (first === undefined || rest === undefined) break;
      values.push(first);
      node = rest;
    }
    const isWhole = node === `${rdf}nil` && values.length > 0 && values.length <= maxValues;
    if (isWhole && values.every((value) => constantProblem(value) === null))
      this.#typeOf(path, { oneOf: values }, line);
    else this.#leaveOut(line, `the values of ${path}, which are no list of 1 to ${maxValues}`);
  }

  #propertyOf(name: string, line: number): Property {
    let property = this.#properties.get(name);
    if (property === undefined)
      this.#properties.set(name, (property = { line, types: new Map(), key: null }));
    return property;
  }

  #typeOf(name: string, type: ArgumentType, line: number): void {
    this.#propertyOf(name, line).types.set(JSON.stringify(type), type);
  }

  #declare(name: string, { line, types, key }: Property): void {
    const [type = 'any', another] = types.values();
    if (another !== undefined) this.#leaveOut(line, `the types of ${name}, which differ between shapes`);
    const object = { name: 'object', type: another === undefined ? type : 'any' };
    const declared = {
      description: this.#descriptions.get(name) ?? null,
      arguments: [{ name: 'subject', type: 'entity' }, object],
      key: key === null ? [] : [key],
    };
    const declaration = { name, arity: 2, ...declarationInputSchema.parse(declared) };
    this.#items.push({ line, size: name.length, what: { kind: 'declaration', declaration, isBare: true } });
  }

  #constrain(line: number, body: Literal[], why: string): void {
    const text = renderConstraint(body);
    const constraint = {
      text,
      name: why.length <= 256 ? why : `${why.slice(0, 255).replace(/[\ud800-\udbff]$/, '')}…`,
      description: null,
      mode: 'warn',
      scope: null,
      dryRun: false,
      timeoutMs: 10_000,
    } as const;
    this.#items.push({ line, size: text.length, what: { kind: 'constraint', constraint, isBare: true } });
  }

  #leaveOut(line: number, what: string): void {
    this.#items.push({ line, size: what.length, what: { kind: 'leftOut', message: what } });
  }
}

function atom(predicate: string, ...args: string[]): AtomLiteral {
  return { predicate, args, negated: false, naf: false };
}

function absent(predicate: string, ...args: string[]): AtomLiteral {
  return { ...atom(predicate, ...args), naf: true };
}

function isBlank(node: string): boolean {
  return node.startsWith('_:');
}

function isDeactivated(known: ReadonlyMap<string, readonly Said[]>): boolean {
  return known.get(`${sh}deactivated`)?.[0]?.object === 'true';
}

/** The last part of an IRI, for names that people read. */
function nameOf(iri: string): string {
  return /[^#/:]+$/.exec(iri)?.[0] ?? iri;
}

function shortened(iri: string): string {
  for (const [prefix, name] of [
    [sh, 'sh'],
    [owl, 'owl'],
    [rdfs, 'rdfs'],
  ] as const)
    if (iri.startsWith(prefix)) return `${name}:${iri.slice(prefix.length)}`;
  return iri;
}
