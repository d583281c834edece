/** One call of GET /export, to a file of the user's. */
import type { ExportFormat } from '../../../engine/contract/transfer.ts';
import { type ServiceEndpoint, addressOf } from '../../api/client.ts';
import { saveAnswer, type SavingFailures, type Sink } from '../../api/save-answer.ts';
import { scopeFieldsOf, type ScopeSelection } from '../../api/space.ts';
import { exportFormatSpecs } from './formats.ts';

export interface ExportPlan {
  readonly endpoint: ServiceEndpoint;
  readonly format: ExportFormat;
  readonly scope: ScopeSelection;
  /** null: of all predicates. */
  readonly predicate: string | null;
  readonly rules: boolean;
}

/** The address that answers with the file. */
export function exportUrl({ endpoint, format, scope, predicate, rules }: ExportPlan): string {
  const { scope: name, unscoped } = scopeFieldsOf(scope);
  return addressOf(endpoint, 'exportKnowledge', {
    query: {
      format,
      scope: name,
      unscoped: unscoped === true ? 'true' : undefined,
      predicate,
      rules: exportFormatSpecs[format].holdsRules ? (rules ? 'true' : 'false') : undefined,
    },
  });
}

/** A name for the file that says what is in it. */
export function exportFileName({ endpoint, format, scope, predicate }: ExportPlan): string {
  const parts = [
    endpoint.tenant === 'default' ? endpoint.database : `${endpoint.database}-${endpoint.tenant}`,
    ...(scope.kind === 'named' ? [scope.name] : []),
    ...(predicate === null ? [] : [predicate]),
  ];
  const base = parts
    .join('-')
    .replace(/[^\p{L}\p{N}._-]+/gu, '_')
    .slice(0, 100);
  return `${base}.${exportFormatSpecs[format].extension}`;
}

const failures: SavingFailures = {
  brokenOff: 'The export broke off',
  tooLarge: 'Export one predicate or scope at a time, or use Chrome or Edge.',
};

/** Resolves with the size of the file in bytes. Errors: ApiError; AbortError where `signal` ended it. */
export function runExport(
  plan: ExportPlan,
  sink: Sink,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<number> {
  const call = { url: exportUrl(plan), method: 'GET' } as const;
  return saveAnswer(plan.endpoint, call, failures, sink, signal, onBytes);
}
