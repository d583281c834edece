import { parseSync } from 'vite';

/**
 * Finds the texts of the workbench in its source, and puts a look-up in their place.
 *
 * The source keeps its English: `<p>{count} facts left</p>`. At build time every text becomes the key of a look-up
 * in the language that the user has chosen, with places for what is interpolated: `{0} facts left`. English needs
 * no file, since a key that no language has is its own text.
 *
 * A text is: what stands between tags; a string that is the value of a child, of an attribute or of a property that
 * names a text (`textNames`); and any other string that reads as prose (`isProse`), unless it is an import, a type, a
 * property's name, a comparison, a class or an argument of a call that takes no text (`wordless`).
 */

/**
 * @typedef {{type: string, start: number, end: number, [key: string]: any}} Node
 * @typedef {{start: number, end: number, text: string}} Edit replaces start up to end; edits do not overlap
 * @typedef {{messages: string[], code: string, compared: string[]}} Transformed messages: in the order of the source, plurals
 *   as `one|many`. compared: strings that read as texts and are compared, or are a type, in the same file; they are left as they
 *   are, and so stay English: the author has to part what is compared from its words.
 */

/** Attributes and properties whose strings are texts, of one word also. */
const textNames = new Set(
  `title label placeholder description hint text message detail heading summary caption empty note question answer
  alt subtitle tooltip confirm action actionLabel confirmLabel cancelLabel what verb noun unit legend
  aria-label aria-description aria-roledescription aria-valuetext leftLabel rightLabel nothingFound emptyText done`.split(
    /\s+/,
  ),
);

/** Attributes and properties whose strings are never texts. */
const codeNames = new Set(
  `className style key id type kind role href src to path search params method operation icon size variant color
  fill stroke d transform viewBox points code language accept autoComplete pattern rel data-testid body query
  gridTemplateColumns gridArea background boxShadow font fontFamily transition filter mask width height
  marginTop fontWeight surface strokeDasharray preserveAspectRatio sizes media content`.split(/\s+/),
);

/** Functions whose string arguments are not texts. */
const wordless = new Set(
  `querySelector querySelectorAll matchMedia closest addEventListener removeEventListener getItem setItem removeItem
  setProperty createElement createElementNS setAttribute getAttribute matches require fetch split join RegExp
  includes startsWith endsWith indexOf has assert test defineTheme defineRule clsx literal oneOf`.split(
    /\s+/,
  ),
);

const prose = /\p{L}{2,}[,:;.]?\s+(?:\p{L}|\{\d)|\}[,:]? \p{Ll}{2,}|^\p{Lu}\p{Ll}+[.…:!?]*$/u;
const notProse = /:-|=>|\(\{\d+\}\)|^[a-z]+-[a-z]+ |[<>]\w|^https?:|^M\d|\bvar\(|\bcalc\(|^\/|;\s|px\b|#\{/;

/** Names of keys, formats and protocols, and statements of the language: the same in every language. */
const sameEverywhere =
  /^(?:Enter|Escape|Backspace|Home|End|Tab|Ctrl|Mod|Arrows|CSV|TSV|JSON|NDJSON|N-Triples|Markdown|SVG|PNG|HTTP|MCP|SSE|curl|p\d+|txt|Corollary|[A-Z_]{6,})$|^[-!]?\p{L}\w*\([^)]*\)(?:$|\.$|\.\n| :- )|^!- |^system-ui/u;

/** @param {string} text */
const hasWords = (text) => /\p{L}/u.test(text) && !sameEverywhere.test(text);

/** @param {string} text */
const isProse = (text) => prose.test(text) && !notProse.test(text);

/**
 * Returns the source with look-ups in place of its texts, and the texts.
 * @param {string} code
 * @param {string} path of the file: its ending says whether it has JSX
 * @param {string} from the module of the look-ups, as an import says it
 * @returns {Transformed}
 */
export function transformTexts(code, path, from) {
  const { program, errors } = parseSync(path, code);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const walk = new Walk(comparedIn(program));
  walk.visit(program, { wants: 'prose', parent: null });
  const { messages, compared } = walk;
  if (walk.edits.length === 0) return { messages, compared, code };
  // Last, so that it changes nothing in the order in which modules run. No name of the source begins with a dollar sign.
  const imported = `\nimport { message as $text, richMessage as $nodes } from ${JSON.stringify(from)};\n`;
  return { messages, compared, code: edited(code, walk.edits) + imported };
}

/**
 * @param {string} code
 * @param {Edit[]} edits
 */
function edited(code, edits) {
  let result = '';
  let at = 0;
  for (const edit of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    if (edit.start < at)
      throw new Error(`two texts overlap at ${edit.start}: ${code.slice(edit.start, edit.end)}`);
    result += code.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return result + code.slice(at);
}

/** @typedef {'text' | 'prose' | 'nothing'} Wants text: every string here is one; prose: where it reads as such */

class Walk {
  /** @type {string[]} */
  messages = [];
  /** @type {Edit[]} */
  edits = [];
  /** @type {string[]} */
  compared = [];
  #kinds;

  /** @param {ReadonlySet<string>} kinds strings that are compared, or are a type */
  constructor(kinds) {
    this.#kinds = kinds;
  }

  /**
   * @param {Node} node
   * @param {{wants: Wants, parent: Node | null}} place
   * @returns {void}
   */
  visit(node, { wants, parent }) {
    switch (node.type) {
      case 'ImportDeclaration':
      case 'ExportAllDeclaration':
      case 'ImportExpression':
      case 'TSTypeAliasDeclaration':
      case 'TSInterfaceDeclaration':
      case 'TSTypeAnnotation':
      case 'TSTypeParameterInstantiation':
      case 'TaggedTemplateExpression':
        return;
      case 'ExportNamedDeclaration':
        if (node.declaration) this.visit(node.declaration, { wants, parent: node });
        return;
      case 'JSXElement':
      case 'JSXFragment':
        return this.#element(node);
      case 'JSXAttribute':
        return this.#attribute(node);
      case 'Property':
        return this.#property(node, wants);
      case 'CallExpression':
      case 'NewExpression':
        return this.#call(node, wants);
      case 'Literal':
        if (typeof node.value === 'string' && parent?.type !== 'ExpressionStatement')
          this.#literal(node, wants);
        return;
      case 'TemplateLiteral':
        return this.#template(node, wants);
    }
    for (const [child, inner] of innerOf(node, wants)) this.visit(child, { wants: inner, parent: node });
  }

  /**
   * @param {string} text
   * @returns {string} the text as a literal
   */
  #found(text) {
    this.messages.push(text);
    return JSON.stringify(text);
  }

  /**
   * @param {string} one
   * @param {string} [many]
   */
  #plural(one, many = `${one}s`) {
    this.messages.push(`${one}|${many}`);
  }

  /**
   * @param {Node} node
   * @param {Wants} wants
   */
  #literal(node, wants) {
    const text = node['value'];
    if (wants === 'nothing' || !hasWords(text)) return;
    if (wants === 'prose' && !isProse(text)) return;
    if (wants === 'prose' && this.#kinds.has(text)) {
      this.compared.push(text);
      return;
    }
    this.edits.push({ start: node.start, end: node.end, text: `$text(${this.#found(text)})` });
  }

  /**
   * @param {Node} node
   * @param {Wants} wants
   */
  #template(node, wants) {
    const pieces = node['quasis'].map((/** @type {Node} */ quasi) => quasi['value'].cooked);
    const whole = joined(pieces);
    const isText = hasWords(pieces.join('')) && (wants === 'text' || (wants === 'prose' && isProse(whole)));
    if (isText) {
      const values = node['expressions'];
      let opening = `$text(${this.#found(whole)}, [`;
      let at = node.start;
      for (const value of values) {
        this.edits.push({ start: at, end: value.start, text: `${opening}(` });
        at = value.end;
        opening = '), ';
      }
      this.edits.push({ start: at, end: node.end, text: values.length === 0 ? `${opening}])` : ')])' });
    }
    const inner = isText ? 'text' : wants === 'nothing' ? 'nothing' : 'prose';
    for (const expression of node['expressions']) this.visit(expression, { wants: inner, parent: node });
  }

  /**
   * @param {Node} node
   * @returns {void}
   */
  #attribute(node) {
    const name = node['name'].type === 'JSXIdentifier' ? node['name'].name : '';
    const value = node['value'];
    // A noun for `formatAmount`, which looks it up itself.
    if (name === 'one' && value?.type === 'Literal') return this.#plural(value.value);
    if (value === null || codeNames.has(name)) {
      if (value?.type === 'JSXExpressionContainer')
        this.visit(value.expression, { wants: 'nothing', parent: node });
      return;
    }
    /** @type {Wants} */
    const wants = textNames.has(name) ? 'text' : 'prose';
    if (value.type !== 'Literal') return this.visit(value, { wants, parent: node });
    const text = unescaped(value.value);
    if (!hasWords(text) || (wants === 'prose' && !isProse(text))) return;
    this.edits.push({ start: value.start, end: value.end, text: `{$text(${this.#found(text)})}` });
  }

  /**
   * @param {Node} node
   * @param {Wants} wants
   */
  #property(node, wants) {
    const name = node['computed'] ? '' : (node['key'].name ?? node['key'].value);
    if (node['computed']) this.visit(node['key'], { wants: 'nothing', parent: node });
    /** @type {Wants} */
    const inner =
      codeNames.has(name) || wants === 'nothing' ? 'nothing' : textNames.has(name) ? 'text' : 'prose';
    this.visit(node['value'], { wants: inner, parent: node });
  }

  /**
   * @param {Node} node
   * @param {Wants} wants
   */
  #call(node, wants) {
    const callee = node['callee'];
    const name = callee.name ?? callee.property?.name ?? '';
    this.visit(callee, { wants: wants === 'nothing' ? 'nothing' : 'prose', parent: node });
    const given = node['arguments'];
    if (name === 'formatAmount') {
      const [count, one, many] = given;
      this.visit(count, { wants: 'nothing', parent: node });
      for (const noun of one?.type === 'ConditionalExpression' ? [one.consequent, one.alternate] : [one])
        if (noun?.type === 'Literal') this.#plural(noun.value, many?.value);
      return;
    }
    // Said as a text by its author: no rule needs to find it.
    const isSaid = name === 'message';
    for (const argument of given) {
      if (isSaid && argument.type === 'Literal' && typeof argument.value === 'string') {
        this.messages.push(argument.value);
        continue;
      }
      this.visit(argument, {
        wants: wordless.has(name) || wants === 'nothing' ? 'nothing' : 'prose',
        parent: node,
      });
    }
  }

  /**
   * What stands between an element's tags is one text, with places for elements and expressions; without letters of its
   * own it is none, and each child for itself.
   * @param {Node} node
   */
  #element(node) {
    for (const attribute of node['openingElement']?.attributes ?? [])
      this.visit(attribute, { wants: 'prose', parent: node });
    const isCode = ['code', 'Code', 'Kbd', 'kbd', 'style', 'CodeText'].includes(
      node['openingElement']?.name?.name,
    );
    /** @type {Node[]} */
    const children = node['children'];
    const spoken = children.some((child) => hasWords((textIn(child) ?? '').trim()));
    if (spoken && !isCode) this.#sentence(children);
    else
      for (const child of children) {
        if (child.type === 'JSXExpressionContainer') {
          this.visit(child['expression'], { wants: isCode ? 'nothing' : 'text', parent: child });
        } else if (child.type !== 'JSXText') this.visit(child, { wants: 'prose', parent: node });
      }
  }

  /** @param {Node[]} children */
  #sentence(children) {
    const shown = children.filter((child) => child.expression?.type !== 'JSXEmptyExpression');
    const values = shown.filter((child) => textIn(child) === null);
    const pieces = [''];
    for (const child of shown) {
      const text = textIn(child);
      if (text === null) pieces.push('');
      else pieces[pieces.length - 1] += child.type === 'JSXText' ? jsxText(text) : text;
    }
    const whole = this.#found(joined(pieces));
    const first = children[0];
    const last = children.at(-1);
    if (first === undefined || last === undefined) return;
    if (values.length === 0) {
      this.edits.push({ start: first.start, end: last.end, text: `{$text(${whole})}` });
      return;
    }
    let opening = `{$nodes(${whole}, [`;
    let at = first.start;
    for (const value of values) {
      const inner = value.type === 'JSXExpressionContainer' ? value['expression'] : value;
      this.edits.push({ start: at, end: inner.start, text: `${opening}(` });
      this.visit(inner, { wants: 'text', parent: value });
      opening = '), ';
      at = inner.end;
    }
    this.edits.push({ start: at, end: last.end, text: ')])}' });
  }
}

/**
 * The strings that a file compares, or has as types.
 * @param {Node} node
 * @param {Set<string>} [found]
 * @returns {Set<string>}
 */
function comparedIn(node, found = new Set()) {
  /** @type {(Node | null | undefined)[]} */
  const literals =
    node.type === 'BinaryExpression' && node['operator'] !== '+'
      ? [node['left'], node['right']]
      : [node.type === 'SwitchCase' ? node['test'] : node.type === 'TSLiteralType' ? node['literal'] : null];
  for (const literal of literals)
    if (literal?.type === 'Literal' && typeof literal['value'] === 'string') found.add(literal['value']);
  for (const child of childrenOf(node)) comparedIn(child, found);
  return found;
}

/**
 * @param {Node} node
 * @returns {Node[]}
 */
const childrenOf = (node) =>
  Object.values(node)
    .flat()
    .filter((child) => typeof child === 'object' && child !== null && typeof child.type === 'string');

/**
 * The children of a node that may hold texts, with what is wanted there.
 * @param {Node} node
 * @param {Wants} wants
 * @returns {[Node, Wants][]}
 */
function innerOf(node, wants) {
  /** @type {Wants} */
  const plain = wants === 'nothing' ? 'nothing' : 'prose';
  switch (node.type) {
    case 'ConditionalExpression':
      return [
        [node['test'], 'nothing'],
        [node['consequent'], wants],
        [node['alternate'], wants],
      ];
    case 'LogicalExpression':
      return [
        [node['left'], node['operator'] === '&&' ? 'nothing' : wants],
        [node['right'], wants],
      ];
    case 'BinaryExpression': {
      const inner = node['operator'] === '+' ? wants : 'nothing';
      return [
        [node['left'], inner],
        [node['right'], inner],
      ];
    }
    case 'ParenthesizedExpression':
    case 'TSNonNullExpression':
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
      return [[node['expression'], wants]];
    case 'SwitchCase':
      return node['consequent'].map((/** @type {Node} */ child) => [child, plain]);
    case 'MemberExpression':
      return node['computed']
        ? [
            [node['object'], plain],
            [node['property'], 'nothing'],
          ]
        : [[node['object'], plain]];
    case 'ArrowFunctionExpression':
      return [
        ...node['params'].map((/** @type {Node} */ parameter) => [parameter, plain]),
        [node['body'], node['body'].type === 'BlockStatement' ? plain : wants],
      ];
    case 'ArrayExpression':
      return node['elements']
        .filter((/** @type {unknown} */ child) => child !== null)
        .map((/** @type {Node} */ child) => [child, wants]);
  }
  return childrenOf(node).map((child) => [child, plain]);
}

/**
 * The text of a child that is one: between tags, or a literal in braces. Null for any other.
 * @param {Node} child
 */
function textIn(child) {
  if (child.type === 'JSXText') return unescaped(child['value']);
  const literal = child.type === 'JSXExpressionContainer' ? child['expression'] : null;
  return literal?.type === 'Literal' && typeof literal.value === 'string' ? literal.value : null;
}

/**
 * Text between tags as React shows it: lines are trimmed where they were broken, and joined with a space.
 * @param {string} text
 */
function jsxText(text) {
  const lines = text.split('\n');
  const trimmed = lines.map((line, at) => {
    const start = at === 0 ? line : line.trimStart();
    return at === lines.length - 1 ? start : start.trimEnd();
  });
  return trimmed.filter((line) => line !== '').join(' ');
}

/** @param {string[]} pieces */
const joined = (pieces) =>
  pieces.map((piece, index) => (index === 0 ? piece : `{${index - 1}}${piece}`)).join('');

/** @type {Record<string, string>} */
const entities = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };

/** @param {string} text with entities of HTML, as attributes and texts of JSX have them */
const unescaped = (text) => text.replace(/&(\w+);/g, (whole, name) => entities[name] ?? whole);
