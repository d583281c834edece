/** Puts the questions of `refusal.ts` to the user, as dialogs of the system. */
import { dialog } from 'electron';
import { type RefusalQuestion, type WayOut, wayOutLabels } from './refusal.ts';

/** The way out that the user chose; closing the dialog means quit. */
export async function askWayOut(question: RefusalQuestion): Promise<WayOut> {
  const { title, message, detail, waysOut } = question;
  const { response } = await dialog.showMessageBox({
    type: 'error',
    title,
    message,
    detail,
    buttons: waysOut.map((way) => wayOutLabels[way]),
    defaultId: 0,
    cancelId: waysOut.indexOf('quit'),
    noLink: true,
  });
  return waysOut[response] ?? 'quit';
}

/** A folder that the user chose, or null. */
export async function askFolder(current: string): Promise<string | null> {
  const { canceled, filePaths } = await dialog.showOpenDialog({
    title: 'Choose a data folder',
    defaultPath: current,
    properties: ['openDirectory', 'createDirectory'],
  });
  return canceled ? null : (filePaths[0] ?? null);
}
