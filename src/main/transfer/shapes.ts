/**
 * RDFS and SHACL as declarations and constraints: what a class model in an import of triples says about its properties.
 *
 * The triples are facts as ever; what is made of them comes after the last one. A property is a predicate with a subject and an
 * object. Domains, ranges and SHACL's counts, classes and values become constraints that warn, in the closed world of what
 * is stored; data types and values become the type of the object. RDFS itself would conclude the classes instead.
 */
import { declarationInputSchema } from '../../engine/contract/declarations.ts';
import type { ArgumentType } from '../../engine/contract/declarations.ts';
import { constantProblem, type Literal } from '../../engine/contract/language.ts';
import { renderConstraint } from '../../engine/index.ts';
import type { ImportItem, ImportItems } from './items.ts';

const rdf = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';
const rdfs = 'http://www.w3.org/2000/01/rdf-schema#';
const sh = 'http://www.w3.org/ns/shacl#';
const xsd = 'http://www.w3.org/2001/XMLSchema#';
const owl = 'http://www.w3.org/2002/07/owl#';

/** Classes of a type statement that tell about shapes. */
const telling: ReadonlySet<string> = new Set([
  `${sh}NodeShape`,
  `${sh}PropertyShape`,
  `${rdfs}Class`,
  `${owl}Class`,
]);

/** What of SHACL is said of a shape without restricting anything. */
const silent: ReadonlySet<string> = new Set(
  ['path', 'name', 'description', 'order', 'group', 'message', 'severity', 'defaultValue', 'property'].map(
    (name) => sh + name,
  ),
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
const maxValues = 1000;

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
}

class Shapes {
  /** Objects by subject and predicate. */
  readonly #said = new Map<string, Map<string, Said[]>>();
  #count = 0;
  readonly #properties = new Map<string, Property>();
  #items: ImportItem[] = [];

  look({ what, line }: ImportItem): void {
    if (what.kind !== 'fact') return;
    const { predicate, args } = what.fact;
    const [subject = '', object = ''] = args;
    const isList = predicate === `${rdf}first` || predicate === `${rdf}rest`;
    const isShape = predicate.startsWith(sh) || predicate === `${rdfs}domain` || predicate === `${rdfs}range`;
    const isClass = predicate === `${rdf}type` && telling.has(object);
    if (!(isList || isShape || isClass) || ++this.#count > maxStatements) return;
    const known = this.#said.get(subject) ?? new Map<string, Said[]>();
    this.#said.set(subject, known);
    known.set(predicate, [...(known.get(predicate) ?? []), { object, line }]);
  }

  /** The declarations and constraints, in the order of the statements, and what has no counterpart. */
  *items(): Generator<ImportItem[]> {
    if (this.#count > maxStatements)
      this.#leaveOut(1, `more than ${maxStatements} statements of shapes and lists: the rest of them`);
    for (const [subject, known] of this.#said) {
      this.#property(subject, known);
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

  /** Domain and range of a property. */
  #property(name: string, known: ReadonlyMap<string, readonly Said[]>): void {
    for (const { object, line } of known.get(`${rdfs}domain`) ?? []) {
      this.#propertyOf(name, line);
      this.#constrain(
        line,
        [atom(name, '?s', '?_'), absent(`${rdf}type`, '?s', object)],
        `the subject of ${name} is a ${object}`,
      );
    }
    for (const { object, line } of known.get(`${rdfs}range`) ?? []) {
      const type = dataTypes.get(object);
      if (type !== undefined) this.#typeOf(name, type, line);
      else if (object.startsWith(xsd)) this.#leaveOut(line, `the data type ${object} of ${name}`);
      else this.#classOf(name, object, line, []);
    }
  }

  /** The object of the property is of the class, if these literals hold of its subject. */
  #classOf(name: string, of: string, line: number, also: readonly Literal[]): void {
    this.#typeOf(name, 'entity', line);
    this.#constrain(
      line,
      [...also, atom(name, '?s', '?o'), absent(`${rdf}type`, '?o', of)],
      `the object of ${name} is a ${of}`,
    );
  }

  #shape(shape: string, known: ReadonlyMap<string, readonly Said[]>): void {
    const targets = (known.get(`${sh}targetClass`) ?? []).map(({ object }) => object);
    const types = (known.get(`${rdf}type`) ?? []).map(({ object }) => object);
    // A class that is a shape is its own target.
    const isOwn = types.some((type) => type === `${rdfs}Class` || type === `${owl}Class`);
    const isShape = types.includes(`${sh}NodeShape`) || targets.length > 0;
    if (!isShape) return;
    const classes = isOwn ? [...targets, shape] : targets;
    for (const [predicate, said] of known)
      if (predicate.startsWith(sh) && !silent.has(predicate) && predicate !== `${sh}targetClass`)
        this.#leaveOut(said[0]?.line ?? 1, `${shortened(predicate)} of the shape ${shape}`);
    for (const { object, line } of known.get(`${sh}property`) ?? [])
      for (const of of classes) this.#restrict(of, object, line);
    if (classes.length === 0 && known.has(`${sh}property`))
      this.#leaveOut(
        known.get(`${sh}property`)?.[0]?.line ?? 1,
        `the shape ${shape}, which has no target class`,
      );
  }

  /** What a property shape says of the members of a class. */
  #restrict(of: string, shape: string, line: number): void {
    const known = this.#said.get(shape);
    const path = known?.get(`${sh}path`)?.[0]?.object;
    if (known === undefined || path === undefined || path.startsWith('_:')) {
      this.#leaveOut(line, `a property shape of ${of} whose path is no single property`);
      return;
    }
    this.#propertyOf(path, line);
    const member = atom(`${rdf}type`, '?s', of);
    for (const [predicate, [said]] of known) {
      if (said === undefined || !predicate.startsWith(sh) || silent.has(predicate)) continue;
      const { object } = said;
      const type = predicate === `${sh}datatype` ? dataTypes.get(object) : undefined;
      if (predicate === `${sh}minCount` || predicate === `${sh}maxCount`)
        this.#limit(of, path, predicate === `${sh}minCount`, said);
      else if (type !== undefined) this.#typeOf(path, type, said.line);
      else if (predicate === `${sh}in`) this.#valuesOf(path, said);
      else if (predicate === `${sh}class`) this.#classOf(path, object, said.line, [member]);
      else this.#leaveOut(said.line, `${shortened(predicate)} ${object} of ${path}`);
    }
  }

  #limit(of: string, path: string, isLeast: boolean, { object, line }: Said): void {
    const limit = Number(object);
    if (!Number.isSafeInteger(limit) || limit < 0)
      return this.#leaveOut(line, `the count ${object} of ${path}`);
    if (isLeast && limit === 0) return;
    const member = atom(`${rdf}type`, '?s', of);
    const why = `a ${of} has at ${isLeast ? 'least' : 'most'} ${limit} of ${path}`;
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
    if (property === undefined) this.#properties.set(name, (property = { line, types: new Map() }));
    return property;
  }

  #typeOf(name: string, type: ArgumentType, line: number): void {
    this.#propertyOf(name, line).types.set(JSON.stringify(type), type);
  }

  #declare(name: string, { line, types }: Property): void {
    const [type = 'any', another] = types.values();
    if (another !== undefined) this.#leaveOut(line, `the types of ${name}, which differ between shapes`);
    const object = { name: 'object', type: another === undefined ? type : 'any' };
    const declared = { arguments: [{ name: 'subject', type: 'entity' }, object] };
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

function atom(predicate: string, ...args: string[]): Literal & { naf: boolean } {
  return { predicate, args, negated: false, naf: false };
}

function absent(predicate: string, ...args: string[]): Literal {
  return { ...atom(predicate, ...args), naf: true };
}

function shortened(iri: string): string {
  return iri.startsWith(sh) ? `sh:${iri.slice(sh.length)}` : iri;
}
