/** The way Document of the Rules view: all rules as one text, saved together. */
import { Button } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconArrowsSplit2, IconDeviceFloppy, IconX } from '@tabler/icons-react';
import { useMemo, useRef, useState } from 'react';
import type { Diagnostic, StoredRule } from '../../../engine/contract/rules.ts';
import { Guarded } from '../../api/permitted.tsx';
import { apiFailureOf } from '../../api/problem.ts';
import { useReason } from '../../api/rights.ts';
import type { CodeEditorHandle, LineNote } from '../../editor/code-editor.tsx';
import { everyRule } from '../../../editing/diagnose-text.ts';
import { LazyCodeDiff } from '../../editor/lazy-editors.tsx';
import { useDiagnostics } from '../../editor/use-diagnostics.ts';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { PaneProblem } from '../../ui/notices.tsx';
import { PaneFrame, Split } from '../../ui/pane.tsx';
import { KeyCaps } from '../../ui/tags.tsx';
import { VirtualList } from '../../ui/virtual-list.tsx';
import type { DocumentConflict } from './document-changes.ts';
import { EditorBody } from './editor-body.tsx';
import { ListOrGraph, ReplaceButton } from './list-or-graph.tsx';
import {
  baseRuleOf,
  blockOf,
  type DocumentEntry,
  type DocumentRule,
  rulesByHead,
  ruleKeyOf,
} from './rule-document.ts';
import type { RulesSearch } from './rules-search.ts';
import styles from './rules.module.css';
import { ruleChangesInWords, SaveRulesDialog } from './save-document.tsx';
import { type RulesDocument, useDocument } from './use-document.ts';

/** Rules of one head in the document. */
interface OutlineGroup {
  readonly head: string;
  readonly line: number;
  readonly count: number;
  readonly neverFired: number;
}

/** Identities of enabled rules that no inference has used. */
function neverFiredOf(rules: readonly StoredRule[]): ReadonlySet<string> {
  return new Set(
    rules.filter(({ fired, enabled }) => enabled && fired === 0).map((rule) => ruleKeyOf(baseRuleOf(rule))),
  );
}

function outlineOf(entries: readonly DocumentEntry[], neverFired: ReadonlySet<string>): OutlineGroup[] {
  return [...rulesByHead(entries)].map(([head, group]) => ({
    head,
    line: group[0]?.line ?? 1,
    count: group.length,
    neverFired: group.filter((entry) => neverFired.has(ruleKeyOf(entry))).length,
  }));
}

interface OutlineProps {
  groups: readonly OutlineGroup[];
  /** Part of a head's name. */
  filter: string;
  onGoTo: (line: number) => void;
}

/** Lists the heads of the document, each with its number of rules. */
function Outline({ groups, filter, onGoTo }: OutlineProps) {
  const [chosen, setChosen] = useState<string | null>(null);
  const shown = useMemo(() => {
    const wanted = filter.toLowerCase();
    return groups.filter(({ head }) => head.toLowerCase().includes(wanted));
  }, [groups, filter]);
  return (
    <PaneFrame
      scroll="own"
      tone="panel"
      label="Heads"
      title="Heads"
      actions={<span className="dim number">{formatAmount(shown.length, 'predicate')}</span>}
    >
      <VirtualList
        label="Heads of the rules"
        count={shown.length}
        selected={shown.findIndex(({ head }) => head === chosen)}
        onSelect={(index) => {
          const group = shown[index];
          if (group === undefined) return;
          setChosen(group.head);
          onGoTo(group.line);
        }}
        render={(index) => {
          const group = shown[index];
          if (group === undefined) return null;
          return (
            <>
              <span className="truncate rest-width" title={group.head}>
                {group.head}
              </span>
              {group.neverFired > 0 && (
                <span className="dim no-wrap">
                  {group.neverFired === group.count ? 'never fired' : `${group.neverFired} never fired`}
                </span>
              )}
              <span className="number dim">{formatCount(group.count)}</span>
            </>
          );
        }}
      />
    </PaneFrame>
  );
}

/** What the checks find, without those that read scopes wrongly: rules of two scopes never meet. */
function diagnosticsOf(found: readonly Diagnostic[], entries: readonly DocumentEntry[]): Diagnostic[] {
  const hasScopes = entries.some(({ scope }) => scope !== null);
  return found.filter(({ code }) => code !== 'duplicate' && !(hasScopes && code === 'negative_cycle'));
}

function sideOf(rules: readonly (DocumentRule | null)[]): string {
  return rules.map((rule) => (rule === null ? '% deleted' : blockOf(rule))).join('\n\n');
}

interface ConflictsProps {
  conflicts: readonly DocumentConflict[];
  onResolve: (resolution: 'mine' | 'theirs') => void;
}

/** Shows both versions of the rules that were changed here and elsewhere, and lets the user choose. */
function Conflicts({ conflicts, onResolve }: ConflictsProps) {
  const what = conflicts.length === 1 ? 'a rule' : formatAmount(conflicts.length, 'rule');
  return (
    <section className={styles.conflict} aria-label="Conflict">
      <div className={styles.conflictHead} role="alert">
        <IconArrowsSplit2 size={16} aria-hidden />
        <strong>Somebody else changed {what} that you changed too.</strong>
        <span>Nothing is saved until you choose.</span>
        <span className="flex gap-6 to-right">
          <Button variant="default" onClick={() => onResolve('theirs')}>
            Take what is stored
          </Button>
          <Button variant="default" onClick={() => onResolve('mine')}>
            Keep mine
          </Button>
        </span>
      </div>
      <div className={styles.conflictSides}>
        <h3>Stored now</h3>
        <h3>Mine</h3>
      </div>
      <div className={styles.conflictText}>
        <LazyCodeDiff
          left={{
            text: sideOf(conflicts.map(({ stored }) => stored)),
            label: 'The rules as they are stored now',
          }}
          right={{ text: sideOf(conflicts.map(({ mine }) => mine)), label: 'The rules as you wrote them' }}
        />
      </div>
    </section>
  );
}

/** What is known of the document's text: problems, outline, and notes behind its lines. */
function useDocumentChecks({ text, read, rules }: RulesDocument) {
  const { diagnostics: found } = useDiagnostics(text, 'program', everyRule);
  const diagnostics = useMemo(
    () => [...read.errors, ...diagnosticsOf(found, read.entries), ...read.dropped],
    [found, read],
  );
  const neverFired = useMemo(() => neverFiredOf(rules ?? []), [rules]);
  const groups = useMemo(() => outlineOf(read.entries, neverFired), [read, neverFired]);
  const notes = useMemo(
    () =>
      read.entries.flatMap((entry): LineNote[] =>
        neverFired.has(ruleKeyOf(entry)) ? [{ line: entry.line, text: 'never fired' }] : [],
      ),
    [read, neverFired],
  );
  const isSound = read.isWhole && diagnostics.every(({ severity }) => severity !== 'error');
  return { diagnostics, groups, notes, isSound };
}

interface DocumentPaneProps {
  search: RulesSearch;
  onSearch: (search: RulesSearch) => void;
}

interface DocumentActionsProps extends DocumentPaneProps {
  document: RulesDocument;
  canSave: boolean;
  reason: string | null;
  onSave: () => void;
}

function DocumentActions({ document, canSave, reason, onSave, ...view }: DocumentActionsProps) {
  const { isEdited, isSettled, changes, read, forget } = document;
  return (
    <>
      <span className="dim number" role="status">
        {isEdited && isSettled ? ruleChangesInWords(changes) : formatAmount(read.entries.length, 'rule')}
      </span>
      <ReplaceButton {...view} />
      <ListOrGraph {...view} />
      <Button
        variant="default"
        leftSection={<IconX size={14} aria-hidden />}
        disabled={!isEdited}
        onClick={forget}
      >
        Discard
      </Button>
      <Guarded reason={reason}>
        <Button
          leftSection={<IconDeviceFloppy size={14} aria-hidden />}
          rightSection={<KeyCaps keys="Mod+Enter" look="plain" />}
          disabled={!canSave}
          onClick={onSave}
        >
          Save…
        </Button>
      </Guarded>
    </>
  );
}

function Legend() {
  return (
    <p className={`small-print ${styles.legend}`}>
      Comments directly above a rule are its description; <code className="mono">%@ name:</code>,{' '}
      <code className="mono">%@ scope:</code> and <code className="mono">%@ off</code> are its name, scope and
      switch. The service keeps no other comments.
    </p>
  );
}

/** Whether the document can be saved, and the dialog that does. */
function useSaving(document: RulesDocument, isSound: boolean) {
  const [isSaving, setIsSaving] = useState(false);
  const reason = useReason('updateRule');
  const { isEdited, isSettled, changes, conflicts } = document;
  const canSave = isEdited && isSettled && isSound && changes.length > 0 && conflicts.length === 0;
  function onSave(): void {
    if (canSave && reason === null) setIsSaving(true);
  }
  async function onSaved(): Promise<void> {
    await document.refetch();
    document.forget();
    setIsSaving(false);
  }
  return { isSaving, setIsSaving, reason, canSave, onSave, onSaved };
}

/** Shows all rules as one text in an editor, with an outline by head. */
export function DocumentPane(view: DocumentPaneProps) {
  const document = useDocument();
  const { changes, conflicts } = document;
  const { diagnostics, groups, notes, isSound } = useDocumentChecks(document);
  const editor = useRef<CodeEditorHandle>(null);
  const isNarrow = useMediaQuery('(max-width: 1100px)') ?? false;
  const { isSaving, setIsSaving, reason, canSave, onSave, onSaved } = useSaving(document, isSound);

  if (document.rules === undefined)
    return document.failure === null ? null : (
      <PaneProblem failure={apiFailureOf(document.failure)} onRetry={() => void document.refetch()} />
    );
  const pane = (
    <PaneFrame
      scroll="own"
      label="Document"
      title={<h1 className="pane-title">Rules</h1>}
      actions={
        <DocumentActions {...view} document={document} canSave={canSave} reason={reason} onSave={onSave} />
      }
    >
      <div className="flex-column full-height">
        <EditorBody
          label="All rules"
          placeholder="grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)."
          text={document.text}
          onText={document.onText}
          diagnostics={diagnostics}
          onSubmit={onSave}
          document={{ handle: editor, notes }}
          below={
            <>
              {conflicts.length > 0 && <Conflicts conflicts={conflicts} onResolve={document.resolve} />}
              <Legend />
            </>
          }
        />
      </div>
    </PaneFrame>
  );
  const goTo = (line: number) => editor.current?.reveal(line, 1);
  const outline = <Outline groups={groups} filter={view.search.q ?? ''} onGoTo={goTo} />;
  return (
    <>
      <Split
        id="rules-document"
        orientation="horizontal"
        label="Resize"
        panes={[
          ...(isNarrow ? [] : [{ id: 'outline', size: '240px', least: '140px', content: outline }]),
          { id: 'document', least: '320px', content: pane },
        ]}
      />
      {isSaving && (
        <SaveRulesDialog
          changes={changes}
          dropped={document.read.dropped.length}
          onSaved={onSaved}
          onClose={() => setIsSaving(false)}
        />
      )}
    </>
  );
}
