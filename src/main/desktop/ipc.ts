/** Connects the channels' table to Electron's IPC: checks first the sender, then the message. */
import { ipcMain } from 'electron';
import { type ChannelHandlers, channelNames, wireName } from '../../desktop-contract/channels.ts';
import { isTrustedSender, type Sender } from './addresses.ts';
import { answerChannel } from './answer-channel.ts';

/** Registers every channel of the table. `serviceAddress` is read at each call. */
export function registerChannels(handlers: ChannelHandlers, serviceAddress: () => string | null): void {
  for (const name of channelNames)
    ipcMain.handle(wireName(name), async (event, ...given: unknown[]) => {
      const address = serviceAddress();
      const frame = event.senderFrame;
      const sender: Sender | null =
        frame === null ? null : { url: frame.url, isMainFrame: frame.parent === null };
      if (address === null || !isTrustedSender(sender, address))
        throw new Error(`${name}: this page may not ask`);
      if (given.length > 1) throw new TypeError(`${name} takes at most one argument`);
      return answerChannel(handlers, name, given[0]);
    });
}
