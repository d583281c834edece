/**
 * The agent behind `/a2a`, in the interface of the official SDK: each message gets one message in answer, at once.
 *
 * There is no language model and no conversation: a line is complete in itself, so the agent keeps nothing between two
 * messages. It has no tasks, streams or notifications, and refuses requests for them with the protocol's own errors.
 * Messages are those of revision 1.0; the SDK translates revision 0.3.
 */
import { type AgentCard, type Message, type Part, Role, type SendMessageRequest } from '@a2a-js/sdk';
import {
  A2AError,
  ContentTypeNotSupportedError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import { randomUUID } from 'node:crypto';
import type { RetractOutcome } from '../../engine/contract/facts.ts';
import type { Answer } from '../../engine/contract/inference.ts';
import { type Caller, serving, Slices } from '../../engine/index.ts';
import type { A2aHost } from '../base/agent-host.ts';
import { carryOut, internalDetail, type ItemOutcome } from './carry-out.ts';
import { maxItems, readItems } from './lines.ts';

/** Creates the agent that answers one request; the caller is part of it. */
export function createAgent(host: A2aHost, caller: Caller, card: AgentCard): A2ARequestHandler {
  return {
    getAgentCard: () => Promise.resolve(card),
    getAuthenticatedExtendedAgentCard: () =>
      refused(new UnsupportedOperationError('there is no extended card')),
    sendMessage: async (request) => {
      try {
        return await answer(host, caller, request);
      } catch (error) {
        if (error instanceof A2AError) throw error;
        host.logger.error({ err: error, requestId: caller.requestId }, 'a bug: an A2A message failed');
        throw new A2AError(internalDetail);
      }
    },
    sendMessageStream: noStream,
    resubscribe: noStream,
    getTask: ({ id }) => noTask(id),
    cancelTask: ({ id }) => noTask(id),
    listTasks: ({ pageSize = 50 }) =>
      pageSize >= 1 && pageSize <= 100
        ? Promise.resolve({ tasks: [], nextPageToken: '', pageSize, totalSize: 0 })
        : refused(new RequestMalformedError('pageSize is 1 to 100')),
    createTaskPushNotificationConfig: noNotifications,
    getTaskPushNotificationConfig: noNotifications,
    listTaskPushNotificationConfigs: noNotifications,
    deleteTaskPushNotificationConfig: noNotifications,
  };
}

/** Refuses a message that could not be carried out whole, before anything is done. */
async function answer(host: A2aHost, caller: Caller, request: SendMessageRequest): Promise<Message> {
  const message = accepted(request, caller);
  const slices = new Slices(serving.pauseOf(caller, 'read a message'));
  const items = await readItems(textOf(message), () => slices.breathe(), host.argumentNames(caller));
  if (items === null)
    throw new RequestMalformedError(
      `a message may have at most ${maxItems} statements and questions: send several`,
    );
  if (items.length === 0)
    throw new RequestMalformedError(
      'the message is empty: a line tells, such as parent(ann, bob). or asks, such as parent(?x, bob)?',
    );
  return answering(message, await carryOut(host, caller, items));
}

function accepted({ message, configuration, tenant }: SendMessageRequest, caller: Caller): Message {
  if (message === undefined) throw new RequestMalformedError('message is required');
  if (message.messageId === '') throw new RequestMalformedError('message.messageId is required');
  if (message.role !== Role.ROLE_USER)
    throw new RequestMalformedError('message.role must be that of the user');
  if (message.parts.length === 0)
    throw new RequestMalformedError('message.parts must have at least one part');
  if (tenant !== '' && tenant !== caller.tenant)
    throw new RequestMalformedError('tenant: the header X-Tenant-ID selects it, and X-Database the database');
  if (message.taskId !== '') throw new TaskNotFoundError(noTaskText);
  if (configuration?.taskPushNotificationConfig !== undefined) throw new PushNotificationNotSupportedError();
  return message;
}

/** The text of all parts, each starting on a new line. */
function textOf({ parts }: Message): string {
  const texts = parts.map(({ content }, index) => {
    if (content === undefined) throw new RequestMalformedError(`message.parts.${index} has no content`);
    if (content.$case !== 'text')
      throw new ContentTypeNotSupportedError(
        `message.parts.${index} is not text: this agent reads only text/plain`,
      );
    return content.value;
  });
  return texts.join('\n');
}

function answering({ contextId }: Message, outcomes: readonly ItemOutcome[]): Message {
  return {
    messageId: randomUUID(),
    contextId: contextId === '' ? randomUUID() : contextId,
    taskId: '',
    role: Role.ROLE_AGENT,
    parts: [textPart(answerText(outcomes)), ...outcomes.map(dataPart)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

function textPart(text: string): Part {
  return {
    content: { $case: 'text', value: text },
    metadata: undefined,
    filename: '',
    mediaType: 'text/plain',
  };
}

function dataPart({ line, data }: ItemOutcome): Part {
  const content = { $case: 'data', value: data } as const;
  return { content, metadata: { line }, filename: '', mediaType: 'application/json' };
}

const noTaskText = 'there is no such task: every message is answered at once and never becomes a task';

function noTask(id: unknown): Promise<never> {
  return refused(
    typeof id === 'string' && id !== ''
      ? new TaskNotFoundError(noTaskText)
      : new RequestMalformedError('id is required'),
  );
}

/** Throws synchronously: an answer that has begun as a stream can no longer be sent as one message. */
function noStream(): never {
  throw new UnsupportedOperationError('there are no streams: every message is answered at once');
}

function noNotifications(): Promise<never> {
  return refused(new PushNotificationNotSupportedError());
}

function refused(error: A2AError): Promise<never> {
  return Promise.reject(error);
}

/** Maximum number of answers written out for one question. */
const shownResults = 50;

/** No more outcomes are written out after this many characters. */
const shownCharacters = 100_000;

const shownOfQuestion = 200;

/** The text part of an answer: one or more lines for each outcome, in order. No line break at the end; says what it leaves out. */
function answerText(outcomes: readonly ItemOutcome[]): string {
  const lines: string[] = [];
  let characters = 0;
  for (const [index, outcome] of outcomes.entries()) {
    if (characters > shownCharacters) {
      lines.push(`and ${outcomes.length - index} more, in the data parts`);
      break;
    }
    const text = outcomeText(outcome);
    characters += text.length;
    lines.push(text);
  }
  return lines.join('\n');
}

function outcomeText({ line, ...outcome }: ItemOutcome): string {
  switch (outcome.kind) {
    case 'told':
      return withHints(`${outcome.data.status}: ${outcome.data.atom}`, outcome.data);
    case 'taught':
      return withHints(`${outcome.data.status}: ${outcome.data.rule}`, outcome.data);
    case 'forgotten':
      return withHints(forgotten(outcome.data), outcome.data);
    case 'untaught':
      return `${outcome.data.status}: ${outcome.data.rule}`;
    case 'answered':
      return withHints(answered(outcome.question, outcome.data), outcome.data);
    case 'unknown':
      return `line ${line} was not understood: ${outcome.data.detail}`;
    case 'failed':
      return `line ${line} failed: ${outcome.data.code}: ${outcome.data.detail}`;
  }
}

function withHints(text: string, { hints = [] }: { readonly hints?: string[] | undefined }): string {
  return [text, ...hints.map((hint) => `  hint: ${hint}`)].join('\n');
}

function forgotten({ status, atom, retracted, dependents, dependentsCount }: RetractOutcome): string {
  const first = `${status}: ${atom}${retracted > 1 ? ` (${retracted} facts)` : ''}`;
  const lines = dependents.slice(0, shownResults).map((each) => `  no longer follows: ${each}`);
  const more = dependentsCount - lines.length;
  if (more > 0) lines.push(`  and ${more} more conclusions`);
  return [first, ...lines].join('\n');
}

function answered(question: string, { results }: Answer): string {
  const asked = shortened(question);
  if (results.length === 0) return `${asked} does not follow from anything known`;
  const lines = results.slice(0, shownResults).map((result) => `  ${result}`);
  const more = results.length - lines.length;
  if (more > 0) lines.push(`  and ${more} more, in the data part`);
  return [`${asked} ${results.length} ${results.length === 1 ? 'answer' : 'answers'}`, ...lines].join('\n');
}

/** Never cuts a surrogate pair in two. */
function shortened(question: string): string {
  if (question.length <= shownOfQuestion) return question;
  return `${question.slice(0, shownOfQuestion).replace(/[\ud800-\udbff]$/, '')}…`;
}
