/** Exports: here, or on a reasoning thread, which writes the facts as text while they are sent. */
import type { Caller } from '../base/caller.ts';
import { relationKey } from '../language/terms.ts';
import { textFormat } from '../read/export-formats.ts';
import {
  type ExportChoice,
  exportedRelations,
  type ExportedKnowledge,
  exportedKnowledge,
} from '../read/export-knowledge.ts';
import {
  type ExportEnd,
  exportFactText,
  type ExportInput,
  exportText,
  ExportWriter,
  type SendPart,
} from '../read/export-text.ts';
import type { ReadContext } from '../session/read-context.ts';
import { unlimited } from '../session/writer.ts';
import { AnswerLost } from '../reasoning/pieces.ts';
import type { ReasoningThreads } from '../reasoning/reasoning-threads.ts';
import type { ReadingEngine } from './engine-context.ts';

/** Rows that an export reads from which on it is worth a copy: fewer are written here in 50 ms. */
const minMovedRows = 25_000;

/** Exports what the choice names, part by part. Nothing was sent if it rejects before the first part. */
export async function exportKnowledge(
  { live, threads }: ReadingEngine,
  caller: Caller,
  input: ExportInput,
  send: SendPart,
): Promise<ExportEnd> {
  if (threads !== null && threads.host.afterMs < Number.POSITIVE_INFINITY) {
    const moved = await live.reading(caller, unlimited, async (context) =>
      rowsOf(context, input.choice) < minMovedRows && threads.host.afterMs > 0
        ? null
        : exportThere(live, threads, caller, context, input, send),
    );
    if (moved !== null) return moved;
  }
  return live.reading(caller, unlimited, (context) => exportText(context, input, send));
}

/**
 * null: it cannot be written there, and nothing was sent. If its thread ends in the middle, what is left is written here, of the
 * same generation and instant: the same facts in the same order, so that it goes on after the last byte that was sent.
 */
async function exportThere(
  live: ReadingEngine['live'],
  threads: ReasoningThreads,
  caller: Caller,
  context: ReadContext,
  input: ExportInput,
  send: SendPart,
): Promise<ExportEnd | null> {
  const { choice, format } = input;
  const writer = new ExportWriter(textFormat(format), send);
  let plan: ExportedKnowledge | null = null;
  let seen = context;
  let hasHead = false;
  /** Bytes of what the thread wrote. */
  let sent = 0;
  const head = async (): Promise<void> => {
    if (hasHead || plan === null) return;
    hasHead = true;
    await writer.head(plan);
  };
  const asked = threads.ask(caller, context, {
    ...unlimited,
    task: { kind: 'exportFacts', input },
    shape: null,
    // It can be written here.
    evicts: false,
    reach: (now) => ({
      goals: [],
      relations: exportedRelations(now, choice).map(({ predicate, arity, negated }) =>
        relationKey(predicate, arity, negated),
      ),
    }),
    stream: {
      // What is not copied is as it is when the facts are pinned.
      begun: (now) => {
        seen = now;
        plan = exportedKnowledge(now, choice);
      },
      take: async (piece) => {
        await head();
        await writer.flush();
        await send(piece);
        sent += piece.length;
      },
    },
  });
  const written = await asked.then(
    (moved) => moved && (moved.value as ExportEnd),
    async (error: unknown) => {
      if (!(error instanceof AnswerLost)) throw error;
      live.refuseClosed();
      await head();
      await writer.flush();
      return exportFactText(seen, input, without(sent, send));
    },
  );
  if (written === null || plan === null) return null;
  await head();
  await writer.tail(plan);
  return { omitted: writer.omitted + written.omitted };
}

/** Leaves out the first bytes of what is sent. */
function without(bytes: number, send: SendPart): SendPart {
  let left = bytes;
  return async (part) => {
    const encoded = typeof part === 'string' ? new TextEncoder().encode(part) : part;
    const rest = encoded.subarray(Math.min(left, encoded.length));
    left -= encoded.length - rest.length;
    if (rest.length > 0) await send(rest);
  };
}

function rowsOf(context: ReadContext, choice: ExportChoice): number {
  const { generation } = context.reader;
  return exportedRelations(context, choice).reduce((sum, relation) => sum + relation.rowsAt(generation), 0);
}
