import {
  ActionIcon,
  Button,
  Checkbox,
  CloseButton,
  Menu,
  Popover,
  SegmentedControl,
  TextInput,
} from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import {
  IconArrowBackUp,
  IconChevronDown,
  IconChevronUp,
  IconEyeOff,
  IconFold,
  IconListTree,
  IconSearch,
  IconStack2,
  IconX,
} from '@tabler/icons-react';
import { type KeyboardEvent, type RefObject, useEffect, useMemo, useState } from 'react';
import { keyOfStep, keysBelow } from '../../../proof/proof-tree.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { hiddenNames } from './proof-search.ts';
import styles from './proof.module.css';
import { computedName, namesIn } from './shown-proof.ts';
import { goToMatch, reRoot, setFind, toggleKnown } from './step-actions.ts';
import type { ProofDisplay } from './use-proof-display.ts';
import { Tooltip } from '../../ui/tooltip.tsx';

/** In milliseconds. */
const delay = 200;

/** Returns `2 of 5`; the number of matches if the cursor is on none. */
function placeInWords({ found, active }: ProofDisplay): string {
  if (found === null) return '';
  const count = found.inOrder.length;
  if (count === 0) return 'No match';
  const place = active === undefined ? -1 : found.inOrder.indexOf(active.step.id);
  return place < 0 ? `${formatCount(count)} found` : `${formatCount(place + 1)} of ${formatCount(count)}`;
}

function Matches({ display }: { display: ProofDisplay }) {
  const { found } = display;
  const isNone = found === null || found.inOrder.length === 0;
  const button = (label: string, keys: string, by: 1 | -1) => (
    <Tooltip label={`${label} (${keys})`}>
      <ActionIcon size={24} aria-label={label} disabled={isNone} onClick={() => goToMatch(display, by)}>
        {by < 0 ? <IconChevronUp size={15} aria-hidden /> : <IconChevronDown size={15} aria-hidden />}
      </ActionIcon>
    </Tooltip>
  );
  return (
    <>
      <span className="dim number no-wrap" role="status">
        {placeInWords(display)}
      </span>
      {button('Previous match', 'Shift+N', -1)}
      {button('Next match', 'N', 1)}
    </>
  );
}

interface FindFieldProps {
  display: ProofDisplay;
  fieldRef: RefObject<HTMLInputElement | null>;
  /** Moves the focus back to the proof. */
  onLeave: () => void;
}

/** Shows the search field of a proof: matches appear with their ancestors; Enter moves through them. */
function FindField({ display, fieldRef, onLeave }: FindFieldProps) {
  const value = display.look.find ?? '';
  const [typed, setTyped] = useState(value);
  const report = useDebouncedCallback((text: string) => setFind(display, text), delay);
  useEffect(() => setTyped(value), [value]);
  function set(text: string): void {
    setTyped(text);
    report(text);
  }
  function clear(): void {
    report.cancel();
    setTyped('');
    setFind(display, '');
  }
  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'Enter') {
      event.preventDefault();
      // Enter may precede the delayed search.
      if (typed !== value) report.flush();
      else goToMatch(display, event.shiftKey ? -1 : 1);
    } else if (event.key === 'ArrowDown') {
      event.preventDefault();
      onLeave();
    } else if (event.key === 'Escape') {
      event.preventDefault();
      if (typed === '') onLeave();
      else clear();
    }
  }
  return (
    <span role="search" aria-label="In the proof" className={styles.find}>
      <TextInput
        ref={fieldRef}
        className={styles.findInput}
        aria-label="Find steps"
        placeholder="Find steps"
        leftSection={<IconSearch size={14} aria-hidden />}
        rightSection={
          typed === '' ? null : <CloseButton size="xs" aria-label="End the search" onClick={clear} />
        }
        value={typed}
        onChange={(event) => set(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {display.found !== null && <Matches display={display} />}
    </span>
  );
}

const depths = [1, 2, 3, 4, 5, 10, 20] as const;

function FoldButtons({ display }: { display: ProofDisplay }) {
  const { tree, whole, inChains, setState, setLook } = display;
  const unfold = (depth?: number) =>
    setState({ active: keyOfStep(tree.root.id), unfolded: keysBelow(tree, tree.root.id, depth) });
  /** Chains are unfolded with everything else. */
  function unfoldAll(): void {
    if (inChains === 0) {
      unfold();
      return;
    }
    setState({ active: keyOfStep(whole.root.id), unfolded: keysBelow(whole, whole.root.id) });
    setLook({ chains: 'open' });
  }
  return (
    <span className={styles.group}>
      <Tooltip label="Unfold all">
        <ActionIcon aria-label="Unfold all" onClick={unfoldAll}>
          <IconListTree size={16} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Fold to the first level">
        <ActionIcon aria-label="Fold to the first level" onClick={() => unfold(1)}>
          <IconFold size={16} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Menu position="bottom-start">
        <Menu.Target>
          <Tooltip label="Unfold to a depth (1 to 9)">
            <ActionIcon aria-label="Unfold to a depth">
              <IconStack2 size={16} aria-hidden />
            </ActionIcon>
          </Tooltip>
        </Menu.Target>
        <Menu.Dropdown>
          {depths.map((depth) => (
            <Menu.Item key={depth} onClick={() => unfold(depth)}>
              {formatAmount(depth, 'level')}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </span>
  );
}

/** Lists the predicates that can be hidden, hidden ones checked. */
function KnownList({ display }: { display: ProofDisplay }) {
  const { shown, look } = display;
  const names = useMemo(() => namesIn(shown), [shown]);
  const hidden = hiddenNames(look.hide);
  return (
    <fieldset className={styles.known}>
      <legend>What you know already</legend>
      <p className="dim">Hides its steps and all that only they use.</p>
      <div className={styles.knownList}>
        {names.map(({ name, count }) => (
          <Checkbox
            key={name}
            size="xs"
            checked={hidden.has(name)}
            onChange={() => toggleKnown(display, name)}
            label={
              <span>
                {name === computedName ? 'comparisons and arithmetic' : <span className="mono">{name}</span>}{' '}
                <span className="dim number">{formatCount(count)}</span>
              </span>
            }
          />
        ))}
      </div>
    </fieldset>
  );
}

function KnownButton({ display }: { display: ProofDisplay }) {
  const [isOpen, setIsOpen] = useState(false);
  const count = hiddenNames(display.look.hide).size;
  return (
    <Popover position="bottom-start" opened={isOpen} onChange={setIsOpen} trapFocus returnFocus>
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<IconEyeOff size={14} aria-hidden />}
          onClick={() => setIsOpen((before) => !before)}
        >
          {count === 0 ? 'Hide' : `Hidden ${count}`}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Hide what is known">
        {isOpen && <KnownList display={display} />}
      </Popover.Dropdown>
    </Popover>
  );
}

/** Shows how the displayed proof is reduced, with ways to undo that. */
function Reductions({ display }: { display: ProofDisplay }) {
  const { look, whole, isFromMissing, shown, inChains, apart, setApart, setLook } = display;
  const names = [...hiddenNames(look.hide)];
  const isWhole = look.from === undefined && names.length === 0;
  const isUnfolded = look.chains === 'open' || apart.size > 0;
  if (isWhole && inChains === 0 && !isUnfolded) return null;
  const count = shown.steps.length - whole.sizeOf(whole.root.id);
  return (
    <div className={styles.reductions} role="status">
      {look.from !== undefined && (
        <>
          <Button
            size="compact-xs"
            variant="default"
            leftSection={<IconArrowBackUp size={13} aria-hidden />}
            onClick={() => reRoot(display, null)}
          >
            The whole proof
          </Button>
          {isFromMissing ? (
            <span>
              The step <CodeText isLine text={look.from} /> is not in this proof. All of it is shown.
            </span>
          ) : (
            <span className={styles.fromStep}>
              From <CodeText isLine text={look.from} />
            </span>
          )}
        </>
      )}
      {names.map((name) => (
        <Button
          key={name}
          size="compact-xs"
          variant="default"
          aria-label={`Show ${name} again`}
          rightSection={<IconX size={12} aria-hidden />}
          onClick={() => toggleKnown(display, name)}
        >
          {name === computedName ? 'computed' : name}
        </Button>
      ))}
      {!isWhole && <span className="dim number">{formatAmount(count, 'step')} not shown</span>}
      {inChains > 0 && (
        <>
          <span className="dim number">{formatAmount(inChains, 'step')} folded into chains</span>
          <Button size="compact-xs" variant="default" onClick={() => setLook({ chains: 'open' })}>
            Unfold chains
          </Button>
        </>
      )}
      {isUnfolded && (
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => {
            setApart(new Set());
            if (look.chains === 'open') setLook({ chains: undefined });
          }}
        >
          Fold chains
        </Button>
      )}
    </div>
  );
}

interface ProofToolsProps {
  display: ProofDisplay;
  findRef: RefObject<HTMLInputElement | null>;
  /** Moves the focus to the proof. */
  onLeave: () => void;
}

/** Shows the toolbar of a proof: outline or diagram, search, depth, hidden predicates, root. */
export function ProofTools({ display, findRef, onLeave }: ProofToolsProps) {
  const { look, setLook } = display;
  return (
    <>
      <div className={styles.tools}>
        <SegmentedControl
          aria-label="How the proof is shown"
          data={[
            { value: 'outline', label: 'Outline' },
            { value: 'diagram', label: 'Diagram' },
            { value: 'words', label: 'In words' },
          ]}
          value={look.look ?? 'outline'}
          onChange={(value) =>
            setLook({ look: value === 'diagram' || value === 'words' ? value : undefined })
          }
        />
        <FindField display={display} fieldRef={findRef} onLeave={onLeave} />
        <FoldButtons display={display} />
        <Button
          variant={look.facts === 'true' ? 'light' : 'default'}
          aria-pressed={look.facts === 'true'}
          onClick={() => setLook({ facts: look.facts === 'true' ? undefined : 'true' })}
        >
          Only the facts
        </Button>
        <KnownButton display={display} />
      </div>
      <Reductions display={display} />
    </>
  );
}
