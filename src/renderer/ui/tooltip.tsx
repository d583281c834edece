import {
  type CSSProperties,
  type ElementType,
  type FocusEvent,
  type PointerEvent,
  type ReactElement,
  type ReactNode,
  type Ref,
  type RefObject,
  type SyntheticEvent,
  useCallback,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { createPortal } from 'react-dom';
import styles from './tooltip.module.css';

type Passed = Readonly<Record<string, unknown>>;

interface TooltipProps {
  /** null: no tooltip. */
  label: ReactNode;
  /** Above, in the middle, by default; always within the window. */
  position?: 'top' | 'bottom-start' | 'bottom-end';
  /** Breaks lines at this width in pixels; otherwise one line. */
  maxWidth?: number;
  tone?: 'bad';
  /** Shows or hides it whatever the pointer does. */
  opened?: boolean;
  disabled?: boolean;
  /** Shows it at once, also for the keyboard and touch: it says why the target does nothing. */
  isReason?: boolean;
  ref?: Ref<HTMLElement>;
  /** One element that takes a ref and the events of the pointer. */
  children: ReactElement;
}

/** After this many milliseconds of rest on the target. */
const openDelayMs = 450;
const gap = 6;
const margin = 4;

/** The corner of a tooltip of this size beside the target, within the window; on the other side if there is no room. */
export function placeOfTooltip(
  target: Pick<DOMRect, 'left' | 'right' | 'top' | 'bottom' | 'width'>,
  size: { readonly width: number; readonly height: number },
  window: { readonly width: number; readonly height: number },
  position: NonNullable<TooltipProps['position']>,
): { left: number; top: number } {
  const above = target.top - gap - size.height;
  const below = target.bottom + gap;
  const fitsBelow = below + size.height <= window.height - margin;
  const isAbove = position === 'top' ? above >= margin || !fitsBelow : !fitsBelow && above >= margin;
  const wanted =
    position === 'bottom-start'
      ? target.left
      : position === 'bottom-end'
        ? target.right - size.width
        : target.left + (target.width - size.width) / 2;
  const greatest = window.width - margin - size.width;
  return { left: Math.max(margin, Math.min(wanted, greatest)), top: isAbove ? above : below };
}

function setRef<Value>(ref: Ref<Value> | undefined, value: Value | null): void {
  if (typeof ref === 'function') ref(value);
  else if (ref !== null && ref !== undefined) ref.current = value;
}

/** True after the pointer has rested on the target for so long; Escape and a press end it. */
function useResting(delayMs: number): { isResting: boolean; enter: () => void; leave: () => void } {
  const [isResting, setIsResting] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const leave = () => {
    clearTimeout(timer.current);
    setIsResting(false);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    if (!isResting) return undefined;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === 'Escape') setIsResting(false);
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [isResting]);
  return {
    isResting,
    enter: () => {
      clearTimeout(timer.current);
      timer.current = setTimeout(() => setIsResting(true), delayMs);
    },
    leave,
  };
}

interface BoxProps {
  readonly label: ReactNode;
  readonly maxWidth: number | undefined;
  readonly tone: 'bad' | undefined;
  readonly id: string;
  readonly target: RefObject<HTMLElement | null>;
  readonly position: NonNullable<TooltipProps['position']>;
}

function Box({ id, label, target, position, maxWidth, tone }: BoxProps) {
  const box = useRef<HTMLDivElement>(null);
  const [style, setStyle] = useState<CSSProperties>({ visibility: 'hidden' });
  useLayoutEffect(() => {
    if (box.current === null || target.current === null) return;
    const { width, height } = box.current.getBoundingClientRect();
    const view = { width: window.innerWidth, height: window.innerHeight };
    setStyle(placeOfTooltip(target.current.getBoundingClientRect(), { width, height }, view, position));
  }, [target, position, label]);
  return createPortal(
    <div
      ref={box}
      id={id}
      role="tooltip"
      className={`${styles.box} ${tone === 'bad' ? styles.bad : ''}`}
      style={{ ...style, ...(maxWidth === undefined ? {} : { maxWidth, whiteSpace: 'normal' }) }}
    >
      {label}
    </div>,
    document.body,
  );
}

/** Both sets of properties; handlers of the same event are called one after the other. */
function together(one: Passed, other: Passed): Record<string, unknown> {
  const all: Record<string, unknown> = { ...one, ...other };
  for (const [name, second] of Object.entries(other)) {
    const first = one[name];
    if (typeof first === 'function' && typeof second === 'function')
      all[name] = (...args: unknown[]) => {
        first(...args);
        second(...args);
      };
  }
  return all;
}

/**
 * Names or explains its child in a box beside it while the pointer rests on it. Whatever else it is given, such as by the
 * menu that the child opens, is the child's.
 */
export function Tooltip(props: TooltipProps & { readonly [name: string]: unknown }) {
  const {
    label,
    position = 'top',
    opened,
    disabled = false,
    isReason = false,
    children,
    ref,
    ...rest
  } = props;
  const { maxWidth, tone, ...passed } = rest;
  const id = useId();
  const target = useRef<HTMLElement>(null);
  const { isResting, enter, leave } = useResting(isReason ? 0 : openDelayMs);
  const isShown = (opened ?? isResting) && !disabled && label !== null;
  const own = children.props as Passed;
  const ofChild = own['ref'] as Ref<HTMLElement> | undefined;
  const take = useCallback(
    (element: HTMLElement | null) => {
      target.current = element;
      setRef(ofChild, element);
      setRef(ref, element);
    },
    [ofChild, ref],
  );
  const { ref: _, ...ofOwn } = own;
  const given = together(ofOwn, passed);
  const pass = (name: string, event: SyntheticEvent) => {
    const handler = given[name];
    if (typeof handler === 'function') handler(event);
  };
  const Child = children.type as ElementType;
  return (
    <>
      <Child
        {...given}
        {...(isShown ? { 'aria-describedby': id } : {})}
        ref={take}
        onPointerEnter={(event: PointerEvent) => {
          pass('onPointerEnter', event);
          if (isReason || event.pointerType !== 'touch') enter();
        }}
        onPointerLeave={(event: PointerEvent) => {
          pass('onPointerLeave', event);
          leave();
        }}
        onPointerDown={(event: PointerEvent) => {
          pass('onPointerDown', event);
          if (!isReason) leave();
        }}
        onFocus={(event: FocusEvent) => {
          pass('onFocus', event);
          if (isReason) enter();
        }}
        onBlur={(event: FocusEvent) => {
          pass('onBlur', event);
          leave();
        }}
      />
      {isShown && (
        <Box id={id} label={label} target={target} position={position} maxWidth={maxWidth} tone={tone} />
      )}
    </>
  );
}
