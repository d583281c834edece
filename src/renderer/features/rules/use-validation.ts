/**
 * Diagnostics of the rule editor: at once from the worker, a moment later from the service, which sees the data.
 *
 * The service's word replaces the worker's for the very text it was given; while it is away, the worker's stands.
 */
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { Diagnostic } from '../../../engine/contract/rules.ts';
import { keyOf } from '../../api/live.ts';
import { useSession } from '../../api/session.tsx';
import { useDiagnostics } from '../../editor/use-diagnostics.ts';

export function useValidation(text: string): readonly Diagnostic[] {
  const { call, endpoint } = useSession();
  const local = useDiagnostics(text, 'program');
  const [settled] = useDebouncedValue(text, 600);
  const remote = useQuery({
    queryKey: keyOf('rules', endpoint, 'validate', settled),
    queryFn: ({ signal }) => call('validateRules', { body: { text: settled } }, { signal }),
    enabled: settled.trim() !== '' && settled === text,
    gcTime: 60_000,
  });
  return settled === text && remote.data !== undefined ? remote.data.diagnostics : local;
}
