import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { hasPackages, installPackages } from './debian-packages.mjs';
import { Refusal } from './prepare.mjs';

/**
 * A display for windows under test: the one that is there, else a virtual one (Xvfb) with a window manager (openbox),
 * since a window without one has no frame and is never maximized.
 */

const programs = ['/usr/bin/Xvfb', '/usr/bin/openbox', '/usr/bin/dbus-run-session'];

/** Whether a display exists or can be started. */
function canShowWindows() {
  return hasDisplay() || programs.every((path) => existsSync(path));
}

/** Whether programs started from here find a display. */
export function hasDisplay() {
  const { DISPLAY, WAYLAND_DISPLAY } = process.env;
  return process.platform !== 'linux' || (DISPLAY ?? WAYLAND_DISPLAY ?? '') !== '';
}

/** Installs a virtual display on Debian and its kin, if there is no display. */
export async function ensureDisplay() {
  if (canShowWindows() || !hasPackages()) return;
  console.log('No display found: installing a virtual one with apt-get.');
  // Electron shows notifications through libnotify.
  await installPackages('xvfb', 'openbox', 'dbus', 'libnotify4');
}

/**
 * Starts a virtual display if there is none, or if it is to write what it shows into the folder `frames`. Returns the
 * environment of programs on it, and how to end it. Throws a Refusal that says why it cannot.
 * @param {{frames?: string}} [options]
 */
export async function startDisplay({ frames } = {}) {
  if (hasDisplay() && frames === undefined) return { environment: {}, end: () => undefined };
  if (!canShowWindows())
    throw new Refusal('There is no display, and no Xvfb, openbox and dbus to start one.');
  const screen = ['-displayfd', '3', '-screen', '0', '1920x1200x24', '-nolisten', 'tcp'];
  const server = spawn('Xvfb', [...screen, ...(frames === undefined ? [] : ['-fbdir', frames])], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const number = await new Promise((resolve, reject) => {
    server.once('error', (error) => reject(new Refusal(`Xvfb cannot be started: ${error.message}`)));
    server.once('exit', (code) => reject(new Refusal(`Xvfb ended with code ${code}.`)));
    server.stdio[3]?.once('data', (chunk) => resolve(String(chunk).trim()));
  });
  const environment = { DISPLAY: `:${number}` };
  const manager = spawn('openbox', [], { env: { ...process.env, ...environment }, stdio: 'ignore' });
  return {
    environment,
    end: () => {
      manager.kill();
      server.kill();
    },
  };
}
