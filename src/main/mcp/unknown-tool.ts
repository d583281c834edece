/**
 * What an agent is told that calls a tool which there is not: the call to make instead, with its arguments put in.
 *
 * The names are those of other memories and knowledge bases, and those that models make up.
 */
import { mend } from './mend.ts';
import { distance } from './nearest.ts';
import { takes, type ToolArguments, withoutFillers } from './tool-input.ts';
import { perform, type ToolRun } from './tool-run.ts';
import { type Tool, tools } from './tools.ts';
import { callForWords, soughtWords } from './word-advice.ts';

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

/** Says which tools there are, and as the last line what to call. */
export async function unknownToolText(run: ToolRun, name: string, given: ToolArguments): Promise<string> {
  const lines = [`There is no tool ${JSON.stringify(name)}. Tools: ${[...tools.keys()].join(', ')}.`];
  const plain = name
    .toLowerCase()
    .replaceAll(/[-\s.]/g, '_')
    .replace(/^(?:corollary|kb|mcp)_+/, '');
  if (updates.has(plain)) return [...lines, ...(await insteadOfUpdate(run, given))].join('\n');
  const words = soughtWords(given);
  if (searches.has(plain) && words !== null) {
    const { tool, call } = await callForWords(run, words);
    return [...lines, callLine(tool, call)].join('\n');
  }
  const meant = tools.get(otherNames.get(plain) ?? nearestTool(plain) ?? '');
  if (meant === undefined) return lines.join('\n');
  return [...lines, await insteadOf(run, plain, meant, given)].join('\n');
}

function nearestTool(name: string): string | undefined {
  return [...tools.keys()].find((tool) => distance(tool, name.slice(0, 20)) <= 2);
}

function callLine(tool: string, call: ToolArguments): string {
  return `Call ${tool} with ${JSON.stringify(call)}`;
}

async function insteadOf(run: ToolRun, name: string, tool: Tool, given: ToolArguments): Promise<string> {
  const asked = withoutFillers(tool.optionalFields, given);
  const more = name === 'why_not' ? { whyNot: true } : {};
  const own = { ...asked, ...more };
  if (Object.keys(asked).length > 0 && takes(tool.operation, own)) return callLine(tool.listing.name, own);
  const { call } = mend(tool, asked);
  if (call !== null) return callLine(tool.listing.name, { ...call, ...more });
  const words = soughtWords(given);
  if (words !== null && (tool.operation === 'recall' || tool.operation === 'optimizeContext')) {
    const found = await callForWords(run, words);
    return callLine(found.tool, found.call);
  }
  if (takes(tool.operation, {})) return callLine(tool.listing.name, {});
  return `Call ${tool.listing.name}, such as with ${JSON.stringify(tool.example)}`;
}

/** A fact is not changed: the old one is forgotten, the new one told. */
async function insteadOfUpdate(run: ToolRun, given: ToolArguments): Promise<string[]> {
  const tell = tools.get('tell');
  const forget = tools.get('forget');
  const said = 'A fact is not changed: forget the old one, then tell the new one.';
  if (tell === undefined || forget === undefined) return [said];
  const [old, next] = [
    given['old'] ?? given['from'] ?? given['old_fact'] ?? given['oldFact'],
    given['new'] ?? given['to'] ?? given['new_fact'] ?? given['newFact'],
  ];
  if (typeof old === 'string' && typeof next === 'string')
    return [said, callLine('forget', { text: old }), callLine('tell', { text: next })];
  const fact = takes('assertFact', given) ? given : mend(tell, given).call;
  if (fact === null) return [said, `Call tell, such as with ${JSON.stringify(tell.example)}`];
  const { predicate, args } = fact;
  const stored =
    Array.isArray(args) && args.length > 1 ? await storedLike(run, String(predicate), args.map(String)) : [];
  const olds = stored.map((old) => callLine('forget', { predicate, args: old }));
  return [said, ...olds, callLine('tell', fact)];
}

const mostOld = 5;

/** Facts of the predicate that differ from this one in the last argument alone. */
async function storedLike(run: ToolRun, predicate: string, args: readonly string[]): Promise<string[][]> {
  const pattern = args.map((arg, index) => (index === args.length - 1 ? '?old' : arg));
  const facts = await perform(run, 'query', { body: { predicate, args: pattern, limit: mostOld } });
  return facts.map((fact) => fact.args).filter((old) => old.at(-1) !== args.at(-1));
}
