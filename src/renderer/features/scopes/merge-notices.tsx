/** What is said over the comparison: a merge that was made and can be taken back, one that was refused, news. */
import { Button, CloseButton } from '@mantine/core';
import { IconArrowBackUp } from '@tabler/icons-react';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { Banner, ProblemNotice } from '../../ui/notices.tsx';
import { KeyCaps } from '../../ui/tags.tsx';
import { sideLabel } from './scopes-search.ts';
import { type ScopeComparison, mostCompared } from './use-comparison.ts';
import type { MadeMerge, Merge, MergeState } from './use-merge.ts';
import styles from './scopes.module.css';

function wordsOf({ source, target, merged }: MadeMerge): string {
  const { added, updated, deleted } = merged;
  const what =
    added + updated + deleted === 0
      ? 'nothing had to change'
      : `${formatAmount(added, 'fact')} added, ${formatCount(updated)} updated, ${formatCount(deleted)} deleted`;
  return `Merged ${sideLabel(source)} into ${sideLabel(target)}: ${what}.`;
}

const whyNoUndo = {
  'too many': ' It changed too many facts to be undone from here.',
  'others wrote': ' Others wrote at the same moment, so it cannot be undone from here.',
} as const;

/** An undo of many facts takes a while. */
function Undoing({ state }: { state: Extract<MergeState, { kind: 'undoing' }> }) {
  return (
    <>
      <span className="number">
        Undoing: {formatCount(state.made)} of {formatCount(state.count)}
      </span>
      <Button size="compact-xs" variant="default" onClick={state.cancel}>
        Cancel
      </Button>
    </>
  );
}

function LastMerge({ made, merge }: { made: MadeMerge; merge: Merge }) {
  const { undo } = made;
  const { state } = merge;
  const canUndo = typeof undo !== 'string' && undo.length > 0;
  return (
    <Banner
      action={
        <>
          {state.kind === 'undoing' && state.count > 100 && <Undoing state={state} />}
          {canUndo && (
            <Button
              size="compact-xs"
              variant="default"
              leftSection={<IconArrowBackUp size={13} aria-hidden />}
              rightSection={<KeyCaps keys="Mod+Z" look="plain" />}
              loading={state.kind === 'undoing'}
              disabled={merge.isBusy}
              onClick={merge.undo}
            >
              Undo
            </Button>
          )}
          <CloseButton
            size="sm"
            aria-label="Close the note on the merge"
            disabled={merge.isBusy}
            onClick={merge.forget}
          />
        </>
      }
    >
      {wordsOf(made)}
      {typeof undo === 'string' && whyNoUndo[undo]}
    </Banner>
  );
}

function Failed({ merge }: { merge: Merge }) {
  const { state, dismiss } = merge;
  if (state.kind !== 'failed') return null;
  return (
    <div className={styles.failed}>
      <ProblemNotice failure={state.failure} />
      <p>
        {state.what === 'merge' ? 'Nothing was merged.' : 'Nothing was undone.'}{' '}
        <Button size="compact-xs" variant="default" onClick={dismiss}>
          Close
        </Button>
      </p>
    </div>
  );
}

export function MergeNotices({ comparison, merge }: { comparison: ScopeComparison; merge: Merge }) {
  const { state, last, isBusy } = merge;
  const { isChanged, isTruncated, acknowledge, differences } = comparison;
  const ok = (onClick: () => void) => (
    <Button size="compact-xs" variant="default" onClick={onClick}>
      Seen
    </Button>
  );
  return (
    <>
      {last !== null && <LastMerge made={last} merge={merge} />}
      <Failed merge={merge} />
      {state.kind === 'moved on' && (
        <Banner
          action={ok(() => {
            acknowledge(differences.data);
            merge.dismiss();
          })}
        >
          Nothing was merged: the scopes were changed meanwhile. Look at what differs now, then merge again.
        </Banner>
      )}
      {isChanged && !isBusy && state.kind !== 'moved on' && (
        <Banner action={ok(() => acknowledge(differences.data))}>
          The scopes were changed elsewhere. What is shown is how they differ now.
        </Banner>
      )}
      {isTruncated && (
        <Banner>
          More than {formatCount(mostCompared)} facts of a kind differ; only these are shown. A merge is made
          of all.
        </Banner>
      )}
    </>
  );
}
