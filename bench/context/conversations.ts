/**
 * Whole conversations as facts, one a turn, with questions about them as text: generated, the same for the same seed.
 *
 * What it favours: answers are mostly one or two turns whose words, or those of the turn before, occur in the question;
 * questions name their speaker; the same sentences with other values, by others and by the same speaker, distract. It
 * has no questions whose answer takes reasoning or knowledge of the world.
 */
import { Prng } from '../../src/engine/testing/prng.ts';
import { colleagues, friends, type QuestionKind, type Talk, type Topic } from './dialogue-topics.ts';
import { shuffled, type StoredAtom } from './knowledge.ts';
import { oneOf, type Slots, sentence, wordsOfSlot } from './vocabulary.ts';

export interface EpisodeQuestion {
  readonly kind: QuestionKind;
  readonly text: string;
  /** The turns that answer it. */
  readonly answers: readonly StoredAtom[];
}

export interface Episodes {
  readonly name: string;
  readonly facts: readonly StoredAtom[];
  readonly questions: readonly EpisodeQuestion[];
}

/** A line that is said, and whether it answers the question of this number. */
interface Line {
  readonly speaker: string;
  readonly text: string;
  readonly question: number | null;
}

/** How turns are stored. */
type Shape = (session: string, number: number, line: Line) => StoredAtom;

const numbered: Shape = (session, number, { speaker, text }) => ({
  predicate: 'said',
  args: [session, String(number), `${speaker}: ${text}`],
});

const sent: Shape = (session, number, { speaker, text }) => ({
  predicate: 'message',
  args: [speaker, text, `2025-${session.slice(-2)}-11T09:${String(number).padStart(2, '0')}:00Z`],
});

/** Conversations by which the search may be improved: `said(session, number, text)`, with the speaker in the text. */
export function friendsTalk(seed: number, pairs = 24): Episodes {
  return new Writer('friends', friends, 'first', numbered, seed).write(pairs);
}

/** Conversations that are only measured: other sentences and words, `message(speaker, text, time)`. */
export function colleaguesTalk(seed: number, pairs = 24): Episodes {
  return new Writer('colleagues (held out)', colleagues, 'last', sent, seed).write(pairs);
}

const sessionsOfPair = 10;
const topicsOfPair = 22;

class Writer {
  readonly #name: string;
  readonly #talk: Talk;
  readonly #part: 'first' | 'last';
  readonly #shape: Shape;
  readonly #prng: Prng;
  readonly #questions: {
    readonly kind: QuestionKind;
    readonly text: string;
    readonly answers: StoredAtom[];
  }[] = [];
  readonly #facts: StoredAtom[] = [];

  constructor(name: string, talk: Talk, part: 'first' | 'last', shape: Shape, seed: number) {
    this.#name = name;
    this.#talk = talk;
    this.#part = part;
    this.#shape = shape;
    this.#prng = new Prng(seed);
  }

  write(pairs: number): Episodes {
    const names = shuffled(wordsOfSlot('name'), this.#prng.below(1_000_000));
    for (let pair = 0; pair < pairs; pair++)
      this.#writePair(
        pair,
        names[(2 * pair) % names.length] as string,
        names[(2 * pair + 1) % names.length] as string,
      );
    return { name: this.#name, facts: this.#facts, questions: this.#questions };
  }

  #writePair(pair: number, one: string, other: string): void {
    const sessions: Line[][][] = Array.from({ length: sessionsOfPair }, () => []);
    const at = (from: number, to: number): Line[][] =>
      sessions[from + this.#prng.below(to - from)] as Line[][];
    const kinds = new Set<string>();
    for (const topic of shuffled(this.#talk.topics, this.#prng.below(1_000_000)).slice(0, topicsOfPair)) {
      const [me, you] = this.#prng.below(2) === 0 ? [one, other] : [other, one];
      const slots: Slots = new Map([
        ['me', me],
        ['you', you],
      ]);
      // The first of each kind is asked about; the others distract.
      const question = kinds.has(topic.kind) ? null : this.#ask(topic);
      kinds.add(topic.kind);
      const half = topic.later === undefined ? sessionsOfPair : sessionsOfPair / 2;
      at(0, half).push(this.#lines(topic.lines, slots, question));
      if (topic.later !== undefined) at(half, sessionsOfPair).push(this.#lines(topic.later, slots, question));
      if (question !== null)
        this.#questions[question] = {
          kind: topic.kind,
          text: sentence(topic.question, slots, this.#part, this.#prng),
          answers: [],
        };
    }
    for (const [number, parts] of sessions.entries())
      this.#writeSession(`c${pair}_s${String(number + 1).padStart(2, '0')}`, parts, one, other);
  }

  #ask({ kind }: Topic): number {
    return this.#questions.push({ kind, text: '', answers: [] }) - 1;
  }

  #lines(lines: readonly string[], slots: Slots, question: number | null): Line[] {
    return lines.map((line) => {
      const [, mark, who, template] = /^(\*?)([AB]): (.*)$/.exec(line) as unknown as string[];
      return {
        speaker: slots.get(who === 'A' ? 'me' : 'you') as string,
        text: sentence(template as string, slots, this.#part, this.#prng),
        question: mark === '*' ? question : null,
      };
    });
  }

  #writeSession(session: string, parts: readonly Line[][], one: string, other: string): void {
    const lines: Line[] = [];
    const chat = (count: number): void => {
      for (let said = 0; said < count; said++) {
        const [speaker, you] = lines.length % 2 === 0 ? [one, other] : [other, one];
        const slots: Slots = new Map([
          ['me', speaker],
          ['you', you],
        ]);
        const text = sentence(oneOf(this.#talk.small, this.#prng), slots, this.#part, this.#prng);
        lines.push({ speaker, text, question: null });
      }
    };
    chat(2 + this.#prng.below(4));
    for (const part of parts) {
      lines.push(...part);
      chat(1 + this.#prng.below(4));
    }
    for (const [number, line] of lines.entries()) {
      const fact = this.#shape(session, number + 1, line);
      this.#facts.push(fact);
      if (line.question !== null) this.#questions[line.question]?.answers.push(fact);
    }
  }
}
