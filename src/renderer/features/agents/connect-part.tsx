/**
 * Connecting an agent: choose its program, database, tenant and key; copy the configuration; test it with the
 * handshake that the program itself would make.
 *
 * A key typed here is kept only while this part is visible, and never in the address.
 */
import { Anchor, Autocomplete, Button, PasswordInput, Tabs } from '@mantine/core';
import { IconCircleCheck, IconDownload, IconPlugConnected } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import {
  type AgentConfiguration,
  type AgentPlace,
  type AgentProgram,
  agentPrograms,
  type AgentRoute,
  configurationOf,
  placeAdvice,
} from '../../../engine/contract/agent-setup.ts';
import type { AgentSetup } from '../../../engine/contract/agents.ts';
import { databaseNameSchema, tenantNameSchema } from '../../../engine/contract/fields.ts';
import { AnswerOrFailure } from '../../api/answered.tsx';
import { CreateDatabase } from '../../api/create-database.tsx';
import { Guarded } from '../../api/permitted.tsx';
import { typedKey } from '../../api/key-text.ts';
import type { ApiFailure } from '../../api/problem.ts';
import { useAuthentication, useDatabases, useTenants } from '../../api/queries.ts';
import { useReason } from '../../api/rights.ts';
import { useSession } from '../../api/session.tsx';
import { useRun } from '../../api/use-run.ts';
import { CodeBlock } from '../../ui/blocks.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { CancelledNote, EmptyState, ProblemNotice, Running } from '../../ui/notices.tsx';
import type { AgentsSearch } from './agents-search.ts';
import styles from './agents.module.css';
import type { Handshake } from './mcp-client.ts';
import { adviceFor, testedBridge, testedUrl, testedWords, useAgentSetup } from './use-agents.ts';

/** The form's fields as typed. */
interface TypedPlace {
  readonly database: string;
  readonly tenant: string;
  readonly key: string;
}

interface Problems {
  readonly database: string | null;
  readonly tenant: string | null;
  readonly key: string | null;
}

function firstProblem(read: {
  error?: { issues: readonly { message: string }[] } | undefined;
}): string | null {
  return read.error?.issues[0]?.message ?? null;
}

function problemsOf({ database, tenant, key }: TypedPlace): Problems {
  const typed = typedKey(key);
  return {
    database: firstProblem(databaseNameSchema.safeParse(database)),
    tenant: firstProblem(tenantNameSchema.safeParse(tenant)),
    key: typed.kind === 'problem' ? typed.problem : null,
  };
}

function placeOf({ database, tenant, key }: TypedPlace, setup: AgentSetup): AgentPlace {
  const typed = typedKey(key);
  return {
    address: setup.address,
    database,
    tenant,
    key: typed.kind === 'key' ? typed.key : null,
    bridge: setup.bridge,
  };
}

/** The title of a program, which does not depend on the configuration. */
function titleOf(program: AgentProgram): string {
  const anywhere = { address: 'http://127.0.0.1', database: 'default', tenant: 'default', key: null };
  return configurationOf(program, { ...anywhere, bridge: { command: '', args: [] } })?.title ?? program;
}

interface PlaceFieldsProps {
  typed: TypedPlace;
  problems: Problems;
  onTyped: (typed: TypedPlace) => void;
}

function KeyField({ typed, problems, onTyped }: PlaceFieldsProps) {
  const isAsked = (useAuthentication().data?.mode ?? 'disabled') !== 'disabled';
  if (!isAsked) return <p className={`dim ${styles.noKey}`}>The service requires no key.</p>;
  return (
    <PasswordInput
      w={260}
      label="Key"
      description={
        <>
          Give the agent its own key, with no more rights than it needs.{' '}
          <Anchor
            size="xs"
            renderRoot={(props) => <Link to="/admin/keys" search={{ make: 'true' }} {...props} />}
          >
            Make a key
          </Anchor>
        </>
      }
      autoComplete="off"
      error={problems.key}
      value={typed.key}
      onChange={(event) => onTyped({ ...typed, key: event.currentTarget.value })}
    />
  );
}

function PlaceFields(props: PlaceFieldsProps) {
  const { typed, problems, onTyped } = props;
  const databases = useDatabases().data ?? [];
  const isThere = databases.some(({ name }) => name === typed.database);
  const tenants = useTenants(isThere ? typed.database : null).data ?? [];
  return (
    <div className={styles.place}>
      <Autocomplete
        w={170}
        label="Database"
        description="One for each project"
        data={databases.map(({ name }) => name)}
        error={problems.database}
        value={typed.database}
        onChange={(database) => onTyped({ ...typed, database })}
      />
      <Autocomplete
        w={170}
        label="Tenant"
        description="Whose facts it shares"
        data={tenants.map(({ name }) => name)}
        error={problems.tenant}
        value={typed.tenant}
        onChange={(tenant) => onTyped({ ...typed, tenant })}
      />
      <KeyField {...props} />
    </div>
  );
}

function FileHint({ configuration: { file, language } }: { configuration: AgentConfiguration }) {
  if (file === null) return <span>Run this in a terminal:</span>;
  return (
    <span>
      Write this into <code className="mono">{file}</code>
      {language === 'json' && ', next to what it already contains'}:
    </span>
  );
}

/** The one-step way, if there is a bundle. */
function Bundle({ address }: { address: string }) {
  return (
    <div className={`flex-row gap-6-12 flex-wrap ${styles.bundle}`}>
      <Button
        component="a"
        href={address}
        download="corollary.mcpb"
        leftSection={<IconDownload size={14} aria-hidden />}
      >
        Download the bundle
      </Button>
      <span className="dim">
        Open it with Claude Desktop: it asks for database, tenant and key. Or configure the bridge by hand:
      </span>
    </div>
  );
}

/** Where rules, facts and scopes live, and a button to create the named database if it does not exist. */
function PlaceNotes({ typed, problems }: Pick<PlaceFieldsProps, 'typed' | 'problems'>) {
  const databases = useDatabases().data;
  const isMissing =
    problems.database === null &&
    databases !== undefined &&
    databases.every(({ name }) => name !== typed.database);
  return (
    <>
      <p className="dim">{placeAdvice}</p>
      {isMissing && (
        <div className={`flex-row gap-6-12 flex-wrap ${styles.bundle}`} role="status">
          <span>There is no database {typed.database} yet: an agent that names it is refused.</span>
          <CreateDatabase name={typed.database} />
        </div>
      )}
    </>
  );
}

interface ConfigurationProps {
  configuration: AgentConfiguration;
  typed: TypedPlace;
  setup: AgentSetup;
}

function Configuration({ configuration, typed, setup }: ConfigurationProps) {
  const { program, text, note, route } = configuration;
  const place = placeOf(typed, setup);
  return (
    <div className={`flex-column gap-8 flat-text ${styles.configuration}`}>
      {program === 'claude-desktop' && setup.bundle !== null && <Bundle address={setup.bundle} />}
      <div className="flex-row gap-8">
        <FileHint configuration={configuration} />
        <span className={styles.gap} />
        <CopyButton text={text} label="Copy the configuration" />
      </div>
      <CodeBlock label="Configuration" text={text} />
      {note !== null && <p className="dim">{note}</p>}
      {/* Changing the route resets the test. */}
      <ConnectionTest key={JSON.stringify(route)} route={route} place={place} />
    </div>
  );
}

function Program({
  program,
  setup,
  typed,
  isGood,
}: {
  program: AgentProgram;
  setup: AgentSetup;
  typed: TypedPlace;
  isGood: boolean;
}) {
  const configuration = useMemo(
    () => (isGood ? configurationOf(program, placeOf(typed, setup)) : null),
    [program, setup, typed, isGood],
  );
  if (!isGood) return <p className="dim">Fix the marked fields to see the configuration.</p>;
  if (configuration === null)
    return (
      <EmptyState title="The bridge is not built">
        {titleOf(program)} starts its servers itself and speaks to them on standard input and output; this
        installation lacks the program for that. If Corollary runs from its sources, npm run build creates it.
      </EmptyState>
    );
  return <Configuration configuration={configuration} typed={typed} setup={setup} />;
}

interface ConnectPartProps {
  search: AgentsSearch;
  onSearch: (part: Partial<AgentsSearch>) => void;
}

function Programs({ search, onSearch, setup }: ConnectPartProps & { setup: AgentSetup }) {
  const { database, tenant } = useSession().space;
  const [typed, setTyped] = useState<TypedPlace>({ database, tenant, key: '' });
  const problems = problemsOf(typed);
  const isGood = Object.values(problems).every((problem) => problem === null);
  const chosen = search.program ?? agentPrograms[0];
  return (
    <Tabs
      orientation="vertical"
      className="tall"
      value={chosen}
      onChange={(value) => onSearch({ program: agentPrograms.find((known) => known === value) })}
    >
      <Tabs.List className={styles.programList ?? ''} aria-label="Programs">
        {agentPrograms.map((program) => (
          <Tabs.Tab key={program} value={program}>
            {titleOf(program)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {agentPrograms.map((program) => (
        <Tabs.Panel key={program} value={program} className={`rest-width scrolls ${styles.program}`}>
          <h2>
            <IconPlugConnected size={16} aria-hidden /> {titleOf(program)}
          </h2>
          <PlaceFields typed={typed} problems={problems} onTyped={setTyped} />
          <PlaceNotes typed={typed} problems={problems} />
          <Program program={program} setup={setup} typed={typed} isGood={isGood} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

/** The part that configures and tests agents. */
export function ConnectPart(props: ConnectPartProps) {
  const setup = useAgentSetup();
  return <AnswerOrFailure asked={setup}>{(data) => <Programs {...props} setup={data} />}</AnswerOrFailure>;
}

const nowhere = { database: null, tenant: null } as const;

function Connected({ handshake, route }: { handshake: Handshake; route: AgentRoute }) {
  return (
    <div className={styles.connected} role="status">
      <IconCircleCheck size={18} aria-hidden />
      <span>
        <strong>{testedWords(handshake)}</strong>{' '}
        <span className="dim">
          {handshake.server}, {route.via === 'http' ? 'by its address' : 'through the bridge'}
        </span>
      </span>
    </div>
  );
}

function Failed({ failure, advice }: { failure: ApiFailure; advice: string | null }) {
  const detail = advice === null ? failure.detail : `${failure.detail.replace(/[.\s]*$/, '.')} ${advice}`;
  return <ProblemNotice failure={{ ...failure, detail }} />;
}

/** A button that tries a configuration, with the outcome. */
function ConnectionTest({ route, place }: { route: AgentRoute; place: AgentPlace }) {
  const { call, endpoint } = useSession();
  const { state, start, cancel } = useRun<Handshake>();
  const reason = useReason('testBridge', nowhere);

  async function work(signal: AbortSignal): Promise<Handshake> {
    if (route.via === 'bridge') {
      const { database, tenant, key } = place;
      return testedBridge(
        await call('testBridge', { body: { database, tenant, key } }, { signal, isWanted: true }),
      );
    }
    const { shakeHands } = await import('./mcp-client.ts');
    return shakeHands({ url: testedUrl(route.url, endpoint.origin), headers: route.headers }, signal);
  }

  const { runningSince, result, failure, cancelledAfter } = state;
  return (
    <div className={`flex-column gap-8 ${styles.test}`}>
      <div className="flex-row gap-6-12 flex-wrap">
        <Guarded reason={route.via === 'bridge' ? reason : null}>
          <Button
            variant="default"
            leftSection={<IconPlugConnected size={14} aria-hidden />}
            disabled={runningSince !== null}
            onClick={() => start(work)}
          >
            Test
          </Button>
        </Guarded>
        <span className="dim">
          {route.via === 'http'
            ? 'Connects to this address with these headers and lists the tools.'
            : 'Starts the bridge as configured, connects through it and lists the tools.'}
        </span>
      </div>
      {runningSince !== null && <Running what="Connecting" since={runningSince} onCancel={cancel} />}
      {runningSince === null && result !== null && <Connected handshake={result} route={route} />}
      {runningSince === null && failure !== null && (
        <Failed failure={failure} advice={adviceFor(failure.code, route, place.key !== null)} />
      )}
      {runningSince === null && cancelledAfter !== null && <CancelledNote after={cancelledAfter} />}
    </div>
  );
}
