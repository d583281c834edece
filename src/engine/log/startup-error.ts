/** A process that has the folder; `address` is that of its service, null where it did not say. */
export interface FolderHolder {
  readonly address: string | null;
}

/** A key that the folder needs was not given, one was given that it was not made with, or it was made without one. */
export type KeyTrouble = 'missing' | 'wrong' | 'not wanted';

/** Where the trouble is: a file, and the byte it begins at where that is known. */
export interface StartupErrorPlace {
  readonly file?: string;
  readonly offset?: number;
  /** The live process that has the folder, where that is the trouble. */
  readonly holder?: FolderHolder;
  /** What is wrong with the key that was given, where that is the trouble. */
  readonly key?: KeyTrouble;
}

/**
 * A refusal to start: the storage folder is not as it must be, and going on could lose or alter knowledge.
 * Nothing on disk has been changed. The message is for the person who starts the service: what is wrong, which
 * file, at which offset, and what to do. It never reaches a client of the service.
 */
export class StartupError extends Error {
  readonly file: string | null;
  readonly offset: number | null;
  readonly holder: FolderHolder | null;
  readonly key: KeyTrouble | null;

  constructor(message: string, place: StartupErrorPlace = {}, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartupError';
    this.file = place.file ?? null;
    this.offset = place.offset ?? null;
    this.holder = place.holder ?? null;
    this.key = place.key ?? null;
  }
}
