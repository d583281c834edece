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
  type ExportInput,
  exportText,
  ExportWriter,
  type SendPart,
} from '../read/export-text.ts';
import type { ReadContext } from '../session/read-context.ts';
import { unlimited } from '../session/writer.ts';
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
  if (threads !== null && threads.afterMs < Number.POSITIVE_INFINITY) {
    const moved = await live.reading(caller, unlimited, async (context) =>
      rowsOf(context, input.choice) < minMovedRows && threads.afterMs > 0
        ? null
        : exportThere(threads, caller, context, input, send),
    );
    if (moved !== null) return moved;
  }
  return live.reading(caller, unlimited, (context) => exportText(context, input, send));
}

/** null: it cannot be written there, and nothing was sent. */
async function exportThere(
  threads: ReasoningThreads,
  caller: Caller,
  context: ReadContext,
  input: ExportInput,
  send: SendPart,
): Promise<ExportEnd | null> {
  const { choice, format } = input;
  const writer = new ExportWriter(textFormat(format), send);
  let plan: ExportedKnowledge | null = null;
  let hasHead = false;
  const head = async (): Promise<void> => {
    if (hasHead || plan === null) return;
    hasHead = true;
    await writer.head(plan);
  };
  const moved = await threads.ask(caller, context, {
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
      begun: (now) => void (plan = exportedKnowledge(now, choice)),
      take: async (piece) => {
        await head();
        await writer.flush();
        await send(piece);
      },
    },
  });
  if (moved === null || plan === null) return null;
  await head();
  await writer.tail(plan);
  const { omitted } = moved.value as ExportEnd;
  return { omitted: writer.omitted + omitted };
}

function rowsOf(context: ReadContext, choice: ExportChoice): number {
  const { generation } = context.reader;
  return exportedRelations(context, choice).reduce((sum, relation) => sum + relation.rowsAt(generation), 0);
}
