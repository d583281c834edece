/** Starts the tour and removes its knowledge at the end. */
import type { WorkbenchSession } from '../../api/session.tsx';
import { type Call, isStored, tourFacts, tourRule } from './tour-steps.ts';
import type { Before } from './tour-progress.ts';
import { resumeTour, setProgress, useTour } from './tour-store.ts';

async function ruleIds(call: Call): Promise<string[]> {
  const { rules } = await call('listRules', {});
  return rules
    .filter(({ text }) => text.replace(/\.$/, '') === tourRule.replace(/\.$/, ''))
    .map(({ id }) => id);
}

/** Returns the part of the tour's knowledge that exists. */
export async function knownOfTour(call: Call): Promise<Before> {
  const facts: number[] = [];
  for (const [index, fact] of tourFacts.entries()) if (await isStored(call, fact)) facts.push(index);
  return { facts, rules: await ruleIds(call) };
}

/** Resumes the tour, or starts it in the session's space. Throws the calls' errors. */
export async function takeTour({ call, space: { database, tenant } }: WorkbenchSession): Promise<void> {
  const { progress } = useTour.getState();
  if (progress !== null && progress.database === database && progress.tenant === tenant) {
    resumeTour();
    return;
  }
  setProgress({ isOpen: true, step: 0, database, tenant, before: await knownOfTour(call) });
}

/** Retracts the facts and deletes the rules that did not exist before the tour. */
export async function removeTourKnowledge(call: Call, before: Before): Promise<void> {
  const now = await knownOfTour(call);
  for (const id of now.rules) if (!before.rules.includes(id)) await call('deleteRule', { params: { id } });
  for (const index of now.facts) {
    const fact = tourFacts[index];
    if (fact !== undefined && !before.facts.includes(index))
      await call('retract', {
        body: { predicate: fact.predicate, args: [...fact.args], truthVal: true },
      });
  }
}
