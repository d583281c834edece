/**
 * A backend that records every step, and can compute what a power cut at any moment may leave on the disk.
 *
 * The disk model: the contents of a file at its last `sync`, and the names at the last `syncDirectory`, are
 * safe. Every later write or truncation may have happened, or not, or (a write) in part, torn between two
 * sectors or at a byte: then the rest is missing, or is zeros or garbage, or the end was written without the
 * beginning. Every change of a name may have happened or not. All of that is independent of order: a name may
 * exist without its bytes, and bytes without those before them.
 *
 * It can also inject faults: see `faults`.
 */
import { Prng } from './prng.ts';
import {
  systemError,
  type StorageBackend,
  type StorageFile,
  GrowingBytes,
  memoryBackend,
  type MemoryBackend,
} from '../log/backend.ts';

/** Operations that may fail. */
export type FaultyStep = 'create' | 'write' | 'truncate' | 'sync' | 'rename' | 'remove' | 'syncDirectory';

/** A failure with this system error code; a write fails after `written` bytes. */
export interface Fault {
  readonly code: string;
  readonly written?: number;
}

export interface CrashBackend extends StorageBackend {
  /** Number of steps so far: the moments of possible power cuts. */
  readonly steps: number;
  /** Called before every step, with the size of a write: returns the fault to inject, or null. */
  faults: (step: FaultyStep, bytes: number) => Fault | null;
  /** The current contents, as after killing only the process. */
  now(): MemoryBackend;
  /** The number of outcomes of each step that is not safe if the power is cut after `steps` steps. */
  outcomesAt(steps: number): readonly number[];
  /**
   * A possible disk content if the power is cut after `steps` steps. `choose(n)` chooses one of n outcomes, 0
   * to n - 1, for each unsafe step, in order; 0 is always "did not happen", and 1 "happened completely".
   */
  afterPowerCut(steps: number, choose: (outcomes: number) => number): MemoryBackend;
  /**
   * The number of the first `steps` steps before the first that would not be safe if the power were cut after
   * them.
   */
  safeBefore(steps: number): number;
  /** The last contents of every file ever created with this ending of its name, including removed ones. */
  everWritten(ending: string): MemoryBackend;
}

type Step =
  | { readonly kind: 'create'; readonly name: string; readonly file: number }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string; readonly file: number }
  | { readonly kind: 'remove'; readonly name: string }
  | { readonly kind: 'syncDirectory' }
  | { readonly kind: 'write'; readonly file: number; readonly position: number; readonly data: Uint8Array }
  | { readonly kind: 'truncate'; readonly file: number; readonly size: number }
  | { readonly kind: 'sync'; readonly file: number };

/** A backend that starts with these files, safe on the disk. */
export function crashBackend(initial: ReadonlyMap<string, Uint8Array> = new Map()): CrashBackend {
  const diary: Step[] = [];
  const live = new Disk(initial);
  let faults: CrashBackend['faults'] = () => null;
  const record = (step: Step): void => {
    diary.push(step);
    live.happen(step);
  };
  const attempt = (step: Step): void => {
    const fault = faults(step.kind, 0);
    if (fault !== null) throw systemError(fault.code, `injected into ${step.kind}`);
    record(step);
  };
  const file = (id: number): StorageFile => ({
    size: async () => live.bytes(id).length,
    read: async (target, position) => live.bytes(id).read(target, position),
    write: async (data, position) => {
      const fault = faults('write', data.length);
      const written = fault === null ? data.length : (fault.written ?? 0);
      if (written > 0) record({ kind: 'write', file: id, position, data: data.slice(0, written) });
      if (fault !== null) throw systemError(fault.code, 'injected into write');
    },
    truncate: async (size) => attempt({ kind: 'truncate', file: id, size }),
    sync: async () => attempt({ kind: 'sync', file: id }),
    close: async () => undefined,
  });
  return {
    get steps() {
      return diary.length;
    },
    get faults() {
      return faults;
    },
    set faults(wanted) {
      faults = wanted;
    },
    now: () => live.snapshot(),
    outcomesAt: (steps) => unsafe(diary, steps).map((index) => outcomesOf(diary[index] as Step).length),
    afterPowerCut: (steps, choose) => powerCut(initial, diary.slice(0, steps), choose),
    safeBefore: (steps) => unsafe(diary, steps)[0] ?? steps,
    everWritten: (ending) => live.everWritten(ending),
    list: async () => [...live.names.keys()].sort(),
    create: async (name) => {
      if (live.names.has(name)) throw systemError('EEXIST', `${name} exists`);
      const id = live.nextFile;
      attempt({ kind: 'create', name, file: id });
      return file(id);
    },
    open: async (name) => file(live.find(name)),
    rename: async (from, to) => attempt({ kind: 'rename', from, to, file: live.find(from) }),
    remove: async (name) => {
      live.find(name);
      attempt({ kind: 'remove', name });
    },
    syncDirectory: async () => attempt({ kind: 'syncDirectory' }),
    location: (name) => `disk:${name}`,
  };
}

/** Names and files. A file is a number, so that it survives its name. */
class Disk {
  readonly names = new Map<string, number>();
  /** The last file created under each name. */
  readonly #everNamed = new Map<string, number>();
  readonly #files: GrowingBytes[] = [];

  constructor(initial: ReadonlyMap<string, Uint8Array>) {
    for (const [name, bytes] of initial) this.names.set(name, this.#files.push(new GrowingBytes(bytes)) - 1);
    for (const [name, file] of this.names) this.#everNamed.set(name, file);
  }

  get nextFile(): number {
    return this.#files.length;
  }

  find(name: string): number {
    const id = this.names.get(name);
    if (id === undefined) throw systemError('ENOENT', `no file ${name}`);
    return id;
  }

  bytes(id: number): GrowingBytes {
    let bytes = this.#files[id];
    if (bytes === undefined) {
      bytes = new GrowingBytes(new Uint8Array(0));
      this.#files[id] = bytes;
    }
    return bytes;
  }

  happen(step: Step): void {
    if (step.kind === 'create') {
      this.names.set(step.name, step.file);
      this.#everNamed.set(step.name, step.file);
      this.bytes(step.file);
    } else if (step.kind === 'rename') this.#rename(step);
    else if (step.kind === 'remove') this.names.delete(step.name);
    else if (step.kind === 'write') this.bytes(step.file).write(step.data, step.position);
    else if (step.kind === 'truncate') this.bytes(step.file).resize(step.size);
  }

  /** The file gets the name, even if creating its first name did not happen. */
  #rename({ from, to, file }: Step & { kind: 'rename' }): void {
    if (this.names.get(from) === file) this.names.delete(from);
    this.names.set(to, file);
  }

  everWritten(ending: string): MemoryBackend {
    const wanted = [...this.#everNamed].filter(([name]) => name.endsWith(ending));
    return memoryBackend(new Map(wanted.map(([name, id]) => [name, this.bytes(id).copy()])));
  }

  snapshot(): MemoryBackend {
    return memoryBackend(new Map([...this.names].map(([name, id]) => [name, this.bytes(id).copy()])));
  }
}

function powerCut(
  initial: ReadonlyMap<string, Uint8Array>,
  steps: readonly Step[],
  choose: (outcomes: number) => number,
): MemoryBackend {
  const disk = new Disk(initial);
  const open = new Set(unsafe(steps, steps.length));
  steps.forEach((step, index) => {
    const outcomes = open.has(index) ? outcomesOf(step) : null;
    const happened = outcomes === null ? [step] : (outcomes[choose(outcomes.length)] ?? []);
    for (const each of happened) disk.happen(each);
  });
  return disk.snapshot();
}

/** The indexes of those of the first `count` steps that no later sync covers. */
function unsafe(diary: readonly Step[], count: number): number[] {
  const synced = new Set<number>();
  let isFolderSynced = false;
  const found: number[] = [];
  for (let index = count - 1; index >= 0; index--) {
    const step = diary[index] as Step;
    if (step.kind === 'sync') synced.add(step.file);
    else if (step.kind === 'syncDirectory') isFolderSynced = true;
    else if (step.kind === 'write' || step.kind === 'truncate') {
      if (!synced.has(step.file)) found.push(index);
    } else if (!isFolderSynced) found.push(index);
  }
  return found.reverse();
}

const sectorBytes = 512;
/** At most this many sector boundaries of a long write are tried. */
const mostBoundaries = 6;

type Outcomes = readonly (readonly Step[])[];

/** Cached outcomes: every moment after a step asks for them, for every choice. */
const madeOutcomes = new WeakMap<Step, Outcomes>();

/** The possible outcomes of an unsafe step, as replacement steps: first none, then itself. */
function outcomesOf(step: Step): Outcomes {
  const made = madeOutcomes.get(step) ?? makeOutcomes(step);
  madeOutcomes.set(step, made);
  return made;
}

function makeOutcomes(step: Step): Outcomes {
  if (step.kind !== 'write') return [[], [step]];
  const { position, data } = step;
  const part = (bytes: Uint8Array, at = 0): Step => ({ ...step, position: position + at, data: bytes });
  const filled = (kept: number, rest: (length: number) => Uint8Array): Step => {
    const bytes = data.slice();
    bytes.set(rest(data.length - kept), kept);
    return part(bytes);
  };
  const torn = [0, ...cuts(position, data.length)].flatMap((kept) => [
    ...(kept === 0 ? [] : [[part(data.slice(0, kept))], [part(data.slice(kept), kept)]]),
    [filled(kept, (length) => new Uint8Array(length))],
    [filled(kept, (length) => garbage(position + kept, length))],
  ]);
  return [[], [step], ...torn];
}

/** Where a write may be torn: between sectors, at its first and last byte, and in the middle. */
function cuts(position: number, length: number): number[] {
  const first = sectorBytes - (position % sectorBytes);
  const boundaries: number[] = [];
  for (let at = first; at < length; at += sectorBytes) boundaries.push(at);
  const stride = Math.ceil(boundaries.length / mostBoundaries);
  const chosen = boundaries.filter((_, index) => index % stride === 0);
  return [...new Set([1, length >> 1, length - 1, ...chosen])].filter((at) => at > 0 && at < length);
}

function garbage(seed: number, length: number): Uint8Array {
  const prng = new Prng(seed);
  return Uint8Array.from({ length }, () => prng.below(256));
}
