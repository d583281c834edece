import { maxMetadataBytes, type Metadata } from '../contract/facts.ts';
import { type FactVersion, sameJson } from '../store/fact-store.ts';

/**
 * Two versions of a fact made one, for merges that keep both.
 *
 * Validity is the widest. Of the metadata, what target has stays; what only source has is added; what source has
 * otherwise goes under `_source`. Making one of the result and source again changes nothing: therefore a `_source` that
 * source has itself is put under `_source` like anything else, unless it can simply be taken over.
 */
export function mergedVersion(source: FactVersion, target: FactVersion): FactVersion {
  return {
    from: Math.min(source.from, target.from),
    until: Math.max(source.until, target.until),
    metadata: mergedMetadata(source.metadata, target.metadata),
  };
}

/** What source says otherwise. */
const key = '_source';
/** What target had itself under that key, where it is no object that more can be put into. */
const replacedKey = '_target';

function mergedMetadata(source: Metadata | null, target: Metadata | null): Metadata | null {
  if (source === null || target === null) return target ?? source;
  const differing = Object.entries(source).filter(
    ([name, value]) => name !== key && Object.hasOwn(target, name) && !sameJson(value, target[name]),
  );
  const added = Object.entries(source).filter(([name]) => !Object.hasOwn(target, name));
  const [said, known] = [source[key], target[key]];
  const saysOtherwise = said !== undefined && known !== undefined && !sameJson(said, known);
  if (differing.length === 0 && !saysOtherwise) return { ...target, ...Object.fromEntries(added) };
  const otherwise = said === undefined ? differing : [...differing, [key, said]];
  return {
    ...target,
    ...Object.fromEntries(added),
    [key]: { ...asObject(known), ...Object.fromEntries(otherwise) },
  };
}

function asObject(known: Metadata[string] | undefined): Metadata {
  if (known === undefined) return {};
  const isObject = typeof known === 'object' && known !== null && !Array.isArray(known);
  return isObject ? known : { [replacedKey]: known };
}

const utf8 = new TextEncoder();

export function isTooLarge({ metadata }: FactVersion): boolean {
  if (metadata === null) return false;
  const text = JSON.stringify(metadata);
  return text.length > maxMetadataBytes || utf8.encode(text).length > maxMetadataBytes;
}
