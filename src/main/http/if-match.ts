import { badHeader } from './caller.ts';

const oneTag = /[ \t]*(?:(W\/)?("[\x21\x23-\x7e\x80-\xff]*"))?[ \t]*(?:,|$)/y;

/**
 * The strong entity tags of an If-Match header (RFC 9110, 13.1.1), `*` for any. Weak ones match nothing and are left
 * out. Refuses with ValidationException what is no such header.
 */
export function parseIfMatch(header: string): readonly string[] | '*' {
  if (header.trim() === '*') return '*';
  const tags: string[] = [];
  let isEmpty = true;
  for (let at = 0; at < header.length; at = oneTag.lastIndex) {
    oneTag.lastIndex = at;
    const found = oneTag.exec(header);
    if (found === null) throw malformed();
    const [, weak, tag] = found;
    if (tag === undefined) continue;
    isEmpty = false;
    if (weak === undefined) tags.push(tag);
  }
  if (isEmpty) throw malformed();
  return tags;
}

function malformed(): Error {
  return badHeader('If-Match', 'is not * and no list of entity tags: "a", "b"');
}
