/** One stored rule in the editor, with its name and description. */
import { Button, TextInput, Tooltip } from '@mantine/core';
import { IconDeviceFloppy, IconFlask, IconX } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { Diagnostic, StoredRule } from '../../../engine/contract/rules.ts';
import { renderRule } from '../../../engine/logic/print.ts';
import { failureOf } from '../../api/problem.ts';
import { useWrite } from '../../api/queries.ts';
import { useReason } from '../../api/rights.ts';
import { scopeFieldsOfStored } from '../../api/space.ts';
import { Guarded } from '../../ui/guarded.tsx';
import { ProblemNotice } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import { Keys } from '../../ui/tags.tsx';
import { EditorBody } from './editor-body.tsx';
import styles from './rules.module.css';
import { lessonOf, ruleForEditor, scopeSearchOf } from './teaching.ts';
import { useValidation } from './use-validation.ts';

interface Edited {
  readonly text: string;
  readonly name: string;
  readonly description: string;
}

function asStored(rule: StoredRule): Edited {
  return {
    text: ruleForEditor({ head: rule.head, body: rule.body }),
    name: rule.name ?? '',
    description: rule.description ?? '',
  };
}

/** The rule under edit. What the user has not touched follows the stored rule, whoever changes it. */
function useEdited(rule: StoredRule) {
  const stored = asStored(rule);
  const [changes, setChanges] = useState<Partial<Edited>>({});
  const edited: Edited = { ...stored, ...changes };
  const isChanged =
    edited.text !== stored.text || edited.name !== stored.name || edited.description !== stored.description;
  return { edited, isChanged, change: (part: Partial<Edited>) => setChanges({ ...changes, ...part }) };
}

/** What is wrong with the text, but for its being a duplicate of the rule that is edited. */
function useOwnDiagnostics(text: string): readonly Diagnostic[] {
  const diagnostics = useValidation(text);
  return useMemo(() => diagnostics.filter(({ code }) => code !== 'duplicate'), [diagnostics]);
}

function Names({ edited, onChange }: { edited: Edited; onChange: (part: Partial<Edited>) => void }) {
  return (
    <div className={styles.names}>
      <TextInput
        aria-label="Name"
        placeholder="Name"
        value={edited.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <TextInput
        aria-label="Description"
        placeholder="Description"
        value={edited.description}
        onChange={(event) => onChange({ description: event.currentTarget.value })}
      />
    </div>
  );
}

interface ActionsProps {
  rule: StoredRule;
  text: string;
  /** Why it cannot be saved, whatever is written; null: it can. */
  reason: string | null;
  isChanged: boolean;
  canSave: boolean;
  isSaving: boolean;
  onSave: () => void;
  onClose: () => void;
}

/** What if the rule were as it is written now; or, where that is nothing new, were left out. */
function WhatIfButton({ rule, text }: { rule: StoredRule; text: string }) {
  const isSame = text === asStored(rule).text;
  const without = rule.enabled ? { without: rule.id } : {};
  const search = isSame && rule.enabled ? without : { ...without, ...scopeSearchOf(rule), add: text };
  const words = isSame ? (rule.enabled ? 'it were left out' : 'it were on') : 'it were changed so';
  return (
    <Tooltip label={`See what would follow if ${words}; nothing is saved`}>
      <Button
        variant="default"
        leftSection={<IconFlask size={14} aria-hidden />}
        renderRoot={(props) => <Link to="/what-if" search={search} {...props} />}
      >
        What if
      </Button>
    </Tooltip>
  );
}

function Actions({ rule, text, reason, isChanged, canSave, isSaving, onSave, onClose }: ActionsProps) {
  return (
    <>
      <WhatIfButton rule={rule} text={text} />
      <Button variant="default" leftSection={<IconX size={14} aria-hidden />} onClick={onClose}>
        {isChanged ? 'Discard' : 'Close'}
      </Button>
      <Guarded reason={reason}>
        <Button
          leftSection={<IconDeviceFloppy size={14} aria-hidden />}
          rightSection={<Keys keys="Mod+Enter" look="plain" />}
          disabled={!canSave}
          loading={isSaving}
          onClick={onSave}
        >
          Save
        </Button>
      </Guarded>
    </>
  );
}

export function EditRule({ rule, onClose }: { rule: StoredRule; onClose: () => void }) {
  const { edited, isChanged, change } = useEdited(rule);
  const { text, name, description } = edited;
  const diagnostics = useOwnDiagnostics(text);
  const save = useWrite('updateRule');
  const { rules, facts, isReady } = lessonOf(text);
  const [only] = rules;
  const isOneRule = isReady && rules.length === 1 && facts.length === 0;
  const reason = useReason('updateRule');
  const canSave = isOneRule && isChanged && reason === null && !save.isPending;

  function onSave(): void {
    if (!canSave || only === undefined) return;
    const { id, scope, enabled } = rule;
    const body = { text: renderRule(only), name, description, enabled, ...scopeFieldsOfStored(scope) };
    save.mutate(
      { params: { id }, body },
      {
        onSuccess: ({ status }) => {
          notifyDone(status === 'unchanged' ? 'The rule was like that already' : 'Saved');
          onClose();
        },
      },
    );
  }

  const notice =
    save.error !== null ? (
      <ProblemNotice failure={failureOf(save.error)} />
    ) : isReady && !isOneRule ? (
      <span className="dim">Here stands one rule. New ones are taught with the rule closed.</span>
    ) : undefined;

  return (
    <PaneFrame
      scroll="own"
      label="Rule"
      title={<h1 className={styles.viewTitle}>Rule</h1>}
      actions={
        <Actions
          rule={rule}
          text={text}
          reason={reason}
          isChanged={isChanged}
          canSave={canSave}
          isSaving={save.isPending}
          onSave={onSave}
          onClose={onClose}
        />
      }
    >
      <div className={styles.editor}>
        <Names edited={edited} onChange={change} />
        <EditorBody
          label="Rule"
          text={text}
          onText={(next) => change({ text: next })}
          diagnostics={diagnostics}
          onSubmit={onSave}
          notice={notice}
        />
      </div>
    </PaneFrame>
  );
}
