/**
 * What of a request's parameters the agent reads, taken out before the SDK sees them.
 *
 * Where a field ought to be a text the SDK makes one of whatever it finds; it copies metadata that nobody reads, however long;
 * and in some words of warning about what it does not know, it repeats what a client sent on the process's own output.
 * Names and shapes are those of either revision, and what is wrong beyond them is for the SDK and the agent to say.
 */
import { maxItems } from './lines.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The parameters to hand on, or what is wrong with them. `userRole`: what the revision calls the user. */
export function readParams(
  params: unknown,
  userRole: 'user' | 'ROLE_USER',
): { readonly params: unknown } | { readonly wrong: string } {
  if (!isFields(params)) return { params };
  const { message, configuration } = params;
  const wrong = isFields(message) ? wrongIn(message) : null;
  if (wrong !== null) return { wrong };
  return {
    params: {
      ...only(params, ['id', 'taskId', 'tenant', 'pageSize']),
      ...(message === undefined
        ? {}
        : { message: isFields(message) ? messageOf(message, userRole) : message }),
      ...(isFields(configuration) ? { configuration: onlyWhether(configuration) } : {}),
      ...onlyWhether(params),
    },
  };
}

function wrongIn(message: Fields): string | null {
  for (const name of ['messageId', 'contextId', 'taskId'])
    if (!isText(message[name])) return `message.${name} must be a text`;
  const { parts } = message;
  if (!Array.isArray(parts)) return null;
  if (parts.length > maxItems) return `message.parts has at most ${maxItems} parts`;
  const index = parts.findIndex((part: unknown) => isFields(part) && !isText(part['text']));
  return index < 0 ? null : `message.parts.${index}.text must be a text`;
}

function messageOf(message: Fields, userRole: string): Fields {
  const { parts, role } = message;
  return {
    ...only(message, ['messageId', 'contextId', 'taskId']),
    // Who knows the other revision better still means the user.
    role: role === 'user' || role === 'ROLE_USER' ? userRole : role,
    parts: Array.isArray(parts)
      ? parts.map((part: unknown) => (isFields(part) ? contentOf(part) : part))
      : parts,
  };
}

/** The part without its metadata. */
function contentOf(part: Fields): Fields {
  return only(part, ['kind', 'text', 'raw', 'url', 'data', 'file']);
}

/** Of a wish for notifications, that there is one. */
function onlyWhether(fields: Fields): Fields {
  const wishes = ['pushNotificationConfig', 'taskPushNotificationConfig'].filter((name) =>
    isFields(fields[name]),
  );
  return Object.fromEntries(wishes.map((name) => [name, {}]));
}

function only(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(
    names.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]),
  );
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'string';
}
