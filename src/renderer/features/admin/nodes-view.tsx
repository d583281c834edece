/**
 * The nodes of a store that several services share: which of them have each database and which one stores its writes, how much
 * of its memory each uses, how far it is behind, and how to let another one store the writes.
 *
 * Refreshed every two seconds while visible.
 */
import { Button, Select } from '@mantine/core';
import type { NodeList } from '../../../engine/contract/administration.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useNodes } from '../../api/queries.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Strip, StripItem, TextBlock } from '../../ui/blocks.tsx';
import { formatAmount, formatBytes, formatCount, formatDuration, formatTime } from '../../ui/format.ts';
import { Banner, Loading, PaneProblem } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { PaneFrame, PaneTitle } from '../../ui/pane.tsx';
import { Tag } from '../../ui/tags.tsx';
import styles from './dashboard.module.css';
import { useAdminWrite, useRefusal } from './rights.ts';

type Node = NodeList['nodes'][number];
type Log = NonNullable<NodeList['log']>;
type Database = NodeList['databases'][number];

function Readings({ log, nodes }: { log: Log; nodes: readonly Node[] }) {
  const { position, epoch, owner, ownedSince, historyId } = log;
  const address = nodes.find(({ id }) => id === owner)?.address;
  return (
    <Strip label="The catalogue of the store">
      <StripItem title="Owner" hint="The node that stores keys">
        <span className={address === undefined ? 'dim' : `mono ${styles.address}`}>{address ?? 'none'}</span>
      </StripItem>
      <StripItem title="Since">
        <span className="number">{ownedSince === null ? '–' : formatTime(ownedSince)}</span>
      </StripItem>
      <StripItem title="Records" hint="Of all databases and the catalogue">
        <span className="number">{formatCount(position)}</span>
      </StripItem>
      <StripItem title="Epoch" hint="Counts how often a node took the log">
        <span className="number">{formatCount(epoch)}</span>
      </StripItem>
      <StripItem title="History" hint="A new one begins if PostgreSQL loses what it had confirmed">
        <code className="mono">{historyId}</code>
        <CopyButton text={historyId} label="Copy the id of the history" />
      </StripItem>
    </Strip>
  );
}

function stateOf({ alive, problem, role, lagRecords, staleMs }: Node) {
  if (!alive) return { tone: 'bad', words: 'gone' } as const;
  if (problem !== null) return { tone: 'bad', words: 'does not follow' } as const;
  if (role === 'owner') return { tone: 'good', words: 'owner' } as const;
  return lagRecords === 0 || staleMs <= freshMs
    ? ({ tone: 'good', words: 'copy' } as const)
    : ({ tone: 'warn', words: 'behind' } as const);
}

function MoveButton({ node }: { node: Node }) {
  const move = useAdminWrite('moveLog', []);
  const isOffered = useRefusal() === null;
  if (!isOffered || node.role === 'owner' || !node.alive) return null;
  const onClick = () =>
    move.mutate(
      { body: { to: node.id } },
      {
        onSuccess: ({ address, heldMs }) =>
          notifyDone(`${address} stores the writes now. They waited at most ${formatDuration(heldMs)}.`),
      },
    );
  return (
    <>
      <Button
        size="compact-xs"
        variant="default"
        loading={move.isPending}
        aria-label={`Move what the owner has to ${node.address}`}
        onClick={onClick}
      >
        Move from the owner
      </Button>
      {move.error !== null && <Banner>{apiFailureOf(move.error).detail}</Banner>}
    </>
  );
}

function Memory({ usedBytes, memoryBytes }: Pick<Node, 'usedBytes' | 'memoryBytes'>) {
  if (usedBytes === null) return '–';
  if (memoryBytes === null) return formatBytes(usedBytes);
  const share = usedBytes / memoryBytes;
  return (
    <>
      <meter
        className={styles.meter}
        aria-label="Memory in use"
        min={0}
        max={1}
        high={fullShare}
        optimum={0}
        value={Math.min(1, share)}
      />{' '}
      {formatBytes(usedBytes)} of {formatBytes(memoryBytes)}
    </>
  );
}

function NodeRow({ node }: { node: Node }) {
  const { address, self, lagRecords, staleMs, takes, owned, copies, problem } = node;
  const { tone, words } = stateOf(node);
  return (
    <tr>
      <th scope="row">
        <span className="mono">{address === '' ? 'no address' : address}</span>{' '}
        {self && <Tag tone="good">answers this</Tag>}
      </th>
      <td>
        <Tag tone={tone}>{words}</Tag> {problem !== null && <span className="dim">{problem}</span>}
      </td>
      <td className="number">
        {lagRecords === 0 ? '–' : `${formatAmount(lagRecords, 'record')}, ${formatDuration(staleMs)}`}
      </td>
      <td className="number">{formatCount(owned)}</td>
      <td className="number">{formatCount(copies)}</td>
      <td className="number">{formatCount(takes)}</td>
      <td className="number">
        <Memory {...node} />
      </td>
      <td>
        <MoveButton node={node} />
      </td>
    </tr>
  );
}

function DatabaseRow({ database, nodes }: { database: Database; nodes: readonly Node[] }) {
  const { name, owner, position, bytes, placed, copies } = database;
  const move = useAdminWrite('moveLog', []);
  const isOffered = useRefusal() === null;
  const address = nodes.find(({ id }) => id === owner)?.address;
  const others = nodes.filter(({ id, alive }) => alive && id !== owner);
  const addressOf = (node: string): string =>
    nodes.find(({ id }) => id === node)?.address ?? node.slice(0, 8);
  const isAlive = (node: string): boolean => nodes.some(({ id, alive }) => alive && id === node);
  const coming = placed.filter((node) => node !== owner && !copies.includes(node) && isAlive(node));
  const onMove = (to: string | null) => {
    if (to === null) return;
    move.mutate(
      { body: { to, database: name } },
      {
        onSuccess: ({ address: at, heldMs }) =>
          notifyDone(`${at} stores the writes to ${name} now. They waited ${formatDuration(heldMs)}.`),
      },
    );
  };
  return (
    <tr>
      <th scope="row" className="mono">
        {name}
      </th>
      <td className={address === undefined ? 'dim' : 'mono'}>{address ?? 'none'}</td>
      <td>
        {copies.map((node) => (
          <div key={node} className="mono">
            {addressOf(node)}
          </div>
        ))}
        {coming.map((node) => (
          <div key={node} className="mono dim">
            {addressOf(node)} <Tag tone="warn">reads it</Tag>
          </div>
        ))}
        {copies.length + coming.length === 0 && <span className="dim">none</span>}
      </td>
      <td className="number">{bytes === 0 ? '–' : formatBytes(bytes)}</td>
      <td className="number">{formatCount(position)}</td>
      <td>
        {isOffered && others.length > 0 && (
          <Select
            size="xs"
            placeholder="Move to"
            aria-label={`Move ${name} to another node`}
            disabled={move.isPending}
            value={null}
            data={others.map(({ id, address: label }) => ({ value: id, label }))}
            onChange={onMove}
          />
        )}
        {move.error !== null && <Banner>{apiFailureOf(move.error).detail}</Banner>}
      </td>
    </tr>
  );
}

function Databases({ databases, nodes }: Pick<NodeList, 'databases' | 'nodes'>) {
  return (
    <section aria-label="Databases of the store" className="flex-column gap-6 flat-text">
      <h2 className="pane-title">{formatAmount(databases.length, 'database')}</h2>
      <table className={styles.followers}>
        <thead>
          <tr>
            <th scope="col">Database</th>
            <th scope="col">Owner</th>
            <th scope="col">Copies</th>
            <th scope="col">Memory, about</th>
            <th scope="col">Records</th>
            <th scope="col" aria-label="Actions" />
          </tr>
        </thead>
        <tbody>
          {databases.map((database) => (
            <DatabaseRow key={database.name} database={database} nodes={nodes} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Nodes({ log, databases, nodes }: { log: Log } & Pick<NodeList, 'databases' | 'nodes'>) {
  return (
    <>
      <Readings log={log} nodes={nodes} />
      <div className={`flex-column gap-24 ${styles.parts}`}>
        <section aria-label="Nodes of the store" className="flex-column gap-6 flat-text">
          <h2 className="pane-title">{formatAmount(nodes.length, 'node')}</h2>
          <table className={styles.followers}>
            <thead>
              <tr>
                <th scope="col">Node</th>
                <th scope="col">State</th>
                <th scope="col">Behind</th>
                <th scope="col">Owns</th>
                <th scope="col">Copies</th>
                <th scope="col">Took logs</th>
                <th scope="col">Memory</th>
                <th scope="col" aria-label="Actions" />
              </tr>
            </thead>
            <tbody>
              {nodes.map((node) => (
                <NodeRow key={node.id} node={node} />
              ))}
            </tbody>
          </table>
          <p className="dim">
            Every node answers any question, and passes those about databases that it does not have on to a
            node with a copy. The owner of a database stores its writes; while its log moves, these wait, and
            its open transactions are lost. A node above 80% of its memory gets no more databases. Figures are
            those of each node’s last sign of life.
          </p>
        </section>
        <Databases databases={databases} nodes={nodes} />
      </div>
    </>
  );
}

/** What a service by itself needs to become one of several. */
function Alone() {
  return (
    <div className={`flex-column gap-24 ${styles.parts}`}>
      <section aria-label="Several nodes" className="flex-column gap-6 flat-text">
        <h2 className="pane-title">This service keeps its knowledge by itself</h2>
        <p>
          Several services can share their knowledge in a PostgreSQL database: each answers questions, and if
          one dies, another takes its place.
        </p>
        <TextBlock
          title="To share it, start each with"
          text={nodeSettings}
          label="Copy the settings of a node"
        />
        <p className="dim">
          What is stored here moves there with{' '}
          <code className="mono">corollary store import --from FOLDER</code>.
        </p>
      </section>
    </div>
  );
}

/** The nodes of the store that this service belongs to. */
export function NodesView() {
  const { data, error, refetch } = useNodes(2000);
  return (
    <PaneFrame label="Nodes" title={<PaneTitle isWhole>Nodes</PaneTitle>}>
      {error !== null && data === undefined ? (
        <PaneProblem failure={apiFailureOf(error)} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading />
      ) : (
        <>
          {error !== null && <Banner>{apiFailureOf(error).detail}</Banner>}
          {data.log === null ? (
            <Alone />
          ) : (
            <Nodes log={data.log} databases={data.databases} nodes={data.nodes} />
          )}
        </>
      )}
    </PaneFrame>
  );
}

/** A node above this share of its memory gets no more databases. */
const fullShare = 0.8;

/** A copy looks every 250 ms and tells it twice a second. */
const freshMs = 1500;

const nodeSettings = [
  'STORE_URL=postgres://USER:PASSWORD@HOST:5432/DATABASE',
  'NODE_SECRET_FILE=a file with the same secret for all',
  'NODE_ADDRESS=http://where the others reach it:9300',
].join('\n');
