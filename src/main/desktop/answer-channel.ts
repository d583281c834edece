/** Runs a channel: the table's check comes before every handler. */
import { type ChannelHandlers, type ChannelName, channels } from '../../desktop-contract/channels.ts';

/** Runs the handler of `name`. Rejects an argument that the channel does not accept, before any handler sees it. */
export async function answerChannel<Name extends ChannelName>(
  handlers: ChannelHandlers,
  name: Name,
  argument: unknown,
): Promise<unknown> {
  // The table's check and its handler belong to the same name, which the compiler cannot follow through a variable.
  const accepts: (value: unknown) => boolean = channels[name].accepts;
  if (!accepts(argument)) throw new TypeError(`the argument of ${name} is not of its kind`);
  const answer: (argument: never) => unknown = handlers[name];
  return answer(argument as never);
}
