import { decideAndWrite, type Writer } from '../session/writer.ts';
import type { Caller } from '../base/caller.ts';
import { invalid } from '../base/errors.ts';
import type { ReadContext } from '../session/read-context.ts';
import type { ConsolidatedValue, Restored, RestoreInput } from '../contract/memory.ts';
import { requireFact } from '../read/describe.ts';
import { encodeWrite } from '../commit/encode-operation.ts';
import type { FactIdentity, FactRow } from '../store/fact-store.ts';
import { factNumberOf } from './patterns.ts';
import { consolidationOf, constantsOf, memberArgs } from './summary.ts';
import { renderIdentity } from '../language/print.ts';
import { type FactToRestore, type Restore } from '../state/operation.ts';

/** The outcome of a restore without its generation. */
type Answer = Omit<Restored, 'generation'>;

/**
 * Restores the facts that a summary represents and retracts the summary. A fact stored again in the meantime stays as
 * it is; one whose validity has ended returns as expired. Throws FactNotFound, or ValidationException if the fact is
 * not a summary.
 */
export async function restore(writer: Writer, caller: Caller, { id }: RestoreInput): Promise<Restored> {
  return decideAndWrite(writer, caller, 'restored', async (context, logical) => {
    const time = Math.max(logical, context.reader.time);
    const summary = requireFact(context, id);
    const facts = await factsOf(context, summary, time);
    const answer = answerOf(facts);
    const write: Restore = {
      kind: 'restore',
      tenant: caller.tenant,
      summary: factNumberOf(summary),
      facts,
      answer: caller.idempotency === null ? null : answer,
    };
    return { answer, write: await encodeWrite(write, context.pacer) };
  });
}

const factsInSlice = 256;

/** The facts to restore. Throws if the fact is not a summary. */
async function factsOf(
  { tenant: { facts }, pacer }: ReadContext,
  summary: FactRow,
  time: number,
): Promise<FactToRestore[]> {
  const { args, truthVal, scope } = facts.identityOf(summary);
  const consolidation = consolidationOf(facts, summary);
  if (consolidation === null)
    throw invalid(
      'id',
      'this fact is not a summary: only facts that consolidation created, with their metadata.consolidated, can be restored',
    );
  const { from: predicate, position, values } = consolidation;
  const returning: FactToRestore[] = [];
  for (const [at, entry] of values.entries()) {
    if (at % factsInSlice === 0) await pacer.breathe();
    const identity = {
      predicate,
      args: memberArgs(constantsOf(args), position, entry.value),
      truthVal,
      scope,
    };
    const known = facts.find(predicate, identity.args, truthVal, scope);
    if (known !== null && facts.isStored(known, time)) continue;
    returning.push(factToRestore(identity, entry, time));
  }
  return returning;
}

function factToRestore(identity: FactIdentity, entry: ConsolidatedValue, time: number): FactToRestore {
  const { createdAt, validFrom, validUntil, metadata } = entry;
  return {
    ...identity,
    ...(validFrom === undefined ? {} : { validFrom }),
    ...(validUntil === undefined ? {} : { validUntil }),
    ...(metadata === undefined ? {} : { metadata }),
    createdAt: Math.min(createdAt, time),
  };
}

function answerOf(facts: readonly FactToRestore[]): Answer {
  return { restored: facts.length, atoms: facts.map(renderIdentity) };
}
