import { EngineError } from '../base/errors.ts';

/** The refusal of a creation of what there is already. */
export function exists(name: string): EngineError {
  return new EngineError('Conflict', `the database ${name} exists already`);
}

/** Resolves after so many milliseconds; keeps no process alive. */
export function after(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
