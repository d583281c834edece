/**
 * The agents' calls when tool calls are measured, and the correct answers.
 *
 * The knowledge is 10,000 facts: who is whose parent in a binary tree of people. The service stores them as facts and
 * has one rule for grandparents. The memory server stores each person with children as an entity and each child as an
 * observation of it, the form in which its file is smallest and it is fastest.
 */
import type { Client, ToolCall } from './clients.ts';
import { expectedAnswers, familyTree, newFact, questions } from '../http/requests.ts';

/** People with children; there are twice as many facts. */
const parents = 5000;

export const facts = familyTree(parents);

/** One of the client's actions that take turns. */
export interface Work {
  readonly label: string;
  /** Resolves with the last answer as text. */
  run(client: Client, turn: number): Promise<string>;
}

/** Which answer of a bare server is as large as that of this work. */
export type Kind = 'fact' | 'rule' | 'tell';

const lookUps = questions('/query');
const conclusions = questions('/ask');

function one(given: readonly string[], turn: number): string {
  const found = given[turn % given.length];
  if (found === undefined) throw new Error('there is nothing to ask');
  return found;
}

/** The call of the service for each kind of work. */
export const serviceCalls: Readonly<Record<Kind, (turn: number) => ToolCall>> = {
  fact: (turn) => ({ tool: 'ask', args: one(lookUps, turn) }),
  rule: (turn) => ({ tool: 'ask', args: one(conclusions, turn) }),
  tell: () => ({ tool: 'tell', args: newFact() }),
};

export const kinds: readonly Kind[] = ['fact', 'rule', 'tell'];

/** Rejects a service that does not answer every question correctly, or does not know its facts. */
export async function checkService(client: Client): Promise<void> {
  const asked = [
    ['fact', expectedAnswers('/query'), 'parent'],
    ['rule', expectedAnswers('/ask'), 'grandparent'],
  ] as const;
  for (const [kind, answers, predicate] of asked)
    for (const [turn, expected] of answers.entries()) {
      const call = serviceCalls[kind](turn);
      const found = structuredIn(await client.call(call))['results'];
      const [who] = (JSON.parse(call.args) as { args: string[] }).args;
      const atoms = expected.map((name) => `${predicate}(${who}, ${name})`);
      if (!Array.isArray(found) || JSON.stringify(found.map(String).sort()) !== JSON.stringify(atoms))
        throw new Error(`${call.args} was answered with ${JSON.stringify(found)}`);
    }
  const call = serviceCalls.tell(0);
  const { args, predicate } = JSON.parse(call.args) as { args: string[]; predicate: string };
  const { status } = structuredIn(await client.call(call));
  const back = await client.call({ tool: 'ask', args: JSON.stringify({ predicate, args: [args[0], '?x'] }) });
  if (status !== 'asserted' || structuredIn(back)['count'] !== 1)
    throw new Error('the service does not know the facts that it was told');
}

/**
 * The result of a tool call in the JSON-RPC answer, which may be an event; of several chunks the one that contains it.
 */
export function resultIn(answer: string): Record<string, unknown> {
  const start = answer.indexOf('{"');
  const end = answer.lastIndexOf('}');
  const { result } = JSON.parse(answer.slice(start, end + 1)) as { result: Record<string, unknown> };
  return result;
}

function structuredIn(answer: string): Record<string, unknown> {
  return resultIn(answer)['structuredContent'] as Record<string, unknown>;
}

/** The knowledge in the format of the memory server's file. */
export function memoryFile(): string {
  const children = new Map<string, string[]>();
  for (const {
    args: [parent, child],
  } of facts)
    children.set(parent, [...(children.get(parent) ?? []), child]);
  return [...children]
    .map(([name, of]) =>
      JSON.stringify({
        type: 'entity',
        name,
        entityType: 'person',
        observations: of.map((child) => `parent of ${child}`),
      }),
    )
    .join('\n');
}

function opened(names: readonly string[]): ToolCall {
  return { tool: 'open_nodes', args: JSON.stringify({ names }) };
}

function personIn(turn: number): string {
  const [who] = (JSON.parse(one(lookUps, turn)) as { args: [string, string] }).args;
  return who;
}

function childrenOf(person: string): string[] {
  return facts.filter(({ args: [parent] }) => parent === person).map(({ args: [, child] }) => child);
}

const childrenByPerson = new Map(lookUps.map((_, turn) => [personIn(turn), childrenOf(personIn(turn))]));

let noted = 0;

/** The memory server's equivalent; the second of a pair is another of its tools for it. */
export const memoryWorks: Readonly<Record<Kind, readonly Work[]>> = {
  fact: [
    { label: 'open_nodes', run: (client, turn) => client.call(opened([personIn(turn)])) },
    {
      label: 'search_nodes',
      run: (client, turn) =>
        client.call({ tool: 'search_nodes', args: `{"query":"parent of p${9999 - (turn % 1000)}"}` }),
    },
  ],
  rule: [
    {
      label: 'open_nodes, twice',
      run: async (client, turn) => {
        await client.call(opened([personIn(turn)]));
        return client.call(opened(childrenByPerson.get(personIn(turn)) ?? []));
      },
    },
  ],
  tell: [
    {
      label: 'add_observations',
      run: (client, turn) => {
        noted++;
        const observation = { entityName: personIn(turn), contents: [`met n${noted}`] };
        return client.call({
          tool: 'add_observations',
          args: JSON.stringify({ observations: [observation] }),
        });
      },
    },
    {
      label: 'create_entities',
      run: (client) => {
        noted++;
        const entity = { name: `n${noted}`, entityType: 'person', observations: [`met n${noted}`] };
        return client.call({ tool: 'create_entities', args: JSON.stringify({ entities: [entity] }) });
      },
    },
  ],
};

/** Rejects a memory server that does not find the children of a person, or does not store its facts. */
export async function checkMemory(client: Client): Promise<void> {
  for (const works of Object.values(memoryWorks))
    for (const { label, run } of works) {
      const answer = await run(client, 1);
      if (!/parent of p\d+|met n\d+/.test(answer))
        throw new Error(`the memory server answered ${label} with ${answer}`);
    }
  const answer = await client.call(opened([personIn(1)]));
  const wanted = [...childrenOf(personIn(1)).map((child) => `parent of ${child}`), 'met n1'];
  if (!wanted.every((each) => answer.includes(each)))
    throw new Error(`the memory server does not know the facts that it was told: ${answer}`);
}
