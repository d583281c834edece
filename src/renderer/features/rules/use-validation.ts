/**
 * Diagnostics of the rule editor: at once from the worker, a moment later from the service, which sees the data.
 *
 * The service's word replaces the worker's for the very text it was given; while it is away, the worker's stands.
 */
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Diagnostic } from '../../../engine/contract/rules.ts';
import { queryKeyOf } from '../../api/live.ts';
import { useSession } from '../../api/session.tsx';
import { type Diagnosed, useDiagnostics } from '../../editor/use-diagnostics.ts';

/** What a text can only have with other rules; the service takes the rule that is edited for one of them. */
const amongRules: ReadonlySet<Diagnostic['code']> = new Set(['negative_cycle', 'duplicate']);

/** `instead`: the id of the stored rule that the text would replace. */
export function useValidation(text: string, instead: string | null = null): Diagnosed {
  const { call, endpoint } = useSession();
  const local = useDiagnostics(text, 'program', instead);
  const [settled] = useDebouncedValue(text, 600);
  const remote = useQuery({
    queryKey: queryKeyOf('rules', endpoint, 'validate', settled),
    queryFn: ({ signal }) => call('validateRules', { body: { text: settled } }, { signal }),
    enabled: settled.trim() !== '' && settled === text,
    gcTime: 60_000,
  });
  const told = settled === text ? remote.data?.diagnostics : undefined;
  return useMemo(() => {
    if (told === undefined) return local;
    if (instead === null) return { diagnostics: told, of: text };
    const diagnostics = [
      ...told.filter(({ code }) => !amongRules.has(code)),
      ...local.diagnostics.filter(({ code }) => amongRules.has(code)),
    ];
    return { diagnostics, of: text };
  }, [told, local, instead, text]);
}
