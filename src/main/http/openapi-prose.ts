/**
 * The texts of the description: what the API is, what each group is about, and what a schema cannot say about an
 * operation.
 */
import type { OperationName } from '../../engine/contract/operations.ts';
import type { OperationSpec, operationTags } from '../../engine/contract/operation-spec.ts';

/** The introduction, above all operations. */
export const introduction = `Facts and rules are told, questions are asked, and every answer can be proved.

**Conventions.** JSON in and out unless stated; a body needs \`Content-Type: application/json\`. All times are epoch
milliseconds, all durations milliseconds. An optional field that is \`null\` counts as absent. An unknown field or query
parameter is refused, so that a typing mistake is not a silent default. In an argument list a string that starts with \`?\` is a
variable; numbers and booleans become text.

**Tenants and databases.** Facts belong to a tenant of a database (\`X-Tenant-ID\`, \`X-Database\`), rules to the database and so
to all its tenants. A tenant comes into being with its first write; reading one that does not exist answers that there is nothing.

**Writes** are answered when they are durable, and carry \`generation\`, the write counter of the database after them. With
\`dryRun: true\`, where there is one, the answer is that of the real call, and nothing changes.

**Errors** are \`application/problem+json\` (RFC 9457) with a \`code\` to switch on. A request that could be refused for several
reasons is refused for the first of these: 503 not ready, 403 Origin or Host, 404 or 405 address, 401, 429, 403 role and
restrictions, 415, 413, 400 headers and names, 404 database, 400 body, 421, then what the operation itself has against it. Every
address answers another method with 405 and \`Allow\`, OPTIONS with 204, and HEAD where it has GET; one that names nothing is 404.

**Not described here** are MCP (\`/mcp\`, \`/mcp/sse\`) and A2A (\`/a2a\`, its cards \`/.well-known/agent-card.json\` and
\`/.well-known/agent.json\`), which have protocols of their own, and the files of the workbench (\`/\`) and of the samples
(\`/samples/index.json\`).`;

/** The description of each group of operations. */
export const tagProse: Readonly<Record<(typeof operationTags)[number], string>> = {
  facts: 'What is so, and what is explicitly not so: stored, retracted and looked up without inference.',
  rules: 'What follows from what. Rules belong to the database and serve all its tenants.',
  inference: 'Questions, and why they are answered so: proofs, explanations, suppositions and traces.',
  transactions: 'Writes that others see together or not at all.',
  scopes: 'Variants of the knowledge side by side: forked, compared and merged.',
  memory: 'What is most present, what fades, and what becomes of it.',
  context: 'Windows of facts for an agent to read, chosen for goals and within a budget.',
  language:
    'Text that becomes facts, and facts that become words. Natural language needs a provider of language models.',
  transfer: 'Knowledge as files.',
  databases: 'Databases and their tenants.',
  authentication: 'Keys, and who a caller is. Off by default.',
  agents: 'Who works here over MCP, what they called, and how another one is set up.',
  replication: 'What followers ask of their leader, and how far each has come.',
  service: 'Health, snapshots, the stream of changes, metrics and this description.',
};

/** What the schemas do not say about the operation, and who may call it. */
export function proseOf(name: OperationName, spec: OperationSpec): string {
  const { role, dryRun, transaction, changesRules } = spec;
  const parts = [
    prose[name],
    ...(transaction === 'write'
      ? ['With `X-Transaction-ID` the write becomes part of the transaction and is answered as pending.']
      : []),
    ...(transaction === 'read'
      ? ['With `X-Transaction-ID` the answer sees the writes of the transaction.']
      : []),
    role === 'public'
      ? 'Needs no credential.'
      : `Needs the role ${role}${dryRun === undefined ? '' : '; as a dry run, reader'}${
          changesRules === true ? ', and no restriction to tenants, since it changes rules' : ''
        }.`,
  ];
  return parts.join('\n\n');
}

const prose: Readonly<Record<OperationName, string>> = {
  assertFact:
    'A fact is stored once for its predicate, arguments, truth value and scope: told again it is `unchanged`, or `updated` where ' +
    'validity or metadata were given and differ. With `ifGeneration` the write is 409 where the fact has changed since.',
  assertFacts:
    'One to 100,000 facts in one write, all or none. One bad fact is 400; `errors` names its index.',
  retract:
    'Without a scope the fact goes from every scope, without a truth value in both. `dependents` are conclusions that held before ' +
    'and hold no longer: of those that were known, or with `dependents: "all"` every one.',
  retractPattern: 'As `/retract`, for every stored fact that the pattern matches.',
  query:
    'Stored facts that are visible now, distinct, without any rule; both truth values unless `truthVal` is given.',
  listFacts:
    'Stored facts with all that is kept of them; with `derived=true`, which needs `predicate`, the conclusions too. `nextCursor` ' +
    'names a place in the order, so that facts that come and go between two pages neither repeat nor hide others. `offset` ' +
    'goes to any place of the list at once, by number. Of conclusions only those on the page are proved, however many there are. ' +
    'But `createdAt`, `updatedAt`, `salience` and `validUntil` of a conclusion come from its proof, so these orders take the proof ' +
    'of each: where that takes more than 10 seconds, the answer is 422. `sort=predicate` and `sort=argN` work for any number.',
  getFact: 'With the known conclusions that rest on it, how its salience comes about, and its history.',
  deleteFact: 'As `/retract`, for the one fact with this id.',
  listPredicates: 'Look here first, to tell and ask in words that are already there.',
  aggregate:
    'COUNT, SUM, MIN, MAX or AVG over the true facts that match, in everything and, with `groupBy`, in each group; with `infer` ' +
    'over what can be derived, too. Sums and means are exact and rounded once.',
  assertRule:
    'As `text` in the grammar, or as `head` and `body`. The same rule (up to the names of its variables, in the same scope) is ' +
    'stored once. A rule that is unsafe, or cannot be stratified with the others, is 422 and says why.',
  validateRules:
    'What an editor shows while one types: syntax, unsafe variables, cycles through negation, and warnings such as a predicate ' +
    'that nothing knows. Nothing is stored.',
  listRules: 'The first created first, with how often each was used to draw a conclusion.',
  getRule: 'With its entity tag, for `If-Match`.',
  updateRule:
    'The whole rule, or only some of `enabled`, `name` and `description`. Onto another rule there is: 409.',
  deleteRule: 'What it concluded holds no longer, unless something else concludes it.',
  ask:
    'By `predicate` and `args`, by `text` in the grammar of a rule body, or by `body` as literals. The answer is complete, distinct, ' +
    'ordered by arguments by code point, and of one `generation`; no match is an empty list. With `withProof` each result is ' +
    'proved; `allProofs` adds the other ways to each conclusion. A client that goes away cancels its question.',
  explain:
    '`why` gives the proof of what holds; `whyNot`, of an atom without variables that does not hold, gives each rule that could ' +
    'conclude it, how far it gets and what is missing, and what stands in the way.',
  whatIf:
    'Facts of `retract` go, those of `assert` come, `withoutRules` go, `rules` come: then the goals are answered before and after. ' +
    'Without goals the answer is about every predicate that the change can reach.',
  trace:
    'Derives the question afresh and tells what was tried, how often, and where the time went. It counts as no use of a fact.',
  beginTransaction:
    'Its `id` goes into `X-Transaction-ID`. A transaction that is not used for five minutes is rolled back; the end of the process ' +
    'ends it.',
  commitTransaction:
    'One record and one generation: others see all of it or nothing, after a crash too. The first to commit wins; where something ' +
    'it writes was changed since it began, it is 409 and rolled back.',
  rollbackTransaction: 'Its writes are gone. `generation` is that of the database.',
  listScopes:
    'Those that have a fact of the tenant or a rule, or were forked and not deleted. `forkedAt` is the generation of the fork.',
  forkScope:
    'Facts with validity and metadata, and the rules of the scope. A target that has facts is 409. The fork remembers the source ' +
    'as it was: that is the base of later merges between the two.',
  diffScopes:
    'Facts are compared by identity first; what is left on both sides with the same predicate and arguments is a modified pair. ' +
    'With `asMerge` each difference says which side a merge takes, or that it is a conflict.',
  mergeScopes:
    '`strategy` settles conflicts, `resolutions` settle single ones before it. With a base only what both sides changed is a conflict, ' +
    'and what the source deleted is deleted from the target. `base` is "fork" by default where the two have one: what the source ' +
    'of the fork held then, or the source of their last merge. A fact to be added whose opposite the target holds is a conflict. ' +
    'The source stays as it is; rules are not merged.',
  deleteScope: 'The facts of the tenant, and the rules where no other tenant has facts there.',
  browseMemory: 'The stored facts of highest salience first; with `includeInferred` conclusions too.',
  recall: 'As the GET, with the fields in the body.',
  memoryStats: 'A histogram of salience, what expires soon, and what fades.',
  consolidate:
    'A pattern is a group of facts that agree in every argument but one. Nothing is lost: a summary can be restored.',
  restore: 'The facts return with their validity and metadata, under new ids, and the summary goes.',
  decay:
    'What has ended goes, and what is of a salience below the threshold and not pinned. It cannot be undone.',
  optimizeContext:
    'With goals, answers come with every premise of their proofs, each proof whole or not at all; then what is related, then the ' +
    'rest by salience. `goals` says of each goal whether the window has a whole proof of an answer, and what one takes: give that ' +
    'much room to a goal that does not fit. Its status is `proved` where an answer has a whole proof in the window, `premises` where ' +
    'only the stored facts that a proof rests on are there, `does_not_fit`, or `no_answer`; `limit` is not given today, and ' +
    '`needs.tokens` is null, since tokens are not counted. A goal that meets a limit ends the call with 422, which names it: a window that left ' +
    'it out would depend on how busy the machine is. A window is no use of its facts and changes nothing.',
  diffContext:
    'Makes the window of the session again, with the parameters that it was made with but for those given here, and tells what came ' +
    'and what went. The new window takes the place of the old.',
  summarizeContext:
    'The ten largest predicates, the ten most salient facts, what expires and what contradicts itself.',
  clearContextSession: 'Answered alike whether or not there was such a session.',
  contextOfTurns:
    'Statements of the grammar in the turns are read as they are; natural language is read where a provider may be used, and else ' +
    'left alone.',
  ingest:
    'A text wholly in the grammar needs no provider; natural language without one is 503, and nothing is stored. With `sessionId` ' +
    'the window becomes that of the session.',
  extract:
    'Each fact stands somewhere in the text, or it does not count. Nothing is stored but with `assert`. Without a provider: 503.',
  synthesize:
    'The model plans questions, the engine answers and proves them, the model words what was proved. Where nothing follows the ' +
    'answer says so, with confidence 0. Without a provider: 503.',
  importKnowledge:
    'The media type says what the body is: facts and rules as lines of JSON, CSV or TSV (the predicate, then the arguments; with ' +
    '`predicate` arguments alone), statements, Turtle or N-Triples. The answer is a stream of lines: progress, and at the end ' +
    '`done`, or `error` with a problem where the import broke off. What a progress line counts is durable. A bad line is skipped ' +
    'and counted.',
  undoImport: 'Facts that were changed since stay, and are named in `kept`. Rules stay.',
  exportKnowledge:
    'NDJSON imports back to the same knowledge, datalog holds facts and rules as statements; CSV and N-Triples hold predicate and ' +
    'arguments of true facts. The trailer `X-Omitted` counts what the format cannot hold. An export that fails on the way breaks ' +
    'off the connection.',
  listDatabases: 'By name, with what is in each.',
  createDatabase: 'One that is there already is 409.',
  deleteDatabase: 'With all that is in it. `default` cannot be deleted: 409.',
  nukeDatabase: 'The tenants remain, empty.',
  listTenants: 'By name, with how many facts each has.',
  createTenant: 'Not needed before the first write, which makes one too. One that is there already is 409.',
  deleteTenant: 'Rules belong to the database and stay.',
  nukeTenant: 'The tenant remains, with its time of creation.',
  authenticationStatus:
    '`disabled`: none is needed. `legacy`: one key for everything, API_KEY. `rbac`: keys with roles and restrictions.',
  bootstrap:
    'Works once, while there is no admin key, with SERVICE_ADMIN_USER and SERVICE_ADMIN_PASS. The sixth try in a minute from an ' +
    'address is 429. Where authentication is not by keys: 409.',
  createKey:
    'Empty lists of databases and tenants mean no restriction. The key is in this answer alone; only a hash of it is kept.',
  listKeys: 'Without the keys themselves, with when each was last used.',
  updateKey: 'What is not given stays.',
  revokeKey: 'It is refused from then on; streams that it opened end.',
  whoami: 'With authentication off everybody is an admin without restrictions.',
  listMcpCalls:
    'The last 10,000 of this run of the service, of the databases and tenants that the credential covers. For older ones give ' +
    'the id of the last as `before`.',
  listMcpClients: 'Those of the databases and tenants that the credential covers.',
  agentSetup: 'Addresses, tools, and how the bridge is started where it is built.',
  testBridge: 'The bridge ends again; what it said is in the answer, also where it did not connect.',
  replicationSnapshot:
    'Of a version and shape of its own, with checksums: what followers of the same version read. The log has all records after it.',
  replicationWal:
    'Of the same shape. A follower asks again from the last record it got, at once where there are more, else after its interval. ' +
    'The answer begins with what the leader has; records that it no longer has are in its snapshot.',
  replicationStatus:
    'Answers in every phase of the service. Of a follower, `state` is `connecting` before the first answer of the leader, `snapshot` ' +
    'while one is fetched, `streaming`, `stale` while the leader is away, or `refused`.',
  takeSnapshot: 'Snapshots are also written by the clock and at a clean end.',
  takeBackup:
    'A snapshot is written, and its file sent: consistent, and encrypted where the storage is, with the same key. Restore it with ' +
    '`corollary --restore FILE`. A client that takes nothing for a minute is cut off; one that breaks off on the way closes the ' +
    'connection before `Content-Length` is reached.',
  storageState: 'Nothing is read from the disk for it.',
  health: 'Answers in every phase of the service.',
  ready: 'Answers in every phase of the service, with what each part of it says of itself.',
  events:
    'Each event has an `id` (`generation.index`), a kind and, as JSON, its data. Kinds: `fact.asserted`, `fact.retracted`, ' +
    '`conclusion.withdrawn`, `rule.changed`, `scope.changed`, `memory.evicted`, `mcp.call`, and `reset`, which says: read everything ' +
    'again. The stream ends when its credential does.',
};
