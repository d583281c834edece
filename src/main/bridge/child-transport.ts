/**
 * A client's transport to a program that it starts and that speaks MCP on its standard input and output.
 *
 * Like the official one, except that `close` resolves when the process has ended, by force if necessary.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import {
  type JSONRPCMessage,
  ReadBuffer,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';

export interface ChildStart {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Milliseconds for a program to end by itself after the end of its input. */
const politeMs = 2000;
/** Only this many characters at the end of its standard error are kept. */
const toldCharacters = 2000;

/** MCP over the standard input and output of a child process. */
export class ChildTransport implements Transport {
  readonly #start: ChildStart;
  readonly #buffer = new ReadBuffer();
  #child: ChildProcessByStdio<Writable, Readable, Readable> | null = null;
  #ended: Promise<void> = Promise.resolve();
  #said = '';
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;

  constructor(start: ChildStart) {
    this.#start = start;
  }

  /** The end of its standard error. */
  get said(): string {
    return this.#said.trim();
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** Resolves when the program is running. Rejects with the system's error if it cannot be started. */
  async start(): Promise<void> {
    const { command, args, env } = this.#start;
    const child = spawn(command, [...args], {
      env: { ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    this.#child = child;
    this.#ended = new Promise((resolve) => {
      // The first event is for a program that ran, the second for one that could not be started.
      child.once('close', () => resolve());
      child.once('error', () => resolve());
    });
    void this.#ended.then(() => this.onclose?.());
    child.stdin.on('error', (error) => this.onerror?.(error));
    child.stderr.on('data', (chunk: Buffer) => {
      this.#said = (this.#said + chunk.toString('utf8')).slice(-toldCharacters);
    });
    child.stdout.on('data', (chunk: Buffer) => this.#take(chunk));
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#child ?? {};
    if (stdin?.writable !== true) throw new Error('the program has ended');
    await new Promise<void>((resolve) => {
      stdin.write(serializeMessage(message), () => resolve());
    });
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    child.stdin.end();
    const timer = setTimeout(() => child.kill('SIGKILL'), politeMs);
    await this.#ended;
    clearTimeout(timer);
  }

  #take(chunk: Buffer): void {
    try {
      this.#buffer.append(chunk);
      for (let message = this.#buffer.readMessage(); message !== null; message = this.#buffer.readMessage())
        this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }
}
