/**
 * Generates TypeScript types from schemas by their JSON Schema, so that readers need no library of schemas.
 *
 * A named schema is declared once and referred to by its name, unless it is no object: then its text is used in place.
 * One that differs between input and output becomes two types, the first with the suffix `Input`. Bounds and patterns
 * are left to the service, which checks them.
 */

/** @typedef {'input' | 'output'} Direction */
/** @typedef {Record<string, any>} JsonSchema */
/** @typedef {(schema: object, direction: Direction, names: ReadonlyMap<unknown, string>) => JsonSchema} JsonSchemaOf */

const prefix = '#/$defs/';

export class Types {
  /** @type {Record<Direction, Map<string, JsonSchema>>} */
  #definitions = { input: new Map(), output: new Map() };
  /** @type {Set<string>} */
  #differing = new Set();
  #names;
  #jsonSchemaOf;

  /**
   * @param {ReadonlyMap<unknown, string>} names of schemas
   * @param {JsonSchemaOf} jsonSchemaOf
   * @param {readonly (readonly [schema: object, direction: Direction])[]} schemas all that will be requested
   */
  constructor(names, jsonSchemaOf, schemas) {
    this.#names = names;
    this.#jsonSchemaOf = jsonSchemaOf;
    for (const [schema, direction] of schemas) {
      for (const [name, definition] of Object.entries(this.#read(schema, direction).$defs ?? {}))
        if (!isAnonymous(name)) this.#definitions[direction].set(name, definition);
        else if (!isAnyJson(definition))
          throw new Error(`a recursive schema needs a name: ${JSON.stringify(definition)}`);
    }
    // A schema that contains one that differs also differs: repeat until nothing new is found.
    for (let before = -1; before < this.#differing.size; ) {
      before = this.#differing.size;
      for (const [name, definition] of this.#definitions.input) {
        const other = this.#definitions.output.get(name);
        if (other !== undefined && this.#text(definition, 'input') !== this.#text(other, 'output'))
          this.#differing.add(name);
      }
    }
  }

  /**
   * A type for the values that match the schema.
   * @param {object} schema
   * @param {Direction} direction
   */
  of(schema, direction) {
    return this.#text(this.#read(schema, direction), direction);
  }

  /**
   * A type for the fields of a query string, where numbers, flags and lists are accepted as such.
   * @param {object} schema
   * @param {readonly string[]} lists fields that may be repeated
   */
  ofQuery(schema, lists) {
    const read = this.#resolved(this.#read(schema, 'input'), 'input');
    const properties = Object.entries(/** @type {JsonSchema} */ (read.properties)).map(([name, property]) => [
      name,
      lists.includes(name)
        ? {
            description: property.description,
            anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }],
          }
        : asItIs(property, (reference) => this.#resolved(reference, 'input')),
    ]);
    return this.#text({ ...read, properties: Object.fromEntries(properties) }, 'input');
  }

  /** The declarations of all named types, by name. */
  declarations() {
    /** @type {Map<string, string>} */
    const declared = new Map();
    for (const direction of /** @type {const} */ (['input', 'output']))
      for (const [name, definition] of this.#definitions[direction]) {
        const text = this.#text(definition, direction);
        if (!isShort(text))
          declared.set(
            this.#nameOf(name, direction),
            `${comment(definition, '')}export type ${this.#nameOf(name, direction)} = ${text};\n`,
          );
      }
    return [...declared]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([, declaration]) => declaration);
  }

  /**
   * @param {object} schema
   * @param {Direction} direction
   */
  #read(schema, direction) {
    return this.#jsonSchemaOf(schema, direction, this.#names);
  }

  /**
   * @param {JsonSchema} schema
   * @param {Direction} direction
   * @returns {JsonSchema}
   */
  #resolved(schema, direction) {
    if (schema.$ref === undefined) return schema;
    const definition = this.#definitions[direction].get(schema.$ref.slice(prefix.length));
    if (definition === undefined) throw new Error(`${schema.$ref} is not one of the named schemas`);
    return this.#resolved(definition, direction);
  }

  /**
   * @param {string} name
   * @param {Direction} direction
   */
  #nameOf(name, direction) {
    return direction === 'input' && this.#differing.has(name) ? `${name}Input` : name;
  }

  /**
   * @param {JsonSchema} schema
   * @param {Direction} direction
   * @returns {string}
   */
  #text(schema, direction) {
    if (schema.$ref !== undefined) {
      const name = schema.$ref.slice(prefix.length);
      if (isAnonymous(name)) return 'unknown';
      const target = this.#definitions[direction].get(name);
      // While definitions are still being read, every name is its own type.
      const text =
        target === undefined || target.properties !== undefined || isOfItself(target, schema.$ref)
          ? null
          : this.#text(target, direction);
      return text !== null && isShort(text) ? text : this.#nameOf(name, direction);
    }
    if ('const' in schema) return JSON.stringify(schema.const);
    if (schema.enum !== undefined) return union(schema.enum);
    const several = schema.anyOf ?? schema.oneOf;
    if (several !== undefined) {
      const texts = several.map((/** @type {JsonSchema} */ each) => this.#text(each, direction));
      // Beside arbitrary text a single literal adds nothing.
      const isText = (/** @type {string} */ text) => /^"[^"]*"(?: \| "[^"]*")*$/.test(text);
      const kept = texts.includes('string')
        ? texts.filter((/** @type {string} */ text) => !isText(text))
        : texts;
      return [...new Set(kept)].join(' | ');
    }
    if (schema.allOf !== undefined)
      return schema.allOf.map((/** @type {JsonSchema} */ each) => this.#text(each, direction)).join(' & ');
    if (Array.isArray(schema.type))
      return schema.type
        .map((/** @type {string} */ type) => this.#text({ ...schema, type }, direction))
        .join(' | ');
    switch (schema.type) {
      case 'object':
        return this.#object(schema, direction);
      case 'array': {
        const items = this.#text(schema.items ?? {}, direction);
        // The formatter takes the parentheses away that are not needed.
        return /^\w+$/.test(items) ? `${items}[]` : `(${items})[]`;
      }
      case 'integer':
        return 'number';
      case 'string':
      case 'number':
      case 'boolean':
      case 'null':
        return schema.type;
      case undefined:
        return 'unknown';
      default:
        throw new Error(`no type is known for ${JSON.stringify(schema)}`);
    }
  }

  /**
   * @param {JsonSchema} schema
   * @param {Direction} direction
   */
  #object({ properties = {}, required = [], additionalProperties }, direction) {
    const fields = Object.entries(/** @type {Record<string, JsonSchema>} */ (properties)).map(
      ([name, property]) => {
        const said = { ...this.#saidOf(property, direction), ...property };
        const isRequired = required.includes(name);
        const orUndefined = isRequired ? '' : ' | undefined';
        return `${comment(said, '  ')}${name}${isRequired ? '' : '?'}: ${this.#text(property, direction)}${orUndefined};`;
      },
    );
    if (typeof additionalProperties === 'object') {
      const type = this.#text(additionalProperties, direction);
      if (fields.length === 0) return `Record<string, ${type}>`;
      fields.push(`[member: string]: ${type};`);
    }
    return fields.length === 0 ? 'Record<string, never>' : `{\n${fields.join('\n')}\n}`;
  }

  /**
   * The fields of a reference's target, if they are not shown beside the target.
   * @param {JsonSchema} schema
   * @param {Direction} direction
   * @returns {JsonSchema}
   */
  #saidOf(schema, direction) {
    if (
      schema.$ref === undefined ||
      this.#text(schema, direction) === this.#nameOf(schema.$ref.slice(prefix.length), direction)
    )
      return {};
    const { description, default: fallback } = this.#resolved(schema, direction);
    return {
      ...(description === undefined ? {} : { description }),
      ...(fallback === undefined ? {} : { default: fallback }),
    };
  }
}

/**
 * A union of literals.
 * @param {readonly unknown[]} values
 */
export function union(values) {
  return values.map((value) => JSON.stringify(value)).join(' | ');
}

/** @param {string} name of a definition invented by the generator, which is reused for others elsewhere */
function isAnonymous(name) {
  return name.startsWith('__');
}

/** @param {JsonSchema} definition */
function isAnyJson({ anyOf = [] }) {
  const types = anyOf.map((/** @type {JsonSchema} */ { type }) => type);
  return types.join() === 'string,number,boolean,null,array,object';
}

/** @param {string} text of a type that needs no name */
function isShort(text) {
  return !text.includes('{') && text.length < 60;
}

/**
 * @param {JsonSchema} schema
 * @param {string} reference to it
 */
function isOfItself(schema, reference) {
  return JSON.stringify(schema).includes(`"${reference}"`);
}

/**
 * @param {JsonSchema} schema
 * @param {string} indent
 */
function comment({ description, default: fallback }, indent) {
  const words = [
    ...(description === undefined ? [] : [`${description}.`]),
    ...(fallback === undefined ? [] : [`Default: ${JSON.stringify(fallback)}.`]),
  ].join(' ');
  return words === '' ? '' : `${indent}/** ${words.replaceAll('*/', '* /')} */\n${indent}`;
}

/**
 * A parameter of a query string as a value: a number if it is written in digits, a boolean if it is a flag.
 * @param {JsonSchema} schema
 * @param {(schema: JsonSchema) => JsonSchema} resolve
 * @returns {JsonSchema}
 */
function asItIs(schema, resolve) {
  const inside = resolve(schema);
  const several = inside.anyOf;
  const { description = inside.description, default: fallback = inside.default } = schema;
  const said = {
    ...(description === undefined ? {} : { description }),
    ...(fallback === undefined ? {} : { default: fallback }),
  };
  if (several !== undefined)
    return { ...said, anyOf: several.map((/** @type {JsonSchema} */ each) => asItIs(each, resolve)) };
  const types = [inside.type].flat();
  const value =
    inside.enum !== undefined &&
    inside.enum.filter((/** @type {unknown} */ each) => each !== null).join() === 'true,false'
      ? 'boolean'
      : inside.pattern?.startsWith('^\\d') === true
        ? 'number'
        : null;
  if (value === null) return { ...inside, ...said };
  return { ...said, anyOf: [{ type: value }, ...(types.includes('null') ? [{ type: 'null' }] : [])] };
}
