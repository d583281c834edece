/**
 * A backend that keeps a diary, and can say what a power cut at any moment may have left on the disk.
 *
 * The model of the disk: what a file held at its last `sync`, and the names there were at the last `syncDirectory`,
 * are safe. Every write or truncation since may have happened, or not, or (a write) in part, up to any byte; every
 * change of a name may have happened or not; all of that independently of order. So a name may be there without its
 * bytes, and bytes without those before them (zeros stand in their place).
 * It can also be told to fail: see `faults`.
 */
import { systemError, type StorageBackend, type StorageFile } from '../storage/backend.ts';
import { GrowingBytes, memoryBackend, type MemoryBackend } from '../storage/memory-backend.ts';

/** What a backend is asked to do that may fail. */
export type FaultyStep = 'create' | 'write' | 'truncate' | 'sync' | 'rename' | 'remove' | 'syncDirectory';

/** A step that fails: with this code of the system, a write after so many of its bytes. */
export interface Fault {
  readonly code: string;
  readonly written?: number;
}

export interface CrashBackend extends StorageBackend {
  /** Steps so far: the moments at which the power may go. */
  readonly steps: number;
  /** Asked before every step, with the size of a write: the fault it meets, or null. */
  faults: (step: FaultyStep, bytes: number) => Fault | null;
  /** What is there now, as a process that was only killed leaves it. */
  now(): MemoryBackend;
  /**
   * What the disk may hold where the power went after so many steps. `choose(n)` picks one of n outcomes, 0 to n - 1;
   * 0 is always "did not happen".
   */
  afterPowerCut(steps: number, choose: (outcomes: number) => number): MemoryBackend;
}

type Step =
  | { readonly kind: 'create'; readonly name: string; readonly file: number }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  | { readonly kind: 'remove'; readonly name: string }
  | { readonly kind: 'syncDirectory' }
  | { readonly kind: 'write'; readonly file: number; readonly position: number; readonly data: Uint8Array }
  | { readonly kind: 'truncate'; readonly file: number; readonly size: number }
  | { readonly kind: 'sync'; readonly file: number };

/** A backend that begins with these files, safe on the disk. */
export function crashBackend(initial: ReadonlyMap<string, Uint8Array> = new Map()): CrashBackend {
  const diary: Step[] = [];
  const live = new Disk(initial);
  let faults: CrashBackend['faults'] = () => null;
  const record = (step: Step): void => {
    diary.push(step);
    live.happen(step);
  };
  const attempt = (kind: FaultyStep): void => {
    const fault = faults(kind, 0);
    if (fault !== null) throw systemError(fault.code, `injected into ${kind}`);
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
    truncate: async (size) => {
      attempt('truncate');
      record({ kind: 'truncate', file: id, size });
    },
    sync: async () => {
      attempt('sync');
      record({ kind: 'sync', file: id });
    },
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
    afterPowerCut: (steps, choose) => powerCut(initial, diary.slice(0, steps), choose),
    list: async () => [...live.names.keys()].sort(),
    create: async (name) => {
      attempt('create');
      if (live.names.has(name)) throw systemError('EEXIST', `${name} exists`);
      const id = live.nextFile;
      record({ kind: 'create', name, file: id });
      return file(id);
    },
    open: async (name) => file(live.find(name)),
    rename: async (from, to) => {
      attempt('rename');
      record({ kind: 'rename', from, to });
    },
    remove: async (name) => {
      attempt('remove');
      live.find(name);
      record({ kind: 'remove', name });
    },
    syncDirectory: async () => {
      attempt('syncDirectory');
      record({ kind: 'syncDirectory' });
    },
    location: (name) => `disk:${name}`,
  };
}

/** Names and files. A file is a number, so that it outlives its name. */
class Disk {
  readonly names = new Map<string, number>();
  readonly #files: GrowingBytes[] = [];

  constructor(initial: ReadonlyMap<string, Uint8Array>) {
    for (const [name, bytes] of initial) this.names.set(name, this.#files.push(new GrowingBytes(bytes)) - 1);
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
      this.bytes(step.file);
    } else if (step.kind === 'rename') this.#rename(step.from, step.to);
    else if (step.kind === 'remove') this.names.delete(step.name);
    else if (step.kind === 'write') this.bytes(step.file).write(step.data, step.position);
    else if (step.kind === 'truncate') this.bytes(step.file).resize(step.size);
  }

  #rename(from: string, to: string): void {
    const id = this.names.get(from);
    if (id === undefined) return;
    this.names.delete(from);
    this.names.set(to, id);
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
  steps.forEach((step, index) => {
    if (isSafe(steps, index)) disk.happen(step);
    else happenPerhaps(disk, step, choose);
  });
  return disk.snapshot();
}

/** True where a sync after the step covers it. */
function isSafe(steps: readonly Step[], index: number): boolean {
  const step = steps[index] as Step;
  const rest = steps.slice(index + 1);
  if (step.kind === 'write' || step.kind === 'truncate') {
    return rest.some((later) => later.kind === 'sync' && later.file === step.file);
  }
  return rest.some((later) => later.kind === 'syncDirectory');
}

function happenPerhaps(disk: Disk, step: Step, choose: (outcomes: number) => number): void {
  if (step.kind !== 'write') {
    if (choose(2) === 1) disk.happen(step);
    return;
  }
  const outcome = choose(4);
  if (outcome === 1) disk.happen(step);
  else if (outcome === 2) disk.happen({ ...step, data: step.data.slice(0, choose(step.data.length + 1)) });
  else if (outcome === 3) {
    // The size became durable before the bytes did.
    const kept = choose(step.data.length + 1);
    disk.happen({ ...step, data: step.data.map((byte, index) => (index < kept ? byte : 0)) });
  }
}
