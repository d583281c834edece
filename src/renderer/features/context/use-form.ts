/**
 * The state of the form; the shown window follows it after a short pause.
 *
 * The form is a draft in this browser and, once valid, the address. An address from elsewhere (a link, the
 * back button) replaces the form; the echo of the form's own address does not, since the user may have typed
 * on.
 */
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { useSession } from '../../api/session.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { type ContextSearch, isSameForm, type WindowFields, windowFieldsOf } from './context-search.ts';
import { type ReadForm, readForm } from './read-form.ts';

/** The pause after a change before the window is selected again, in milliseconds. */
const pauseMs = 250;

/** The form with its actions. */
export interface Form {
  readonly fields: WindowFields;
  readonly read: ReadForm;
  /** Changes some fields; undefined clears a field. */
  readonly change: (part: WindowFields) => void;
  readonly clear: () => void;
  /**
   * Submits without the pause and tells whether the address changed; `part`: fields to change at the same
   * time.
   */
  readonly submit: (part?: WindowFields) => 'sent' | 'same' | 'unreadable';
}

function readDraft(text: string): WindowFields {
  if (text === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? windowFieldsOf({ ...value }) : {};
  } catch {
    // Written by another version; the next change replaces it.
    return {};
  }
}

const noFields: WindowFields = {
  goals: undefined,
  facts: undefined,
  chars: undefined,
  predicates: undefined,
  cap: undefined,
  buckets: undefined,
  inferred: undefined,
  resolve: undefined,
  session: undefined,
};

/** The form of the Context view. */
export function useForm(search: ContextSearch, onSearch: (search: ContextSearch) => void): Form {
  const { space } = useSession();
  const { scope } = space;
  const [draft, setDraft] = useDraft(`context.${space.database}.${space.tenant}`);
  const [fields, setFields] = useState<WindowFields>(() => {
    const linked = windowFieldsOf({ ...search });
    return isSameForm(linked, {}) ? readDraft(draft) : linked;
  });
  const sent = useRef<WindowFields | null>(null);

  function stage(next: WindowFields): void {
    setFields(next);
    setDraft(JSON.stringify(next));
  }

  function send(next: WindowFields): 'sent' | 'same' | 'unreadable' {
    const wanted = windowFieldsOf({ ...next });
    if (readForm(wanted, scope).request === null) return 'unreadable';
    if (isSameForm(wanted, search)) return 'same';
    sent.current = wanted;
    onSearch({ ...search, ...noFields, ...wanted });
    return 'sent';
  }

  const show = useEffectEvent((next: WindowFields) => {
    if (sent.current !== null && isSameForm(next, sent.current)) return;
    sent.current = null;
    if (!isSameForm(next, {}) && !isSameForm(next, fields)) stage(next);
  });
  useEffect(() => show(windowFieldsOf({ ...search })), [search]);

  const sendLater = useEffectEvent(() => void send(fields));
  useEffect(() => {
    const timer = setTimeout(() => sendLater(), pauseMs);
    return () => clearTimeout(timer);
  }, [fields, search]);

  return {
    fields,
    read: readForm(fields, scope),
    change: (part) => stage({ ...fields, ...part }),
    clear: () => {
      stage({});
      send({});
    },
    submit: (part = {}) => {
      stage({ ...fields, ...part });
      return send({ ...fields, ...part });
    },
  };
}
