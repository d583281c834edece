/** The form's buckets: weighted shares of the window for some predicates, filled in this order. */
import { ActionIcon, Button, NumberInput, Slider, TagsInput, TextInput } from '@mantine/core';
import { IconArrowUp, IconPlus, IconX } from '@tabler/icons-react';
import { useId } from 'react';
import { formatCount } from '../../ui/format.ts';
import { type BucketDraft, nearestStop, newBucket, predicatesOfList, weightStops } from './form.ts';
import styles from './context.module.css';
import { Tooltip } from '../../ui/tooltip.tsx';

interface BucketFieldsProps {
  buckets: readonly BucketDraft[];
  onBuckets: (buckets: readonly BucketDraft[]) => void;
  /** Names of the existing predicates. */
  predicates: readonly string[];
  /** Problems by path in the request, such as `relevanceBuckets.0.name`. */
  problems: Readonly<Record<string, string>>;
}

interface BucketProps extends Pick<BucketFieldsProps, 'predicates' | 'problems'> {
  bucket: BucketDraft;
  index: number;
  onBucket: (bucket: BucketDraft) => void;
  onUp: () => void;
  onRemove: () => void;
}

function problemOf(problems: Readonly<Record<string, string>>, path: string): string | undefined {
  // An invalid predicate has its own path below the list.
  const found = Object.keys(problems).find((key) => key === path || key.startsWith(`${path}.`));
  return found === undefined ? undefined : problems[found];
}

function Bucket({ bucket, index, predicates, problems, onBucket, onUp, onRemove }: BucketProps) {
  const path = `relevanceBuckets.${index}`;
  const called = bucket.name === '' ? `bucket ${index + 1}` : bucket.name;
  const change = (part: Partial<BucketDraft>) => onBucket({ ...bucket, ...part });
  return (
    <li className={`flex-column boxed gap-6 ${styles.bucket}`}>
      <div className="align-start flex gap-4">
        <TextInput
          className="rest-width"
          aria-label={`Name of bucket ${index + 1}`}
          placeholder="Name"
          value={bucket.name}
          error={problemOf(problems, `${path}.name`)}
          onChange={(event) => change({ name: event.currentTarget.value })}
        />
        <Tooltip label="Fill it earlier">
          <ActionIcon aria-label={`Fill ${called} earlier`} disabled={index === 0} onClick={onUp}>
            <IconArrowUp size={15} aria-hidden />
          </ActionIcon>
        </Tooltip>
        <Tooltip label="Remove the bucket">
          <ActionIcon aria-label={`Remove ${called}`} onClick={onRemove}>
            <IconX size={15} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </div>
      <TagsInput
        size="xs"
        aria-label={`Predicates of ${called}`}
        placeholder={bucket.predicates.length === 0 ? 'Predicates' : ''}
        data={[...predicates]}
        value={[...bucket.predicates]}
        splitChars={[',', ' ']}
        maxDropdownHeight={220}
        error={problemOf(problems, `${path}.predicates`)}
        onChange={(names) => change({ predicates: predicatesOfList(names.join(',')) })}
      />
      <BarField
        label="Weight"
        name={`Weight of ${called}`}
        value={String(bucket.weight)}
        stops={weightStops}
        fallback={1}
        decimals={3}
        error={problemOf(problems, `${path}.weight`)}
        onValue={(value) => change({ weight: value === '' ? 1 : Number(value) })}
      />
      <div className={`flex-row gap-2-12 flex-wrap ${styles.barField}`}>
        <span className={styles.label}>At most</span>
        <span className="rest-width" />
        <NumberInput
          className={styles.number ?? ''}
          aria-label={`Most facts of ${called}`}
          hideControls
          allowNegative={false}
          allowDecimal={false}
          thousandSeparator=","
          placeholder="its share"
          value={bucket.maxFacts ?? ''}
          error={problemOf(problems, `${path}.maxFacts`)}
          onChange={(value) => change({ maxFacts: value === '' ? null : Number(value) })}
        />
      </div>
    </li>
  );
}

function swapped(buckets: readonly BucketDraft[], index: number): BucketDraft[] {
  const next = [...buckets];
  const moved = next.splice(index, 1);
  next.splice(index - 1, 0, ...moved);
  return next;
}

/** The list of buckets, each editable, with a button that adds one. */
export function BucketFields({ buckets, onBuckets, predicates, problems }: BucketFieldsProps) {
  return (
    <>
      {buckets.length > 0 && (
        <ol className="plain-list flex-column gap-8" aria-label="Buckets">
          {buckets.map((bucket, index) => (
            <Bucket
              // Keyed by position: the name changes while being typed.
              key={`bucket ${index + 1}`}
              bucket={bucket}
              index={index}
              predicates={predicates}
              problems={problems}
              onBucket={(next) => onBuckets(buckets.map((each, at) => (at === index ? next : each)))}
              onUp={() => onBuckets(swapped(buckets, index))}
              onRemove={() => onBuckets(buckets.filter((_, at) => at !== index))}
            />
          ))}
        </ol>
      )}
      <Button
        variant="subtle"
        className={styles.addBucket ?? ''}
        leftSection={<IconPlus size={14} aria-hidden />}
        onClick={() => onBuckets([...buckets, newBucket(buckets)])}
      >
        Bucket
      </Button>
      {problems['relevanceBuckets'] !== undefined && (
        <p className={styles.problem} role="status">
          {problems['relevanceBuckets']}
        </p>
      )}
    </>
  );
}

interface BarFieldProps {
  label: string;
  /** The accessible name, if the label alone is ambiguous. */
  name?: string;
  /** The typed text; '' for none. */
  value: string;
  stops: readonly number[];
  /** The value used if none is typed; null: no limit, which is then the slider's last stop. */
  fallback: number | null;
  decimals?: number;
  error?: string | undefined;
  onValue: (value: string) => void;
}

const noLimit = 'no limit';

/** A number as a field for exact values and a slider for trying some. */
export function BarField(props: BarFieldProps) {
  const { label, name = label, value, stops, fallback, decimals = 0, error, onValue } = props;
  const id = useId();
  const last = stops.length - (fallback === null ? 0 : 1);
  const number = value.trim() === '' ? fallback : Number(value);
  const position = number === null ? last : nearestStop(stops, Number.isFinite(number) ? number : 0);
  const words = (index: number) => {
    const stop = stops[index];
    return stop === undefined ? noLimit : decimals > 0 ? String(stop) : formatCount(stop);
  };
  return (
    <div className={`flex-row gap-2-12 flex-wrap ${styles.barField}`}>
      <label htmlFor={id} className={styles.label}>
        {label}
      </label>
      <Slider
        className={styles.slider ?? ''}
        size="sm"
        thumbSize={16}
        min={0}
        max={last}
        step={1}
        value={position}
        label={words}
        thumbLabel={`${name}: slide`}
        thumbValueText={words}
        onChange={(index) => {
          const stop = stops[index];
          onValue(stop === undefined ? '' : String(stop));
        }}
      />
      <NumberInput
        id={id}
        {...(name === label ? {} : { 'aria-label': name })}
        className={styles.number ?? ''}
        hideControls
        allowNegative={false}
        decimalScale={decimals}
        thousandSeparator=","
        placeholder={fallback === null ? noLimit : String(fallback)}
        value={value}
        error={error !== undefined}
        {...(error === undefined ? {} : { 'aria-describedby': `${id}-problem` })}
        onChange={(next) => onValue(next === '' ? '' : String(next))}
      />
      {error !== undefined && (
        <p id={`${id}-problem`} className={styles.problem} role="status">
          {error}
        </p>
      )}
    </div>
  );
}
