import { ActionIcon, Button, Menu } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import {
  IconAlertTriangle,
  IconBulb,
  IconChevronDown,
  IconCircleX,
  IconInfoCircle,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, type RefObject, useMemo, useRef } from 'react';
import type { Diagnostic } from '../../../engine/contract/rules.ts';
import { queryKeyOf } from '../../api/live.ts';
import { usePredicates } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import type { CodeEditorHandle, LineNote } from '../../editor/code-editor.tsx';
import { LazyCodeEditor, useEditorHeight } from '../../editor/lazy-editors.tsx';
import { type Fix, fixerOf } from '../../../editing/quick-fixes.ts';
import { parseEditorText, type TextEdit, type TextMode } from '../../../editing/read-text.ts';
import { type Diagnosed, useDiagnostics } from '../../editor/use-diagnostics.ts';
import { formatAmount } from '../../ui/format.ts';
import { GrowingArea } from '../../ui/pane.tsx';
import styles from './rules.module.css';
import { Tooltip } from '../../ui/tooltip.tsx';

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

/** Longer texts are read a moment after the last keystroke, since that takes a noticeable time. */
const shortText = 100_000;
const pauseMs = 500;

/** Returns the text, or that of a moment ago while a long one is typed. */
export function useSettledText(text: string): string {
  return useDebouncedValue(text, text.length < shortText ? 0 : pauseMs)[0];
}

const icons = {
  error: <IconCircleX size={15} aria-hidden className="text-bad" />,
  warning: <IconAlertTriangle size={15} aria-hidden className="text-warn" />,
  info: <IconInfoCircle size={15} aria-hidden />,
} as const;

/** Maximum number of problems listed. */
const maxShown = 100;

/** The fixes of one problem: the most likely as a button, the others in a menu. */
function Fixes({ fixes, onFix }: { fixes: readonly Fix[]; onFix: (edits: readonly TextEdit[]) => void }) {
  const [first, ...others] = fixes;
  if (first === undefined) return null;
  return (
    <span className={`flex-row gap-2 ${styles.fixes}`}>
      <Button
        size="compact-xs"
        variant="default"
        className={styles.fix ?? ''}
        leftSection={<IconBulb size={13} aria-hidden />}
        title={first.title}
        onClick={() => onFix(first.edits)}
      >
        {first.title}
      </Button>
      {others.length > 0 && (
        <Menu position="bottom-end" withinPortal>
          <Menu.Target>
            <Tooltip label="Other fixes">
              <ActionIcon size={24} aria-label={`Other fixes than ${first.title}`}>
                <IconChevronDown size={14} aria-hidden />
              </ActionIcon>
            </Tooltip>
          </Menu.Target>
          <Menu.Dropdown>
            {others.map((fix) => (
              <Menu.Item key={fix.title} onClick={() => onFix(fix.edits)}>
                {fix.title}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
    </span>
  );
}

interface ProblemListProps {
  text: string;
  mode: TextMode;
  diagnostics: readonly Diagnostic[];
  onGoTo: (line: number, column: number) => void;
  onFix: (edits: readonly TextEdit[]) => void;
}

/** Lists the problems of the editor's text with links to their positions and fixes. */
function ProblemList({ text: latest, mode, diagnostics, onGoTo, onFix }: ProblemListProps) {
  const predicates = usePredicates().data;
  const text = useSettledText(latest);
  const problems = useMemo(() => {
    if (diagnostics.length === 0) return [];
    const fixesOf = fixerOf(text, () => parseEditorText(text, mode), predicates ?? []);
    return diagnostics.slice(0, maxShown).map((each) => ({ diagnostic: each, fixes: fixesOf(each) }));
  }, [text, mode, diagnostics, predicates]);
  if (diagnostics.length === 0) return null;
  return (
    <ul className={styles.problems} aria-label="Problems">
      {problems.map(({ diagnostic, fixes }) => {
        const { severity, message, startLine, startColumn, code } = diagnostic;
        return (
          <li key={`${startLine}:${startColumn} ${code} ${message}`}>
            <button type="button" onClick={() => onGoTo(startLine, startColumn)}>
              {icons[severity]}
              <span className="visually-hidden">{severity}: </span>
              <span className="rest-width">{message}</span>
              <span className="dim number">
                {startLine}:{startColumn}
              </span>
            </button>
            <Fixes fixes={text === latest ? fixes : []} onFix={onFix} />
          </li>
        );
      })}
      {diagnostics.length > maxShown && (
        <li className={`dim ${styles.more}`}>
          {formatAmount(diagnostics.length - maxShown, 'more problem')} not listed
        </li>
      )}
    </ul>
  );
}

interface EditorBodyProps {
  label: string;
  placeholder?: string;
  /** Default: facts and rules. */
  mode?: TextMode;
  text: string;
  onText: (text: string) => void;
  diagnostics: readonly Diagnostic[];
  /** Receives the editor's text. */
  onSubmit: (text: string) => void;
  /** Of an editor of all rules. */
  document?: {
    readonly handle: RefObject<CodeEditorHandle | null>;
    readonly notes: readonly LineNote[];
  };
  /** Shown between editor and problems. */
  notice?: ReactNode;
  /** Shown below the problems. */
  below?: ReactNode;
}

/** Shows the editor with its problems below, in a pane that grows with them. */
export function EditorBody(props: EditorBodyProps) {
  const { label, placeholder, mode = 'program', text, onText, diagnostics, onSubmit } = props;
  const { document, notice, below } = props;
  const own = useRef<CodeEditorHandle>(null);
  const editor = document?.handle ?? own;
  const [height, onHeight] = useEditorHeight(text);
  return (
    <GrowingArea
      height={height}
      below={
        <>
          {notice !== undefined && <div className="padded-8">{notice}</div>}
          <ProblemList
            diagnostics={diagnostics}
            text={text}
            mode={mode}
            onGoTo={(line, column) => editor.current?.reveal(line, column)}
            onFix={(edits) => editor.current?.edit(edits)}
          />
          {below}
        </>
      }
    >
      <LazyCodeEditor
        label={label}
        mode={mode}
        {...(placeholder === undefined ? {} : { placeholder })}
        value={text}
        onChange={onText}
        diagnostics={diagnostics}
        onSubmit={onSubmit}
        handle={editor}
        onHeight={onHeight}
        {...(document === undefined ? {} : { notes: document.notes, holdsAllRules: true })}
        autoFocus
      />
    </GrowingArea>
  );
}
