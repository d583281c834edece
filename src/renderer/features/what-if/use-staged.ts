/**
 * What is staged in the view: a draft of this browser until it is worked out, then the address.
 *
 * An address that comes from elsewhere (a link, going back) replaces the draft.
 */
import { useEffect, useEffectEvent, useState } from 'react';
import { useSession } from '../../api/session.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { isSameSearch, type WhatIfSearch, whatIfSearchOf } from './what-if-search.ts';

export interface Staged {
  readonly staged: WhatIfSearch;
  readonly change: (part: WhatIfSearch) => void;
}

function readDraft(text: string): WhatIfSearch {
  if (text === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? whatIfSearchOf({ ...value }) : {};
  } catch {
    // Not ours: another version wrote it. The next change replaces it.
    return {};
  }
}

export function useStaged(search: WhatIfSearch): Staged {
  const { space } = useSession();
  const [draft, setDraft] = useDraft(`what-if.${space.database}.${space.tenant}`);
  const [staged, setStaged] = useState(() => (isSameSearch(search, {}) ? readDraft(draft) : search));

  function stage(next: WhatIfSearch): void {
    setStaged(next);
    setDraft(JSON.stringify(next));
  }

  const show = useEffectEvent((next: WhatIfSearch) => {
    if (!isSameSearch(next, {}) && !isSameSearch(next, staged)) stage(next);
  });
  useEffect(() => show(search), [search]);
  return { staged, change: (part) => stage({ ...staged, ...part }) };
}
