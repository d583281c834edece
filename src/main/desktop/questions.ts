/** Asks the user, in dialogs of the system. */
import { type BrowserWindow, clipboard, dialog, type MessageBoxOptions } from 'electron';
import { type LeavingChoice, leavingLabels, type LeavingQuestion } from './departure.ts';
import { type RefusalQuestion, type WayOut, wayOutLabels } from './refusal.ts';
import type { WithoutStore } from './secrets.ts';

/** The choice of the user; closing the dialog means quit. */
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

/** What to do while the system's store for secrets does not answer. `signal` withdraws the question when it does. */
export async function askWithoutStore(signal: AbortSignal): Promise<WithoutStore> {
  const { response } = await dialog.showMessageBox({
    type: 'info',
    title: 'Corollary',
    message: "Waiting for the system's key store.",
    detail:
      'It may be asking for its password in a window of its own. Without it Corollary starts too: it does not know ' +
      'the keys that it stored, and keeps new ones only until it ends.',
    buttons: ['Continue Without It', 'Quit'],
    defaultId: 0,
    cancelId: 1,
    noLink: true,
    signal,
  });
  return response === 0 ? 'without' : 'quit';
}

/** The folder that the user chose, or null. */
export async function askFolder(current: string): Promise<string | null> {
  const { canceled, filePaths } = await dialog.showOpenDialog({
    title: 'Choose a data folder',
    defaultPath: current,
    properties: ['openDirectory', 'createDirectory'],
  });
  return canceled ? null : (filePaths[0] ?? null);
}

/** The user's decision on leaving; closing the dialog means stay. `isRemembered`: use the answer from now on. */
export async function askLeaving(
  question: LeavingQuestion,
  window: BrowserWindow | null,
): Promise<{ choice: LeavingChoice; isRemembered: boolean }> {
  const { choices, rememberLabel } = question;
  const { response, checkboxChecked } = await ask(window, leavingBox(question));
  const choice = choices[response] ?? 'stay';
  return { choice, isRemembered: rememberLabel !== null && checkboxChecked && choice !== 'stay' };
}

/** The same, at once: Electron lets a page end only while it asks. */
export function askLeavingAtOnce(question: LeavingQuestion, window: BrowserWindow): LeavingChoice {
  return question.choices[dialog.showMessageBoxSync(window, leavingBox(question))] ?? 'stay';
}

function leavingBox({ message, detail, choices, rememberLabel }: LeavingQuestion): MessageBoxOptions {
  // Return must not lose what is unsaved.
  const losesWork = choices[0] !== 'keep';
  return {
    type: losesWork ? 'warning' : 'question',
    title: 'Corollary',
    message,
    detail,
    buttons: choices.map((choice) => leavingLabels[choice]),
    defaultId: losesWork ? choices.indexOf('stay') : 0,
    cancelId: choices.indexOf('stay'),
    noLink: true,
    ...(rememberLabel === null ? {} : { checkboxLabel: rememberLabel }),
  };
}

/** The user's choice after a crash of a page. */
export type AfterCrash = 'reload' | 'close' | 'browser';

/** `isLoop`: it has crashed again and again, and reloading is not the default. */
export async function askAfterCrash(
  window: BrowserWindow,
  { reason, isLoop }: { reason: string; isLoop: boolean },
): Promise<AfterCrash> {
  const choices: readonly AfterCrash[] = isLoop ? ['close', 'browser', 'reload'] : ['reload', 'close'];
  const labels = { reload: 'Reload', close: 'Close', browser: 'Open in the Browser' } as const;
  const { response } = await ask(window, {
    type: 'error',
    title: 'The workbench has stopped',
    message: isLoop ? 'The workbench has stopped three times in a minute.' : 'The workbench has stopped.',
    detail: `Its page has crashed (${reason}). The service goes on running, and drafts are kept.`,
    buttons: choices.map((choice) => labels[choice]),
    defaultId: 0,
    cancelId: choices.indexOf('close'),
    noLink: true,
  });
  return choices[response] ?? 'close';
}

/** Whether to reload a page that does not respond. `signal` withdraws the question when it responds again. */
export async function askUnresponsive(
  window: BrowserWindow,
  signal: AbortSignal,
): Promise<'wait' | 'reload'> {
  const { response } = await ask(window, {
    type: 'warning',
    title: 'The workbench does not answer',
    message: 'The workbench does not answer.',
    detail: 'Wait for it, or reload it. The service goes on running, and drafts are kept.',
    buttons: ['Wait', 'Reload'],
    defaultId: 0,
    cancelId: 0,
    noLink: true,
    signal,
  });
  return response === 1 ? 'reload' : 'wait';
}

/** Shows what a report of a problem should begin with, and copies it if the user wants that. */
export async function askReport(report: string, window: BrowserWindow | null): Promise<void> {
  const { response } = await ask(window, {
    type: 'info',
    title: 'Report a problem',
    message: 'Describe what you did, what you expected and what you saw, and add these lines.',
    detail: `${report}\n\nThe log has no keys, no facts and no questions: the folder above shows it.`,
    buttons: ['Copy', 'Close'],
    defaultId: 0,
    cancelId: 1,
    noLink: true,
  });
  if (response === 0) await clipboard.writeText(report);
}

/** Reports an error that needs no decision. */
export function tellTrouble(title: string, error: unknown): void {
  dialog.showErrorBox(title, error instanceof Error ? error.message : String(error));
}

function ask(window: BrowserWindow | null, options: MessageBoxOptions) {
  return window === null || window.isDestroyed()
    ? dialog.showMessageBox(options)
    : dialog.showMessageBox(window, options);
}
