/** V8 hashes strings that are longer than this by their length alone. */
const longestHashed = 16_383;

/** So that nobody can choose texts of one hash. */
const seed = Math.floor(Math.random() * 2 ** 32);

const end = '\0';

/**
 * A text as a key that V8 hashes well: long ones get a padding whose length comes from their hash. Distinct texts have
 * distinct keys: the padding has no zero character, and follows one.
 */
function keyOf<Text extends string | null>(text: Text): Text {
  if (text === null || text.length <= longestHashed) return text;
  let hash = seed;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return `${text}${end}${' '.repeat(hash >>> 20)}` as Text;
}

function textOf<Text extends string | null>(key: Text): Text {
  return key === null || key.length <= longestHashed ? key : (key.slice(0, key.lastIndexOf(end)) as Text);
}

/**
 * A Map for constants and atoms, which may be long.
 *
 * A plain Map of many texts of one length over 16,383 characters compares each with all others: 800 constants of 64 KiB
 * that begin alike take seconds.
 */
export class TextMap<Value, Text extends string | null = string> extends Map<Text, Value> {
  override get(text: Text): Value | undefined {
    return super.get(keyOf(text));
  }

  override has(text: Text): boolean {
    return super.has(keyOf(text));
  }

  override set(text: Text, value: Value): this {
    return super.set(keyOf(text), value);
  }

  override delete(text: Text): boolean {
    return super.delete(keyOf(text));
  }

  override *keys(): MapIterator<Text> {
    for (const key of super.keys()) yield textOf(key);
  }

  override *entries(): MapIterator<[Text, Value]> {
    for (const [key, value] of super.entries()) yield [textOf(key), value];
  }

  override [Symbol.iterator](): MapIterator<[Text, Value]> {
    return this.entries();
  }

  override forEach(visit: (value: Value, text: Text, map: Map<Text, Value>) => void): void {
    for (const [text, value] of this) visit(value, text, this);
  }
}

/** A Set for constants and atoms, which may be long; see `TextMap`. */
export class TextSet extends Set<string> {
  override has(text: string): boolean {
    return super.has(keyOf(text));
  }

  override add(text: string): this {
    return super.add(keyOf(text));
  }

  override delete(text: string): boolean {
    return super.delete(keyOf(text));
  }

  override *values(): SetIterator<string> {
    for (const key of super.values()) yield textOf(key);
  }

  override keys(): SetIterator<string> {
    return this.values();
  }

  override *entries(): SetIterator<[string, string]> {
    for (const text of this.values()) yield [text, text];
  }

  override [Symbol.iterator](): SetIterator<string> {
    return this.values();
  }

  override forEach(visit: (text: string, same: string, set: Set<string>) => void): void {
    for (const text of this) visit(text, text, this);
  }
}
