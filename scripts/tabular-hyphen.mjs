/**
 * Inter's figures of one width bring a hyphen of that width, which is a gap in words such as half-siblings. This takes the
 * hyphen out of them: the substitution keeps its place and names the glyph itself.
 */

/** @param {number} unitOffset @param {DataView} view */
const uint16 = (view, unitOffset) => view.getUint16(unitOffset);

/**
 * The tables of a font file by tag.
 * @param {DataView} view
 */
function tablesOf(view) {
  const count = uint16(view, 4);
  return new Map(
    Array.from({ length: count }, (_, index) => {
      const at = 12 + 16 * index;
      const tag = String.fromCharCode(...[0, 1, 2, 3].map((letter) => view.getUint8(at + letter)));
      return [tag, view.getUint32(at + 8)];
    }),
  );
}

/**
 * The glyph of a character of the basic plane.
 * @param {DataView} view
 * @param {number} cmap
 * @param {number} character
 */
function glyphOf(view, cmap, character) {
  for (let index = 0; index < uint16(view, cmap + 2); index++) {
    const table = cmap + view.getUint32(cmap + 4 + 8 * index + 4);
    if (uint16(view, table) !== 4) continue;
    const doubled = uint16(view, table + 6);
    for (let segment = 0; segment < doubled; segment += 2) {
      const starts = table + 16 + doubled;
      const [end, start] = [uint16(view, table + 14 + segment), uint16(view, starts + segment)];
      if (character < start || character > end) continue;
      const offsets = starts + 2 * doubled + segment;
      const offset = uint16(view, offsets);
      const delta = uint16(view, starts + doubled + segment);
      const found = offset === 0 ? character : uint16(view, offsets + offset + 2 * (character - start));
      return (found + delta) & 0xffff;
    }
  }
  throw new Error('the font has no table of characters of the basic plane');
}

/**
 * The position of a glyph among those that a substitution covers; -1: it is not covered.
 * @param {DataView} view
 * @param {number} coverage
 * @param {number} glyph
 */
function positionOf(view, coverage, glyph) {
  const count = uint16(view, coverage + 2);
  if (uint16(view, coverage) === 1) {
    for (let index = 0; index < count; index++)
      if (uint16(view, coverage + 4 + 2 * index) === glyph) return index;
    return -1;
  }
  for (let index = 0; index < count; index++) {
    const at = coverage + 4 + 6 * index;
    const start = uint16(view, at);
    if (glyph >= start && glyph <= uint16(view, at + 2)) return uint16(view, at + 4) + glyph - start;
  }
  return -1;
}

/**
 * The subtables of the single substitutions of a feature.
 * @param {DataView} view
 * @param {number} gsub
 * @param {string} feature
 */
function substitutionsOf(view, gsub, feature) {
  const [features, lookups] = [gsub + uint16(view, gsub + 6), gsub + uint16(view, gsub + 8)];
  const found = new Set();
  for (let index = 0; index < uint16(view, features); index++) {
    const at = features + 2 + 6 * index;
    const tag = String.fromCharCode(...[0, 1, 2, 3].map((letter) => view.getUint8(at + letter)));
    if (tag !== feature) continue;
    const table = features + uint16(view, at + 4);
    for (let each = 0; each < uint16(view, table + 2); each++) found.add(uint16(view, table + 4 + 2 * each));
  }
  return [...found].flatMap((index) => {
    const lookup = lookups + uint16(view, lookups + 2 + 2 * index);
    const type = uint16(view, lookup);
    return Array.from({ length: uint16(view, lookup + 4) }, (_, each) => {
      const subtable = lookup + uint16(view, lookup + 6 + 2 * each);
      // An extension leads to a subtable that is far away.
      const [kind, start] =
        type === 7 ? [uint16(view, subtable + 2), subtable + view.getUint32(subtable + 4)] : [type, subtable];
      if (kind !== 1) throw new Error(`${feature} is more than single substitutions`);
      return start;
    });
  });
}

/**
 * Returns the font (TrueType) with a hyphen that is as wide among figures of one width as elsewhere.
 * @param {Buffer} font
 */
export function withoutTabularHyphen(font) {
  const changed = Buffer.from(font);
  const view = new DataView(changed.buffer, changed.byteOffset, changed.byteLength);
  const tables = tablesOf(view);
  const [cmap, gsub] = [tables.get('cmap'), tables.get('GSUB')];
  if (cmap === undefined || gsub === undefined) return font;
  const hyphen = glyphOf(view, cmap, 0x2d);
  for (const subtable of substitutionsOf(view, gsub, 'tnum')) {
    const position = positionOf(view, subtable + uint16(view, subtable + 2), hyphen);
    if (position < 0) continue;
    if (uint16(view, subtable) !== 2) throw new Error('the hyphen has no substitution of its own');
    view.setUint16(subtable + 6 + 2 * position, hyphen);
  }
  return changed;
}
