/** A number that is typed or slid to: the field for what is exact, the slider for what if. */
import { NumberInput, Slider } from '@mantine/core';
import { useId } from 'react';
import { formatCount } from '../../ui/format.ts';
import styles from './context.module.css';
import { nearestStop } from './stops.ts';

interface BarFieldProps {
  label: string;
  /** The label in full, where it alone does not say whose it is. */
  name?: string;
  /** What is typed; '' for none. */
  value: string;
  stops: readonly number[];
  /** The value that counts where none is typed; null: there is no limit then, and the slider ends at it. */
  fallback: number | null;
  decimals?: number;
  error?: string | undefined;
  onValue: (value: string) => void;
}

const noLimit = 'no limit';

export function BarField(props: BarFieldProps) {
  const { label, name = label, value, stops, fallback, decimals = 0, error, onValue } = props;
  const id = useId();
  const last = stops.length - (fallback === null ? 0 : 1);
  const number = value.trim() === '' ? fallback : Number(value);
  const place = number === null ? last : nearestStop(stops, Number.isFinite(number) ? number : 0);
  const words = (index: number) => {
    const stop = stops[index];
    return stop === undefined ? noLimit : decimals > 0 ? String(stop) : formatCount(stop);
  };
  return (
    <div className={styles.barField}>
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
        value={place}
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
