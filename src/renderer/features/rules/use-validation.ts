/**
 * Diagnostics of the rule editor: at once from the worker, shortly afterwards from the service, which knows the data.
 *
 * The service's diagnostics replace the worker's for the same text; while it is unreachable, the worker's stay.
 */
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Diagnostic } from '../../../engine/contract/rules.ts';
import { queryKeyOf } from '../../api/live.ts';
import { useSession } from '../../api/session.tsx';
import { type Diagnosed, useDiagnostics } from '../../editor/use-diagnostics.ts';

/** Problems that depend on other rules; the service would count the edited rule among them. */
const amongRules: ReadonlySet<Diagnostic['code']> = new Set(['negative_cycle', 'duplicate']);

/** Returns the diagnostics. `instead`: the id of the stored rule that the text would replace. */
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
