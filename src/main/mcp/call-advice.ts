/**
 * Suggests the call to make instead, for the name of an unknown tool and to a client that writes words into another
 * field than `query`.
 */
import { editDistance } from '../../engine/index.ts';
import { mend } from './mend.ts';
import { perform, type ToolContext } from './tool-run.ts';
import { takesArguments, type Tool, type ToolArguments, tools, withoutFillers } from './tools.ts';

/** Fields in which clients write what they search for. */
const wordFields = [
  'query',
  'topic',
  'search',
  'text',
  'question',
  'q',
  'keywords',
  'subject',
  'about',
  'name',
  'names',
];

const maxCharacters = 400;

/** The words that the arguments search for; null if they are no search. */
export function soughtWords(given: ToolArguments): string | null {
  for (const field of wordFields) {
    const value = given[field];
    const text = Array.isArray(value) ? value.filter((each) => typeof each === 'string').join(' ') : value;
    if (typeof text === 'string' && text.trim() !== '') return text.slice(0, maxCharacters);
  }
  return null;
}

/** The arguments without the field of words. */
export function withoutWords(given: ToolArguments): ToolArguments {
  return Object.fromEntries(Object.entries(given).filter(([field]) => !wordFields.includes(field)));
}

/** The call of `tool`, recall or context, for words; `others`: further arguments, of which it keeps what it takes. */
export function callForWords(
  words: string,
  tool: 'recall' | 'context' = 'recall',
  others: ToolArguments = {},
): { readonly tool: string; readonly call: ToolArguments } {
  const call = { ...others, query: words };
  const operation = tool === 'recall' ? 'recall' : 'optimizeContext';
  return { tool, call: takesArguments(operation, call) ? call : { query: words } };
}

/** Names of tools of other memories and knowledge bases, and names that models make up. */
const namesOf = {
  ask: 'query question prove infer check lookup verify deduce solve explain why get get_fact answer why_not',
  tell: 'remember store save add assert add_fact store_fact save_fact insert note record create write put set add_facts store_facts tell_facts create_entities create_relations add_observations add_memory store_memory save_memory memorize learn_fact',
  teach: 'add_rule rule define learn assert_rule store_rule create_rule new_rule infer_rule teach_rule',
  forget:
    'delete remove retract erase delete_fact remove_fact delete_rule remove_rule forget_rule unlearn delete_entities delete_relations delete_observations delete_memory drop clear',
  recall: 'memory memories get_memories read_graph list_facts facts list retrieve read get_all list_memories',
  context: 'get_context context_window optimize_context window',
  predicates: 'schema vocabulary list_predicates describe ontology relations help list_relations get_schema',
  compress: 'consolidate summarize compact',
  cleanup: 'decay prune evict gc garbage_collect',
} as const;

const searches: ReadonlySet<string> = new Set(
  'search search_nodes search_memory search_memories find find_facts open_nodes search_facts semantic_search query_memory'.split(
    ' ',
  ),
);
const updates: ReadonlySet<string> = new Set(
  'update modify change replace edit upsert update_fact change_fact update_memory set_fact'.split(' '),
);

const otherNames: ReadonlyMap<string, string> = new Map(
  Object.entries(namesOf).flatMap(([tool, names]) => names.split(' ').map((name) => [name, tool])),
);

/** The error for an unknown tool: lists the tools and ends with the call to make instead, with its arguments. */
export async function unknownToolText(run: ToolContext, name: string, given: ToolArguments): Promise<string> {
  const lines = [`There is no tool ${JSON.stringify(name)}. Tools: ${[...tools.keys()].join(', ')}.`];
  const plain = name
    .toLowerCase()
    .replaceAll(/[-\s.]/g, '_')
    .replace(/^(?:corollary|kb|mcp)_+/, '');
  if (updates.has(plain)) return [...lines, ...(await insteadOfUpdate(run, given))].join('\n');
  const words = soughtWords(given);
  if (searches.has(plain) && words !== null) {
    const { tool, call } = callForWords(words);
    return [...lines, callLine(tool, call)].join('\n');
  }
  const meant = tools.get(otherNames.get(plain) ?? nearestTool(plain) ?? '');
  if (meant === undefined) return lines.join('\n');
  return [...lines, insteadOf(plain, meant, given)].join('\n');
}

function nearestTool(name: string): string | undefined {
  return [...tools.keys()].find((tool) => editDistance(tool, name.slice(0, 20)) <= 2);
}

function callLine(tool: string, call: ToolArguments): string {
  return `Call ${tool} with ${JSON.stringify(call)}`;
}

function insteadOf(name: string, tool: Tool, given: ToolArguments): string {
  const asked = withoutFillers(tool.optionalFields, given);
  const more = name === 'why_not' ? { whyNot: true } : {};
  const own = { ...asked, ...more };
  if (Object.keys(asked).length > 0 && takesArguments(tool.operation, own))
    return callLine(tool.listing.name, own);
  const { call } = mend(tool, asked);
  if (call !== null) return callLine(tool.listing.name, { ...call, ...more });
  const words = soughtWords(given);
  if (words !== null && (tool.operation === 'recall' || tool.operation === 'optimizeContext')) {
    const found = callForWords(words, tool.operation === 'recall' ? 'recall' : 'context');
    return callLine(found.tool, found.call);
  }
  if (takesArguments(tool.operation, {})) return callLine(tool.listing.name, {});
  return `Call ${tool.listing.name}, such as with ${JSON.stringify(tool.example)}`;
}

/** Facts are never updated: the old one is forgotten, the new one told. */
async function insteadOfUpdate(run: ToolContext, given: ToolArguments): Promise<string[]> {
  const tell = tools.get('tell');
  const forget = tools.get('forget');
  const said = 'Facts cannot be changed: forget the old one, then tell the new one.';
  if (tell === undefined || forget === undefined) return [said];
  const [old, next] = [
    given['old'] ?? given['from'] ?? given['old_fact'] ?? given['oldFact'],
    given['new'] ?? given['to'] ?? given['new_fact'] ?? given['newFact'],
  ];
  if (typeof old === 'string' && typeof next === 'string')
    return [said, callLine('forget', { text: old }), callLine('tell', { text: next })];
  const fact = takesArguments('assertFact', given) ? given : mend(tell, given).call;
  if (fact === null) return [said, `Call tell, such as with ${JSON.stringify(tell.example)}`];
  const { predicate, args } = fact;
  const stored =
    Array.isArray(args) && args.length > 1 ? await storedLike(run, String(predicate), args.map(String)) : [];
  const olds = stored.map((old) => callLine('forget', { predicate, args: old }));
  return [said, ...olds, callLine('tell', fact)];
}

const maxOld = 5;

/** Stored facts of the predicate that differ from this one only in the last argument. */
async function storedLike(run: ToolContext, predicate: string, args: readonly string[]): Promise<string[][]> {
  const pattern = args.map((arg, index) => (index === args.length - 1 ? '?old' : arg));
  const facts = await perform(run, 'query', { body: { predicate, args: pattern, limit: maxOld } });
  return facts.map((fact) => fact.args).filter((old) => old.at(-1) !== args.at(-1));
}
