/** What would make a statement true, or no longer true: minimal sets of changes, each to be tried or staged. */
import { Button, MultiSelect } from '@mantine/core';
import { IconBulb } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import type { StoredFact } from '../../../engine/contract/facts.ts';
import type { Atom } from '../../../engine/contract/language.ts';
import { parseAtom } from '../../../engine/language/parse.ts';
import { renderAtom } from '../../../engine/language/print.ts';
import { type ApiFailure, apiFailureOf } from '../../api/problem.ts';
import { usePredicates } from '../../api/queries.ts';
import { useReason } from '../../api/rights.ts';
import { useSession, type WorkbenchSession } from '../../api/session.tsx';
import { scopeFieldsOf } from '../../api/space.ts';
import { storedFactsOf } from '../../api/stored-facts.ts';
import { useRun } from '../../api/use-run.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { formatAmount } from '../../ui/format.ts';
import { WhatIfLink } from '../../ui/knowledge-links.tsx';
import { ProblemNotice, Running } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { Tag } from '../../ui/tags.tsx';
import type { Remedies, Remedy } from './change-sets.ts';
import { findRemedies, type RemedyWorld } from './remedies.ts';
import { findRetractions, type RetractionWorld } from './retractions.ts';
import styles from './why-not.module.css';

/** Stages facts to add and stored facts to remove. Rejects with the failure to show. */
export type StageRemedy = (
  label: string,
  changes: {
    readonly added: readonly {
      predicate: string;
      args: readonly string[];
      truthVal: boolean;
      scope: string | null;
    }[];
    readonly removed: readonly StoredFact[];
  },
) => Promise<void>;

const limits = { timeoutMs: 10_000 } as const;

function factOf({ predicate, args, negated }: Atom) {
  return { predicate, args: [...args], truthVal: !negated };
}

/** The knowledge that the service holds, as the search asks about it. */
export function servedWorld(
  { call, space }: WorkbenchSession,
  goal: Atom,
  signal: AbortSignal,
): RemedyWorld & RetractionWorld {
  const scope = scopeFieldsOf(space.scope);
  const ofScope = space.scope.kind === 'named' ? { scope: space.scope.name } : {};
  return {
    async whyNot({ predicate, args, negated }) {
      const body = { predicate, args, negated, mode: 'whyNot' as const, ...scope, ...limits };
      const explained = await call('explain', { body }, { signal });
      return 'attempts' in explained && !explained.holds ? explained.attempts : null;
    },
    async factsBehind({ predicate, args, negated }) {
      const body = { predicate, args, negated, mode: 'why' as const, ...scope, ...limits };
      const explained = await call('explain', { body }, { signal });
      if (!('proof' in explained)) return [];
      const facts = explained.proof.steps
        .filter(({ kind }) => kind === 'fact')
        .map(({ atom }) => parseAtom(atom));
      return [...new Map(facts.map((fact) => [renderAtom(fact), fact])).values()];
    },
    async proofOf({ predicate, args, negated }) {
      const asked = { predicate, args, negated, withProof: true, allProofs: true, limit: 1 };
      const { proof } = await call('ask', { body: { ...asked, ...scope, ...limits } }, { signal });
      return proof ?? { roots: [], steps: [] };
    },
    async matches({ predicate, args, negated }) {
      const body = { predicate, args, negated, ...scope, ...limits, limit: 100 };
      const { results } = await call('ask', { body }, { signal });
      return results.map((atom) => parseAtom(atom));
    },
    async holdsWith(changes) {
      const body = {
        assert: changes
          .filter(({ kind }) => kind === 'assert')
          .map(({ atom }) => ({ ...factOf(atom), ...ofScope })),
        retract: changes
          .filter(({ kind }) => kind === 'retract')
          .map(({ atom }) => ({ ...factOf(atom), ...scope })),
        goals: [{ predicate: goal.predicate, args: [...goal.args], negated: goal.negated }],
        ...scope,
        ...limits,
      };
      const { goals } = await call('whatIf', { body }, { signal });
      return goals.some(({ after }) => after.includes(renderAtom(goal)));
    },
  };
}

function statements(set: Remedy, kind: 'assert' | 'retract'): string {
  return set
    .filter((change) => change.kind === kind)
    .map(({ atom }) => `${renderAtom(atom)}.`)
    .join('\n');
}

interface RemedyItemProps {
  set: Remedy;
  goal: Atom;
  onApply: (set: Remedy) => Promise<void>;
}

function RemedyItem({ set, goal, onApply }: RemedyItemProps) {
  const reason = useReason('commitTransaction');
  const [isStaging, setStaging] = useState(false);
  const [add, retract] = [statements(set, 'assert'), statements(set, 'retract')];
  return (
    <li className={`flex-row flex-wrap gap-2-8 ${styles.premise}`}>
      <ul className={`plain-list ${styles.premiseText}`}>
        {set.map(({ kind, atom }) => (
          <li key={`${kind} ${renderAtom(atom)}`} className="flex-row gap-8">
            <Tag tone={kind === 'assert' ? 'good' : 'bad'}>{kind}</Tag>
            <CodeText text={renderAtom(atom)} />
          </li>
        ))}
      </ul>
      <span className={`gap-2-12 flex-wrap to-right ${styles.links}`}>
        <WhatIfLink
          changes={{
            ...(add === '' ? {} : { add }),
            ...(retract === '' ? {} : { retract }),
            goals: renderAtom(goal),
          }}
        >
          Try what follows
        </WhatIfLink>
        <Button
          size="compact-xs"
          variant="default"
          loading={isStaging}
          disabled={reason !== null}
          title={reason ?? 'Stages the changes; they are stored when you apply them in Facts'}
          onClick={() => {
            setStaging(true);
            void onApply(set).finally(() => setStaging(false));
          }}
        >
          Apply
        </Button>
      </span>
    </li>
  );
}

/** What the changes are for: the statement is to become true, or to be true no longer. */
type RemedyAim = 'true' | 'gone';

const aimWords = {
  true: {
    title: 'What would make it true',
    none: 'No change of these facts was found that would make it true.',
    bounds: 'Of each rule only the way that got furthest was followed',
    beyond: 'No fact could make true, or a value is missing:',
  },
  gone: {
    title: 'What would make it no longer true',
    none: 'No retraction of these facts was found after which it would not be true.',
    bounds: 'Only facts are retracted: no rule is switched off, and nothing is added',
    beyond: 'No retraction ends:',
  },
} as const;

interface AimedProps {
  found: Remedies;
  aim: RemedyAim;
}

/** What the search could not follow, as sentences. */
function Bounds({ found, aim }: AimedProps) {
  return (
    <>
      <p className="dim no-margin">
        {aimWords[aim].bounds}
        {found.isCut ? ', and the search stopped early: there may be other sets, and smaller ones.' : '.'}
      </p>
      {found.outOfReach.length > 0 && (
        <p className="dim no-margin">
          {aimWords[aim].beyond}{' '}
          {found.outOfReach.slice(0, 5).map((text, index) => (
            <span key={text}>
              {index > 0 && ', '}
              <CodeText text={text} />
            </span>
          ))}
          {found.outOfReach.length > 5 && ` and ${found.outOfReach.length - 5} more`}.
        </p>
      )}
    </>
  );
}

function relationOf(predicate: string, arity: number): string {
  return `${predicate}/${arity}`;
}

/** The relations that may be changed: at first those that have stored facts, and those that no rule concludes. */
function usePermitted() {
  const { data } = usePredicates();
  const predicates = useMemo(() => data ?? [], [data]);
  const all = useMemo(
    () => [...new Set(predicates.map(({ name, arity }) => relationOf(name, arity)))],
    [predicates],
  );
  const [chosen, setChosen] = useState<readonly string[] | null>(null);
  const proposed = useMemo(
    () =>
      predicates
        .filter(({ facts, rules }) => facts > 0 || rules === 0)
        .map(({ name, arity }) => relationOf(name, arity)),
    [predicates],
  );
  const permitted = chosen ?? proposed;
  const isPermitted = ({ predicate, args }: Atom) => {
    const relation = relationOf(predicate, args.length);
    // One that is not known yet is nobody's conclusion.
    return permitted.includes(relation) || (chosen === null && !all.includes(relation));
  };
  return { all, permitted, setChosen, isPermitted };
}

interface FoundProps extends AimedProps {
  goal: Atom;
  onApply: (set: Remedy) => Promise<void>;
}

function Found({ found, aim, goal, onApply }: FoundProps) {
  const { sets } = found;
  return (
    <>
      <p className="no-margin" role="status">
        {sets.length === 0
          ? aimWords[aim].none
          : `${formatAmount(sets.length, 'set')} of changes, each tried: any one of them would do.`}
      </p>
      {sets.length > 0 && (
        <ol className={`plain-list ${styles.remedies}`} aria-label="Sets of changes">
          {sets.map((set) => (
            <RemedyItem
              key={set.map(({ kind, atom }) => `${kind} ${renderAtom(atom)}`).join(' ')}
              set={set}
              goal={goal}
              onApply={onApply}
            />
          ))}
        </ol>
      )}
      <Bounds found={found} aim={aim} />
    </>
  );
}

interface RemediesViewProps {
  /** The statement: true now if it is to be `gone`, else not. */
  atom: string;
  aim: RemedyAim;
  onStage: StageRemedy;
}

/** Searches for changes that would make the statement true, or no longer true, when asked to. */
export function RemediesView({ atom, aim, onStage }: RemediesViewProps) {
  const session = useSession();
  const goal = useMemo(() => parseAtom(atom), [atom]);
  const { all, permitted, setChosen, isPermitted } = usePermitted();
  const { state, start, cancel } = useRun<Remedies>();
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const { result, runningSince } = state;
  const find = aim === 'true' ? findRemedies : findRetractions;
  const search = () => start((signal) => find(goal, servedWorld(session, goal, signal), isPermitted));

  async function apply(set: Remedy): Promise<void> {
    setFailure(null);
    const { call, space } = session;
    const scope = space.scope.kind === 'named' ? space.scope.name : null;
    try {
      const removed: StoredFact[] = [];
      for (const { kind, atom: fact } of set)
        if (kind === 'retract') removed.push(...(await storedFactsOf(call, factOf(fact), space.scope, 100)));
      const added = set
        .filter(({ kind }) => kind === 'assert')
        .map((change) => ({ ...factOf(change.atom), scope }));
      await onStage(aim === 'true' ? `staged what makes ${atom} true` : `staged what ends ${atom}`, {
        added,
        removed,
      });
      notifyDone(`${formatAmount(set.length, 'change')} staged: apply them in Facts`);
    } catch (error) {
      setFailure(apiFailureOf(error));
    }
  }

  return (
    <section aria-label={aimWords[aim].title} className="flex-column gap-8">
      <h3 className={styles.heading}>{aimWords[aim].title}</h3>
      <div className={`flex flex-wrap gap-8 ${styles.search}`}>
        <MultiSelect
          className={styles.permitted ?? ''}
          size="xs"
          label="Facts that may change"
          searchable
          data={all}
          value={[...permitted]}
          onChange={setChosen}
        />
        <Button
          variant="default"
          leftSection={<IconBulb size={14} aria-hidden />}
          disabled={runningSince !== null || permitted.length === 0}
          onClick={search}
        >
          Look for changes
        </Button>
      </div>
      {runningSince !== null && <Running what="Looking for changes" since={runningSince} onCancel={cancel} />}
      {(failure ?? state.failure) !== null && (
        <ProblemNotice failure={(failure ?? state.failure) as ApiFailure} />
      )}
      {result !== null && runningSince === null && (
        <Found found={result} aim={aim} goal={goal} onApply={apply} />
      )}
    </section>
  );
}
