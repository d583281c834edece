/**
 * Generates the reference pages of the documentation: operations and problems from the description of the API, settings
 * from the table of variables, commands from `--help`.
 *
 * Deterministic: the same contract gives the same text. Guarantees beyond single calls are written by hand, in
 * docs/service.md.
 */

/** @typedef {(path: string) => Promise<Record<string, any>>} LoadModule loads a module of the project by its path */
/** @typedef {Record<string, any>} Json */

const notice = '<!-- Written by `npm run docs -- --reference`. -->\n';

/**
 * The pages, by their paths.
 * @param {LoadModule} loadModule
 * @returns {Promise<Record<string, string>>}
 */
export async function referencePages(loadModule) {
  const { openApiDocument } = await loadModule('src/main/http/openapi.ts');
  const { operations } = await loadModule('src/engine/contract/operations.ts');
  const { problems } = await loadModule('src/engine/contract/problems.ts');
  const { describeVariables } = await loadModule('src/main/base/config.ts');
  const { helpText } = await loadModule('src/main/command-line/arguments.ts');
  const document = openApiDocument('');
  /** @type {Map<string, string[]>} */
  const rows = new Map();
  /** @type {Map<string, string[]>} */
  const sections = new Map();
  for (const [name, spec] of Object.entries(operations)) {
    const path = spec.path.replaceAll(/:(\w+)/g, '{$1}');
    const described = document.paths[path][spec.method.toLowerCase()];
    const page = sections.get(spec.tag) ?? [];
    page.push(operationText(name, spec, described, document));
    sections.set(spec.tag, page);
    const link = `[${spec.summary}](${spec.tag}.md#${name.toLowerCase()})`;
    const table = rows.get(spec.tag) ?? [];
    table.push(`| \`${spec.method} ${spec.path}\` | ${link} | ${spec.role} | ${spec.tool?.name ?? ''} |`);
    rows.set(spec.tag, table);
  }
  /** @type {Record<string, string>} */
  const proseOfTag = Object.fromEntries(
    document.tags.map((/** @type {Json} */ { name, description }) => [name, description]),
  );
  const pages = Object.fromEntries(
    [...sections].map(([tag, texts]) => [
      `docs/reference/${tag}.md`,
      `${notice}\n# ${titleOf(tag)}\n\n${proseOfTag[tag]}\n\n${texts.join('\n')}`,
    ]),
  );
  return {
    ...pages,
    'docs/reference/operations.md': operationsPage(document.info.description, rows),
    'docs/reference/problems.md': problemsPage(problems),
    'docs/reference/configuration.md': configurationPage(describeVariables()),
    'docs/reference/command-line.md': commandLinePage(helpText('', '')),
  };
}

/** @param {string} tag */
function titleOf(tag) {
  return tag.charAt(0).toUpperCase() + tag.slice(1);
}

/**
 * @param {string} introduction
 * @param {Map<string, string[]>} rows
 */
function operationsPage(introduction, rows) {
  const tables = [...rows].map(
    ([tag, lines]) =>
      `## ${titleOf(tag)}\n\n| call | what it does | role | tool |\n|---|---|---|---|\n${lines.join('\n')}\n`,
  );
  return `${notice}
# Every operation

${introduction}

\`tool\` is the name by which agents call the operation over MCP. In the lists of fields \`?\` marks what may be absent. The running service has the same description at \`/docs\`, and for
programs at \`/openapi.json\`.

${tables.join('\n')}`;
}

/** @param {Record<string, {status: number, retryStatus?: number, title: string, when: string}>} problems */
function problemsPage(problems) {
  const rows = Object.entries(problems).map(
    ([code, { status, retryStatus, title, when }]) =>
      `| ${retryStatus === undefined ? status : `${retryStatus}, ${status}`} | \`${code}\` | ${title} | ${inCell(when)} |`,
  );
  return `${notice}
# Problems

Every error is \`application/problem+json\` (RFC 9457) with one of these as its \`code\`, and \`urn:corollary:problem:\` with the code as
its \`type\`. [The tour](../http.md#errors) shows some.

| status | code | title | when |
|---:|---|---|---|
${rows.join('\n')}
`;
}

/** @param {string} described variables as `--help` prints them, three lines each */
function configurationPage(described) {
  const lines = described.split('\n');
  const rows = [];
  for (let at = 0; at < lines.length; at += 3) {
    const [name = '', about = '', takes = ''] = lines.slice(at, at + 3).map((line) => line.trim());
    const parts = /^(\w+)(?: \(also (.*)\))?$/.exec(name);
    const values = /^Takes (.*); default: (.*)$/.exec(takes);
    if (parts === null || values === null) throw new Error(`no variable: ${name}`);
    const [, first, also] = parts;
    const [, kind = '', fallback = ''] = values;
    const names = [first, ...(also === undefined ? [] : also.split(', '))].map((each) => `\`${each}\``);
    const takenValues = inCell(kind).replaceAll(/https?:\/\/\w[^\s,]*/g, '`$&`');
    const isValue = !/^(?:off|none)$| /.test(fallback);
    const shown = isValue ? `\`${fallback.replaceAll(',', '`, `')}\`` : inCell(fallback);
    rows.push(`| ${names.join(', ')} | ${inCell(about)} | ${takenValues} | ${shown} |`);
  }
  return `${notice}
# Configuration

The service is configured by environment variables alone. An empty value counts as not set. A value that is not understood
stops the start with exit code 2 and names the variable; of a secret only its length is shown.

| variable | what it sets | takes | default |
|---|---|---|---|
${rows.join('\n')}
`;
}

/** @param {string} help */
function commandLinePage(help) {
  const text = help.slice(help.indexOf('Usage:'), help.indexOf('Environment (an')).trim();
  return `${notice}
# Command line

[The guide](../command-line.md) shows the commands at work. \`--help\` says this, and the [variables](configuration.md):

\`\`\`text
${text}
\`\`\`
`;
}

/**
 * @param {string} name
 * @param {Json} spec of the operations table
 * @param {Json} described the operation in the description of the API
 * @param {Json} document
 */
function operationText(name, spec, described, document) {
  const also = (spec.aliases ?? []).map((/** @type {string} */ path) => `, or \`${path}\``).join('');
  const query = described.parameters.filter((/** @type {Json} */ each) => each.in === 'query');
  const request = contentOf(described.requestBody, document);
  const status = Object.keys(described.responses).find((each) => each.startsWith('2')) ?? '200';
  const answer = contentOf(described.responses[status], document);
  const codes = problemCodes(described, document);
  return [
    `## ${name}\n`,
    `\`${spec.method} ${spec.path}\`${also}: ${spec.summary}.\n`,
    `${described.description}\n`,
    fieldsText(
      'In the query string',
      query.map((/** @type {Json} */ each) => [
        each.name,
        each.schema,
        each.required === true,
        each.description,
      ]),
      document,
    ),
    request === null ? '' : bodyText('Body', request, document),
    answer === null ? '' : bodyText(`Answer, ${status}`, answer, document),
    codes.length === 0 ? '' : `Problems: ${codes.map((code) => `\`${code}\``).join(', ')}.\n`,
  ]
    .filter((text) => text !== '')
    .join('\n');
}

/**
 * The first content of a body or an answer.
 * @param {Json | undefined} body
 * @param {Json} document
 */
function contentOf(body, document) {
  const content = body === undefined ? undefined : resolved(body, document).content;
  const [first] = Object.entries(content ?? {});
  if (first === undefined) return null;
  const [type, { schema, example, examples }] = /** @type {[string, Json]} */ (first);
  const [named] = Object.values(examples ?? {});
  return { type, schema, example: example ?? named?.value };
}

/**
 * @param {string} title
 * @param {{type: string, schema: Json, example: unknown}} content
 * @param {Json} document
 */
function bodyText(title, { type, schema, example }, document) {
  const object = objectOf(schema, document);
  const fields = Object.entries(object?.properties ?? {}).map(
    ([name, property]) =>
      /** @type {const} */ ([name, property, (object?.required ?? []).includes(name), undefined]),
  );
  const isJson = type === 'application/json';
  const shown = typeof example === 'string' || example === undefined ? example : jsonText(example, '');
  return [
    isJson ? fieldsText(title, fields, document) : '',
    shown === undefined
      ? ''
      : `${isJson ? (fields.length === 0 ? `${title}:` : 'For example:') : `${title}, as \`${type}\`:`}\n\n\`\`\`${isJson ? 'json' : 'text'}\n${shown.trimEnd()}\n\`\`\`\n`,
  ]
    .filter((text) => text !== '')
    .join('\n');
}

/**
 * @param {string} title
 * @param {readonly (readonly [name: string, schema: Json, required: boolean, description: string | undefined])[]} fields
 * @param {Json} document
 */
function fieldsText(title, fields, document) {
  if (fields.length === 0) return '';
  const rows = fields.map(([name, schema, isRequired, description]) => {
    const about = description ?? schema.description ?? resolved(schema, document).description ?? '';
    return `| \`${name}\`${isRequired ? '' : '?'} | ${inCell(typeText(schema, document))} | ${inCell(about)} |`;
  });
  return `${title}:\n\n| field | type | meaning |\n|---|---|---|\n${rows.join('\n')}\n`;
}

/**
 * @param {Json} part
 * @param {Json} document
 * @returns {Json}
 */
function resolved(part, document) {
  if (typeof part.$ref !== 'string') return part;
  /** @type {unknown} */
  let found = document;
  for (const word of part.$ref.slice(2).split('/')) found = /** @type {Json} */ (found)[word];
  return resolved(/** @type {Json} */ (found), document);
}

/**
 * The object that a schema requires; of several the first.
 * @param {Json} schema
 * @param {Json} document
 * @returns {Json | null}
 */
function objectOf(schema, document) {
  const { properties, anyOf, oneOf, ...rest } = resolved(schema, document);
  if (properties !== undefined) return { ...rest, properties };
  for (const each of anyOf ?? oneOf ?? []) {
    const object = objectOf(each, document);
    if (object !== null) return object;
  }
  return null;
}

/**
 * A type in a few words: deeper parts are shown in the example, and completely at `/docs`.
 * @param {Json} schema
 * @param {Json} document
 * @returns {string}
 */
function typeText(schema, document) {
  const { type, enum: values, const: value, anyOf, oneOf, items } = resolved(schema, document);
  if (value !== undefined) return `\`${JSON.stringify(value)}\``;
  if (values !== undefined)
    return values.map((/** @type {unknown} */ each) => `\`${JSON.stringify(each)}\``).join(' or ');
  const several = anyOf ?? oneOf;
  if (several !== undefined)
    return [...new Set(several.map((/** @type {Json} */ each) => typeText(each, document)))].join(' or ');
  if (Array.isArray(type)) return type.join(' or ');
  if (type === 'array') {
    const of = typeText(items ?? {}, document);
    return of === 'anything' ? 'list' : `list of ${of}`;
  }
  return type ?? 'anything';
}

/**
 * @param {Json} described
 * @param {Json} document
 * @returns {string[]}
 */
function problemCodes(described, document) {
  return Object.entries(described.responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([, response]) => [
      .../** @type {string} */ (resolved(response, document).description).matchAll(/^`(\w+)`/gm),
    ])
    .map(([, code = '']) => code);
}

/**
 * A value as JSON, on one line if it fits.
 * @param {unknown} value
 * @param {string} indent
 * @returns {string}
 */
function jsonText(value, indent) {
  const short = JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, ' ');
  if (typeof value !== 'object' || value === null || indent.length + short.length <= 100) return short;
  const deeper = `${indent}  `;
  const isList = Array.isArray(value);
  const lines = Object.entries(value).map(
    ([name, inner]) => `${deeper}${isList ? '' : `${JSON.stringify(name)}: `}${jsonText(inner, deeper)}`,
  );
  return `${isList ? '[' : '{'}\n${lines.join(',\n')}\n${indent}${isList ? ']' : '}'}`;
}

/** @param {string} text */
function inCell(text) {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ').replaceAll('<', '&lt;');
}
