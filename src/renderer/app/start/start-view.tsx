import { Button, Progress, Skeleton } from '@mantine/core';
import { IconArrowRight, IconListSearch, IconPlus, IconSchool } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import icon from '../../../../resources/icons/corollary.svg';
import { declarationInputSchema } from '../../../engine/contract/declarations.ts';
import { factsInputSchema } from '../../../engine/contract/facts.ts';
import type { Sample, SampleEntry } from '../../../engine/contract/samples.ts';
import { validate } from '../../../engine/contract/validation.ts';
import { fetchJson } from '../../api/client.ts';
import { invalidate, topics } from '../../api/live.ts';
import { Permitted } from '../../api/permitted.tsx';
import { apiFailureOf } from '../../api/problem.ts';
import { suggest } from '../../api/questions.ts';
import { useSession, type WorkbenchSession } from '../../api/session.tsx';
import { CodeText } from '../../editor/code-text.tsx';
import { formatAmount } from '../../ui/format.ts';
import { ProblemNotice } from '../../ui/notices.tsx';
import styles from './start.module.css';

/** Fetches the list of sample knowledge bases, static files beside the workbench. */
async function fetchSamples(signal?: AbortSignal): Promise<SampleEntry[]> {
  const options = signal === undefined ? {} : { signal };
  return (await fetchJson('/samples/index.json', options)) as SampleEntry[];
}

async function readSample(entry: SampleEntry): Promise<Sample> {
  return (await fetchJson(`/samples/${encodeURIComponent(entry.file)}`)) as Sample;
}

/** Progress of loading a sample. */
interface SampleProgress {
  readonly facts: number;
  readonly rules: number;
  /** Facts and rules together. */
  readonly total: number;
}

const batch = 500;

/**
 * Loads a sample through the public API: declarations, facts in batches, each rule, constraints, aliases. Reports after every step. Throws the calls'
 * errors; earlier writes remain.
 */
async function openSample(
  { call }: WorkbenchSession,
  sample: Sample,
  onProgress: (progress: SampleProgress) => void,
): Promise<void> {
  const total = sample.facts.length + sample.rules.length;
  const checked = validate(factsInputSchema, sample.facts);
  if (!checked.ok) throw damaged(checked.errors);
  for (const { name, arity, ...body } of sample.declarations ?? []) {
    const declaration = validate(declarationInputSchema, body);
    if (!declaration.ok) throw damaged(declaration.errors);
    await call(
      'declarePredicate',
      { params: { name, arity: String(arity) }, body: declaration.value },
      { isWanted: true },
    );
  }
  let facts = 0;
  for (; facts < sample.facts.length; facts += batch) {
    onProgress({ facts, rules: 0, total });
    await call(
      'assertFacts',
      { body: { facts: sample.facts.slice(facts, facts + batch) } },
      { isWanted: true },
    );
  }
  facts = sample.facts.length;
  for (const [index, rule] of sample.rules.entries()) {
    onProgress({ facts, rules: index, total });
    const { text, name, description } = rule;
    await call('assertRule', { body: { text, name, description } }, { isWanted: true });
  }
  for (const body of sample.constraints ?? []) await call('addConstraint', { body }, { isWanted: true });
  for (const body of sample.aliases ?? []) await call('addAlias', { body }, { isWanted: true });
  onProgress({ facts, rules: sample.rules.length, total });
}

function damaged([first]: readonly { readonly path: string; readonly message: string }[]): Error {
  return new Error(`The sample is damaged: ${first?.path} ${first?.message}`);
}

interface Opening {
  readonly entry: SampleEntry;
  readonly progress: SampleProgress | null;
}

function SampleCard({ entry, isBusy, onOpen }: { entry: SampleEntry; isBusy: boolean; onOpen: () => void }) {
  return (
    <li className={`flex-column gap-8 ${styles.card}`}>
      <h3 className="pane-title">{entry.title}</h3>
      <p>{entry.description}</p>
      <Permitted operation="assertRule">
        <Button
          variant="light"
          disabled={isBusy}
          onClick={onOpen}
          aria-label={`Open the sample ${entry.title}`}
        >
          Open
        </Button>
      </Permitted>
    </li>
  );
}

function Loading({ opening }: { opening: Opening }) {
  const { progress, entry } = opening;
  const done = progress === null ? 0 : progress.facts + progress.rules;
  const total = progress?.total ?? 1;
  return (
    <section className={styles.loading}>
      <p>
        <span role="status">Opening {entry.title}</span>:{' '}
        {progress === null ? 'reading' : `${done} of ${total} facts and rules`}
      </p>
      <Progress value={(done / total) * 100} aria-label="Progress" />
    </section>
  );
}

function Opened({ sample }: { sample: Sample }) {
  return (
    <section className={styles.opened} aria-label="Opened">
      <h2>{sample.title} is open</h2>
      <p className="dim" role="status">
        {formatAmount(sample.facts.length, 'fact')} and {formatAmount(sample.rules.length, 'rule')};{' '}
        <Link to="/schema">
          {formatAmount(sample.declarations?.length ?? 0, 'declared predicate')} and{' '}
          {formatAmount(sample.constraints?.length ?? 0, 'constraint')}
        </Link>{' '}
        say what they mean. Ask something:
      </p>
      <ul className="plain-list flex-column gap-4">
        {sample.questions.map((question) => (
          <li key={question}>
            <Link to="/ask" search={{ question }} className={`flex-row gap-8 ${styles.question}`}>
              <CodeText text={question} />
              <IconArrowRight size={15} aria-hidden />
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Ways() {
  return (
    <ol className={styles.ways}>
      <li>
        <IconPlus size={18} aria-hidden />
        <div>
          <Link to="/facts">State facts</Link>
          <CodeText text="parent(alice, bob)." />
        </div>
      </li>
      <li>
        <IconSchool size={18} aria-hidden />
        <div>
          <Link to="/rules">Teach rules</Link>
          <CodeText text={'grandparent(?x, ?z) :-\nparent(?x, ?y), parent(?y, ?z).'} />
        </div>
      </li>
      <li>
        <IconListSearch size={18} aria-hidden />
        <div>
          <Link to="/ask">Ask, and see why</Link>
          <CodeText text="grandparent(alice, ?who)" />
        </div>
      </li>
    </ol>
  );
}

/** Shows the first page of an empty knowledge base: first steps, samples, and `tour`, the way into the tour. */
export function StartView({ tour }: { tour: ReactNode }) {
  const session = useSession();
  const client = useQueryClient();
  const [opening, setOpening] = useState<Opening | null>(null);
  const samples = useQuery({
    queryKey: ['service', 'samples'],
    queryFn: ({ signal }) => fetchSamples(signal),
  });
  const open = useMutation({
    mutationFn: async (entry: SampleEntry) => {
      setOpening({ entry, progress: null });
      const sample = await readSample(entry);
      await openSample(session, sample, (progress) => setOpening({ entry, progress }));
      suggest(session.space, sample.questions);
      return sample;
    },
    onSettled: () => {
      setOpening(null);
      invalidate(client, session.endpoint, topics);
    },
  });

  return (
    <div className="tall scrolls">
      <div className={`flex-column gap-16 ${styles.column}`}>
        <header className={`flex-row gap-16 ${styles.welcome}`}>
          <img src={icon} alt="" width={52} height={52} />
          <div>
            <h1>Knowledge, and what follows from it</h1>
            <p className="dim">State facts, teach rules, ask questions. Every answer comes with its proof.</p>
          </div>
        </header>
        <Ways />
        {tour}
        <h2 className={styles.heading}>Open the sample knowledge base</h2>
        {samples.error !== null && (
          <ProblemNotice failure={apiFailureOf(samples.error)} onRetry={() => void samples.refetch()} />
        )}
        {open.error !== null && <ProblemNotice failure={apiFailureOf(open.error)} />}
        {opening !== null && <Loading opening={opening} />}
        {open.data !== undefined && opening === null && <Opened sample={open.data} />}
        <ul className={`plain-list gap-12 ${styles.cards}`}>
          {samples.isPending
            ? [1, 2, 3].map((place) => <Skeleton key={place} height={150} radius="md" />)
            : samples.data?.map((entry) => (
                <SampleCard
                  key={entry.id}
                  entry={entry}
                  isBusy={opening !== null}
                  onOpen={() => open.mutate(entry)}
                />
              ))}
        </ul>
        <p className="dim">
          A sample is added to the database {session.space.database}, tenant {session.space.tenant}. Choose
          others in the title bar first to keep it apart.
        </p>
      </div>
    </div>
  );
}
