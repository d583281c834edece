/**
 * For tests: the description of the API, for checking answers of the service against it.
 *
 * The schemas are those of the document and nothing else, checked by a validator of JSON Schema 2020-12 in strict mode.
 * An answer that the document does not describe is an error, and so is a member of a problem that it does not name,
 * although the schema of problems is open.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { assert, present } from '../../../engine/index.ts';

type Json = Readonly<Record<string, unknown>>;

export interface DescribedParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: Json;
  readonly example?: unknown;
}

export interface DescribedContent {
  readonly schema?: Json;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
  readonly 'x-line'?: Json;
  readonly 'x-event-data'?: Json;
}

export interface DescribedResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Json>>;
  readonly content?: Readonly<Record<string, DescribedContent>>;
}

export interface DescribedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security?: readonly Json[];
  readonly parameters?: readonly Json[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, DescribedContent>>;
  };
  readonly responses: Readonly<Record<string, Json>>;
}

export interface OpenApiDocument {
  readonly openapi: string;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Json>>>>;
}

/** An operation at one of its addresses. */
export interface Place {
  readonly method: string;
  /** As the document writes it: `/facts/{id}`. */
  readonly path: string;
  readonly operation: DescribedOperation;
}

/** The answer to a call. */
export interface Came {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const schemasId = 'http://described.test/schemas';

export class DescribedApi {
  readonly document: OpenApiDocument;
  readonly #ajv = new Ajv2020({
    strict: true,
    allowUnionTypes: true,
    inlineRefs: false,
    code: { optimize: false },
  });
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(document: OpenApiDocument) {
    this.document = document;
    const $defs = pointed(document.components['schemas']) as Json;
    this.#ajv.addSchema({ $id: schemasId, $defs });
  }

  places(): Place[] {
    return Object.entries(this.document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    );
  }

  /** The target of `$ref`, or the part itself if it is no reference. */
  resolve<Part>(part: Json): Part {
    const { $ref } = part;
    if (typeof $ref !== 'string') return part as Part;
    const [, section = '', name = ''] = /^#\/components\/(\w+)\/(.+)$/.exec($ref) ?? [];
    return present(this.document.components[section]?.[name], `${$ref} does not exist`) as Part;
  }

  parametersOf({ parameters = [] }: DescribedOperation): DescribedParameter[] {
    return parameters.map((parameter) => this.resolve<DescribedParameter>(parameter));
  }

  responseOf({ responses }: DescribedOperation, status: number): DescribedResponse | null {
    const response = responses[String(status)];
    return response === undefined ? null : this.resolve<DescribedResponse>(response);
  }

  /** The errors of the value by the schema, which may refer to those of the document; empty if there are none. */
  complaints(schema: Json, value: unknown): string[] {
    const key = JSON.stringify(schema);
    const validate = this.#validators.get(key) ?? this.#ajv.compile(pointed(schema) as Json);
    this.#validators.set(key, validate);
    if (validate(value) === true) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath}: ${message} ${JSON.stringify(params)}`,
    );
  }

  /** The errors of an answer of the operation; empty if it is as described. */
  complaintsOf(operation: DescribedOperation, came: Came): string[] {
    const response = this.responseOf(operation, came.status);
    if (response === null) return [`the status ${came.status} is not described: ${came.text}`];
    const type = (came.headers.get('content-type') ?? '').split(';')[0] ?? '';
    const content = response.content?.[type];
    if (content === undefined) return [`the media type ${type} is not described for ${came.status}`];
    return [
      ...this.#headerComplaints(response, came.headers),
      ...this.#bodyComplaints(type, content, came.text),
    ];
  }

  #headerComplaints({ headers = {} }: DescribedResponse, came: Headers): string[] {
    return Object.entries(headers).flatMap(([name, header]) => {
      const { required, schema } = this.resolve<{ required?: boolean; schema: Json }>(header);
      const value = came.get(name);
      if (value === null) return required === true ? [`the header ${name} is missing`] : [];
      return this.complaints(schema, value).map((complaint) => `${name} ${value}${complaint}`);
    });
  }

  #bodyComplaints(type: string, content: DescribedContent, text: string): string[] {
    const { schema, 'x-line': line, 'x-event-data': event } = content;
    if (schema === undefined) return ['the content has no schema'];
    if (line !== undefined)
      return text
        .split('\n')
        .filter((each) => each !== '')
        .flatMap((each) => this.complaints(line, JSON.parse(each)));
    if (event !== undefined)
      return [...text.matchAll(/^data: (.*)$/gm)].flatMap(([, data = '']) =>
        this.complaints(event, JSON.parse(data)),
      );
    if (!/[/+]json$/.test(type)) return this.complaints(schema, text);
    const value: unknown = JSON.parse(text);
    return [...this.complaints(schema, value), ...(type.includes('problem') ? this.#unnamed(value) : [])];
  }

  #unnamed(problem: unknown): string[] {
    assert(typeof problem === 'object' && problem !== null, 'a problem must be an object');
    const schema = this.resolve<{ readonly properties: Json }>({ $ref: '#/components/schemas/Problem' });
    return Object.keys(problem)
      .filter((name) => !(name in schema.properties))
      .map((name) => `the member ${name} of a problem is not described`);
  }
}

/** References to the document's schemas, rewritten to where the validator has them. */
function pointed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pointed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) =>
      key === '$ref' && typeof inner === 'string'
        ? [key, inner.replace('#/components/schemas/', `${schemasId}#/$defs/`)]
        : [key, pointed(inner)],
    ),
  );
}
