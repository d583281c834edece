/** Parses server-sent events from a stream of text, according to the HTML standard. */

export interface ServerSentEvent {
  /** The last id in the stream; empty if there was none. */
  readonly id: string;
  /** `message` if the stream named no kind. */
  readonly kind: string;
  readonly data: string;
}

export interface ServerSentEventReader {
  /** Takes the next piece of the stream and returns the events that it completes, in order. */
  push(text: string): ServerSentEvent[];
}

/** Creates a reader; pieces may end anywhere, also between CR and LF. */
export function createServerSentEventReader(): ServerSentEventReader {
  let rest = '';
  let skipLineFeed = false;
  let id = '';
  let kind = '';
  let data: string[] = [];

  function take(line: string): ServerSentEvent | null {
    if (line === '') {
      const event =
        data.length === 0 ? null : { id, kind: kind === '' ? 'message' : kind, data: data.join('\n') };
      kind = '';
      data = [];
      return event;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return null;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') data.push(value);
    else if (field === 'event') kind = value;
    else if (field === 'id' && !value.includes('\0')) id = value;
    return null;
  }

  return {
    push(text) {
      const events: ServerSentEvent[] = [];
      rest += skipLineFeed && text.startsWith('\n') ? text.slice(1) : text;
      if (text !== '') skipLineFeed = false;
      let start = 0;
      for (let at = 0; at < rest.length; at += 1) {
        const character = rest[at];
        if (character !== '\n' && character !== '\r') continue;
        const event = take(rest.slice(start, at));
        if (event !== null) events.push(event);
        if (character === '\r' && rest[at + 1] === '\n') at += 1;
        else if (character === '\r' && at === rest.length - 1) skipLineFeed = true;
        start = at + 1;
      }
      rest = rest.slice(start);
      return events;
    },
  };
}
