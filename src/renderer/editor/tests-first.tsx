/** Whether stored tests judge a change before it is saved, and what they said. */
import { Switch } from '@mantine/core';
import { create } from 'zustand';
import type { TestsOfWrite } from '../../engine/contract/stored-tests.ts';
import { ProblemNotice } from '../ui/notices.tsx';
import { readStoredState, writeStored } from '../ui/stored-state.ts';
import { Tooltip } from '../ui/tooltip.tsx';
import { TestOutcomeShown } from './test-outcome.tsx';
import styles from './test-outcome.module.css';

const choiceKey = 'corollary.tests.first';

const useChoice = create<{ readonly isOn: boolean }>()(() => ({
  isOn: readStoredState(choiceKey, (value) => (typeof value === 'boolean' ? value : null), false),
}));

/** Returns whether stored tests run first; survives a restart. */
export function useTestsFirst(): boolean {
  return useChoice(({ isOn }) => isOn);
}

/** Shows the switch that makes stored tests run before a change of rules or a merge. */
export function TestsFirst() {
  const isOn = useTestsFirst();
  return (
    <Tooltip label="Run the stored tests over the outcome, and save nothing if one fails">
      <Switch
        label="Run tests first"
        checked={isOn}
        onChange={(event) => {
          const next = event.currentTarget.checked;
          writeStored(choiceKey, next);
          useChoice.setState({ isOn: next });
        }}
      />
    </Tooltip>
  );
}

/** How many failing tests are shown. */
const maxShown = 10;

/** A refusal, with the tests that would fail if these are the reason. */
export function RefusalShown({
  failure,
}: {
  failure: Parameters<typeof ProblemNotice>[0]['failure'] & { readonly tests?: TestsOfWrite | null };
}) {
  const failures = failure.tests?.failures ?? [];
  return (
    <>
      <ProblemNotice failure={failure} />
      {failures.length > 0 && (
        <div className={styles.refused} tabIndex={0} role="region" aria-label="Tests that fail">
          {failures.slice(0, maxShown).map((outcome) => (
            <TestOutcomeShown key={outcome.name} outcome={outcome} />
          ))}
        </div>
      )}
    </>
  );
}
