/** What a channel does with an argument: the table's check comes before the handler, for every one of them. */
import { type ChannelHandlers, type ChannelName, channels } from '../../desktop-contract/channels.ts';

/** Runs the handler of `name`. Rejects where the channel does not accept the argument, which no handler sees then. */
export async function answerChannel<Name extends ChannelName>(
  handlers: ChannelHandlers,
  name: Name,
  argument: unknown,
): Promise<unknown> {
  // The table's check and its handler belong to one name, which the compiler cannot follow through a variable.
  const accepts: (value: unknown) => boolean = channels[name].accepts;
  if (!accepts(argument)) throw new TypeError(`the argument of ${name} is not of its kind`);
  const answer: (argument: never) => unknown = handlers[name];
  return answer(argument as never);
}
