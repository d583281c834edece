import { Button, TextInput } from '@mantine/core';
import { IconArrowsSplit2, IconDeviceFloppy, IconX } from '@tabler/icons-react';
import type { Rule } from '../../../engine/contract/language.ts';
import type { StoredRule } from '../../../engine/contract/rules.ts';
import { renderRule } from '../../../engine/language/print.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { RuleBlame } from '../../api/blame.tsx';
import { useWrite } from '../../api/queries.ts';
import { useReason } from '../../api/rights.ts';
import { useSession } from '../../api/session.tsx';
import { scopeFieldsOfStored } from '../../api/space.ts';
import { layOutRule } from '../../../engine/language/layout.ts';
import { LazyCodeDiff } from '../../editor/lazy-editors.tsx';
import { Guarded } from '../../api/permitted.tsx';
import { RefusalShown, TestsFirst, useTestsFirst } from '../../editor/tests-first.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import { KeyCaps } from '../../ui/tags.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { EditorBody, useValidation } from './editor-body.tsx';
import {
  draftConflictsOf,
  editedOf,
  readRuleDraft,
  type RuleDraft,
  ruleDraftName,
  type RuleField,
  type RuleFields,
  ruleFields,
  withMine,
  withTheirs,
  withWritten,
} from './rule-draft.ts';
import { recordChanged } from './rule-steps.ts';
import styles from './rules.module.css';
import { lessonOf, scopeSearchOf } from './teaching.ts';
import { TryButton, TryPanel, useTryIsOpen, WithTry } from './try-panel.tsx';

const fieldWords: Record<RuleField, string> = { text: 'Rule', name: 'Name', description: 'Description' };

interface RuleConflictProps {
  fields: readonly RuleField[];
  stored: RuleFields;
  mine: RuleFields;
  onMine: () => void;
  onTheirs: () => void;
}

/** Shows both versions of a rule changed elsewhere during editing, and lets the user choose. */
function RuleConflict({ fields, stored, mine, onMine, onTheirs }: RuleConflictProps) {
  const plain = fields.filter((field) => field !== 'text');
  return (
    <section className={styles.conflict} aria-label="Conflict">
      <div className={styles.conflictHead} role="alert">
        <IconArrowsSplit2 size={16} aria-hidden />
        <strong>Somebody else changed this rule while you wrote.</strong>
        <span>Nothing is saved until you choose.</span>
        <span className="flex gap-6 to-right">
          <Button variant="default" onClick={onTheirs}>
            Take what is stored
          </Button>
          <Button variant="default" onClick={onMine}>
            Keep mine
          </Button>
        </span>
      </div>
      <div className={styles.conflictSides}>
        <h3>Stored now</h3>
        <h3>Mine</h3>
      </div>
      {plain.map((field) => (
        <div key={field} className={`${styles.conflictSides} ${styles.conflictField}`}>
          {[stored, mine].map((side, at) => (
            <p key={at === 0 ? 'stored' : 'mine'}>
              <span className="dim">{fieldWords[field]}: </span>
              {side[field] === '' ? <span className="dim">none</span> : side[field]}
            </p>
          ))}
        </div>
      ))}
      {fields.includes('text') && (
        <div className={styles.conflictText}>
          <LazyCodeDiff
            left={{ text: stored.text, label: 'The rule as it is stored now' }}
            right={{ text: mine.text, label: 'The rule as you wrote it' }}
          />
        </div>
      )}
    </section>
  );
}

function asStored(rule: StoredRule): RuleFields {
  return {
    text: layOutRule({ head: rule.head, body: rule.body }),
    name: rule.name ?? '',
    description: rule.description ?? '',
  };
}

/** The edited rule, and its fields changed elsewhere since. */
function useEdited(rule: StoredRule) {
  const stored = asStored(rule);
  const { space } = useSession();
  const [kept, setKept] = useDraft(ruleDraftName(space.database, rule.id));
  const draft = readRuleDraft(kept);
  const edited = editedOf(stored, draft);
  const set = (next: RuleDraft) => setKept(Object.keys(next).length === 0 ? '' : JSON.stringify(next));
  return {
    stored,
    edited,
    isChanged: ruleFields.some((field) => edited[field] !== stored[field]),
    conflicts: draftConflictsOf(stored, draft),
    change: (part: Partial<RuleFields>) => set(withWritten(stored, draft, part)),
    forget: () => setKept(''),
    keepMine: () => set(withMine(stored, draft)),
    takeTheirs: () => set(withTheirs(stored, draft)),
  };
}

type Editing = ReturnType<typeof useEdited>;

interface NamesProps {
  rule: string;
  edited: RuleFields;
  onChange: (part: Partial<RuleFields>) => void;
}

/** Name, description, and who taught it. */
function Names({ rule, edited, onChange }: NamesProps) {
  return (
    <>
      <div className={styles.names}>
        <TextInput
          aria-label="Name"
          placeholder="Name"
          value={edited.name}
          onChange={(event) => onChange({ name: event.currentTarget.value })}
        />
        <TextInput
          aria-label="Description"
          spellCheck
          placeholder="Description"
          value={edited.description}
          onChange={(event) => onChange({ description: event.currentTarget.value })}
        />
      </div>
      <p className={`small-print no-margin ${styles.blame}`}>
        <RuleBlame rule={rule} />
      </p>
    </>
  );
}

/** The same trial as a What-if address: the rule dropped or, if disabled, enabled; or replaced by the draft. */
function whatIfSearch(rule: StoredRule, text: string) {
  const without = rule.enabled ? { without: rule.id } : {};
  if (text === asStored(rule).text && rule.enabled) return without;
  return { ...without, ...scopeSearchOf(rule), add: text };
}

interface ActionsProps {
  /** Why it cannot be saved, whatever the text; null if it can. */
  reason: string | null;
  isChanged: boolean;
  canSave: boolean;
  isSaving: boolean;
  isTrying: boolean;
  onTry: (isTrying: boolean) => void;
  onSave: () => void;
  onClose: () => void;
}

function Actions(props: ActionsProps) {
  const { reason, isChanged, canSave, isSaving, isTrying, onTry, onSave, onClose } = props;
  return (
    <>
      <TestsFirst />
      <TryButton isOpen={isTrying} onOpen={onTry} />
      <Button variant="default" leftSection={<IconX size={14} aria-hidden />} onClick={onClose}>
        {isChanged ? 'Discard' : 'Close'}
      </Button>
      <Guarded reason={reason}>
        <Button
          leftSection={<IconDeviceFloppy size={14} aria-hidden />}
          rightSection={<KeyCaps keys="Mod+Enter" look="plain" />}
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

/** The single rule in the text; null if it contains anything else or cannot be parsed. */
function onlyRuleOf(text: string): Rule | null {
  const { rules, facts, isReady } = lessonOf(text);
  return isReady && rules.length === 1 && facts.length === 0 ? (rules[0] ?? null) : null;
}

/** Saves the draft if it is one rule and differs from the stored one. */
function useSaving(rule: StoredRule, { edited, isChanged, conflicts }: Editing, onSaved: () => void) {
  const session = useSession();
  const save = useWrite('updateRule');
  const reason = useReason('updateRule');
  const runTests = useTestsFirst();
  const { isReady } = lessonOf(edited.text);
  const isOneRule = onlyRuleOf(edited.text) !== null;
  const isFree = conflicts.length === 0 && reason === null && !save.isPending;

  function onSave(text: string): void {
    const only = onlyRuleOf(text);
    if (!isFree || only === null || !(isChanged || text !== edited.text)) return;
    const { id, scope, enabled, etag } = rule;
    const { name, description } = edited;
    const fields = { text: renderRule(only), name, description, enabled, ...scopeFieldsOfStored(scope) };
    const body = { ...fields, runTests };
    save.mutate(
      // Guarded by the entity tag of the version shown; if it is outdated, both versions appear.
      { params: { id }, body, ifMatch: etag },
      {
        onSuccess: ({ status, id: now, etag: tag }) => {
          const after = { text: body.text, scope, name, description, enabled, id: now, etag: tag };
          if (status !== 'unchanged') recordChanged(session, 'changed', rule, after);
          notifyDone(status === 'unchanged' ? 'The rule was like that already' : 'Saved');
          onSaved();
        },
      },
    );
  }

  const notice =
    save.error !== null && conflicts.length === 0 ? (
      <RefusalShown failure={apiFailureOf(save.error)} />
    ) : isReady && !isOneRule ? (
      <span className="dim">This editor holds one rule. Close it to teach new ones.</span>
    ) : undefined;
  return { reason, canSave: isOneRule && isChanged && isFree, isSaving: save.isPending, onSave, notice };
}

/** Shows one stored rule in the editor, with name and description. */
export function EditRule({ rule, onClose }: { rule: StoredRule; onClose: () => void }) {
  const editing = useEdited(rule);
  const { edited, isChanged, conflicts, change, forget } = editing;
  const [isTrying, setIsTrying] = useTryIsOpen();
  const { text } = edited;
  const { diagnostics } = useValidation(text, rule.id);
  function leave(): void {
    forget();
    onClose();
  }
  const { reason, canSave, isSaving, onSave, notice } = useSaving(rule, editing, leave);

  const editor = (
    <PaneFrame
      scroll="own"
      label="Rule"
      title={<h1 className="pane-title">Rule</h1>}
      actions={
        <Actions
          isTrying={isTrying}
          onTry={setIsTrying}
          reason={reason}
          isChanged={isChanged}
          canSave={canSave}
          isSaving={isSaving}
          onSave={() => onSave(text)}
          onClose={leave}
        />
      }
    >
      <div className="flex-column full-height">
        <Names rule={rule.id} edited={edited} onChange={change} />
        <EditorBody
          label="Rule"
          text={text}
          onText={(next) => change({ text: next })}
          diagnostics={diagnostics}
          onSubmit={onSave}
          notice={notice}
          below={
            conflicts.length > 0 && (
              <RuleConflict
                fields={conflicts}
                stored={editing.stored}
                mine={edited}
                onMine={editing.keepMine}
                onTheirs={editing.takeTheirs}
              />
            )
          }
        />
      </div>
    </PaneFrame>
  );
  const hasErrors = diagnostics.some(({ severity }) => severity === 'error');
  return (
    <WithTry
      editor={editor}
      isOpen={isTrying}
      panel={
        <TryPanel
          trial={{ text, scope: scopeFieldsOfStored(rule.scope), instead: rule.enabled ? rule.id : null }}
          hasErrors={hasErrors}
          whatIf={whatIfSearch(rule, text)}
          onClose={() => setIsTrying(false)}
        />
      }
    />
  );
}
