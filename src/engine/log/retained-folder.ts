import { folderKeyOf } from './cipher.ts';
import { existingFolder } from './file-backend.ts';
import { RetainedLog, type RetainedRange } from './retained.ts';

/** A log's folder, for a thread that reads what is retained in it beside the owner of the log. */
export interface RetainedFolder {
  readonly folder: string;
  /** 64 hexadecimal digits; null: it is not encrypted. */
  readonly encryptionKey: string | null;
}

/** Opens ranges of the log in this folder, which it never creates. Rejects like `RetainedLog.within`. */
export function retainedIn({
  folder,
  encryptionKey,
}: RetainedFolder): (range: RetainedRange) => Promise<RetainedLog> {
  const key = folderKeyOf(encryptionKey);
  return async (range) => RetainedLog.within(await existingFolder(folder), key, range);
}
