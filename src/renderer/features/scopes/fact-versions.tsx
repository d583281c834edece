/** One differing fact in full: every field in both scopes and after the merge, and the choice in words. */
import { CloseButton, Radio, Stack } from '@mantine/core';
import { CodeText } from '../../editor/code-text.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import { baseName } from './base-in-words.ts';
import { type Take, takeOptions } from './choices.ts';
import { KindTag, ResultTag, takeLabel } from './fact-rows.tsx';
import type { RowResult, Version } from './merge-result.ts';
import type { DifferingFactField, MergeRow } from './merge-rows.ts';
import { sideLabel } from './scopes-search.ts';
import type { ScopeComparison } from './use-comparison.ts';
import { fieldsInFull } from './version-text.tsx';
import styles from './scopes.module.css';

const fieldNames: readonly (readonly [DifferingFactField, string])[] = [
  ['truthVal', 'Truth'],
  ['validFrom', 'Valid from'],
  ['validUntil', 'Valid until'],
  ['metadata', 'Metadata'],
];

interface VersionFieldsProps {
  heading: string;
  version: Version | null;
  /** Those that are marked. */
  differing: readonly DifferingFactField[];
}

function VersionFields({ heading, version, differing }: VersionFieldsProps) {
  const fields = fieldsInFull(version);
  return (
    <section className={styles.version}>
      <h3>{heading}</h3>
      {version === null ? (
        <p className="dim">not there</p>
      ) : (
        <dl>
          {fieldNames.map(([field, name]) => (
            <div key={field} className={differing.includes(field) ? styles.differing : undefined}>
              <dt>
                {name}
                {differing.includes(field) && <span className="visually-hidden"> (differs)</span>}
              </dt>
              <dd className={field === 'metadata' ? 'mono' : undefined}>{fields[field]}</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

function reasonOf(result: RowResult, row: MergeRow, comparison: ScopeComparison): string {
  const { pair, strategy, differences } = comparison;
  if (result.by === 'choice')
    return `chosen: ${takeLabel(result.take === 'refused' ? 'both' : result.take, pair)}`;
  if (result.by === 'strategy') return `by the strategy, ${strategy}`;
  const base = differences.data === undefined ? null : baseName(differences.data);
  if (base === null) return row.kind === 'added' ? 'a merge adds it' : 'a merge takes nothing away';
  return `only one side changed it since the base, ${base}`;
}

interface FactVersionsProps {
  row: MergeRow;
  comparison: ScopeComparison;
  onClose: () => void;
}

export function FactVersions({ row, comparison, onClose }: FactVersionsProps) {
  const { pair, choices, resultOf, choose } = comparison;
  const result = resultOf(row);
  const choice = choices.get(row.place);
  return (
    <PaneFrame
      tone="panel"
      label="Versions"
      title="Versions"
      actions={<CloseButton size="sm" aria-label="Close the versions" onClick={onClose} />}
    >
      <div className={styles.versions}>
        <div className={styles.versionAtom}>
          <KindTag row={row} isChosen={choice !== undefined} />
          <CodeText text={row.key} />
        </div>
        <Radio.Group
          label="Take"
          value={choice ?? ''}
          onChange={(value) => choose([row.place], takeOptions.find((take) => take === value) ?? null)}
        >
          <Stack gap={10} mt={6}>
            {takeOptions.map((take: Take) => (
              <Radio key={take} value={take} size="xs" label={takeLabel(take, pair)} />
            ))}
            <Radio value="" size="xs" label="No choice" />
          </Stack>
        </Radio.Group>
        <VersionFields heading={sideLabel(pair.source)} version={row.source} differing={row.fields} />
        <VersionFields
          heading={sideLabel(pair.target)}
          version={row.target ?? row.opposite}
          differing={row.opposite === null ? row.fields : ['truthVal']}
        />
        <section className={styles.version}>
          <h3>{sideLabel(pair.target)} after the merge</h3>
          <p className={styles.versionAtom}>
            <ResultTag result={result} /> <span className="dim">{reasonOf(result, row, comparison)}</span>
          </p>
          {result.take !== 'refused' &&
            result.versions.map((version) => (
              <VersionFields key={String(version.truthVal)} heading="" version={version} differing={[]} />
            ))}
        </section>
      </div>
    </PaneFrame>
  );
}
