import { expect, test } from 'vitest';
import { Dictionary } from './dictionary.ts';
import { IntBlocks } from './int-blocks.ts';
import { MemoryMeter, QuestionMemory } from './memory-meter.ts';
import { Tuples } from './tuples.ts';

/** A meter whose question may take so many bytes. */
function metered(limit: number) {
  const question = new QuestionMemory(limit);
  const meter = new MemoryMeter();
  meter.payer = question;
  return { question, meter };
}

test('refuses what passes the limit, with a message that names the setting', () => {
  const { question } = metered(100);
  question.take(60);
  question.take(40);
  expect(() => question.take(1)).toThrow(/QUESTION_MEMORY_BYTES/);
  expect(question.isExhausted).toBe(true);
  expect(question.used).toBe(100);
  question.free(40);
  question.take(30);
  expect(question.used).toBe(90);
});

test('counts bytes given back that another question had taken as nothing', () => {
  const { question } = metered(100);
  question.take(10);
  question.free(500);
  expect(question.used).toBe(0);
});

test('grants everything while nobody pays', () => {
  const meter = new MemoryMeter();
  meter.take(Number.MAX_SAFE_INTEGER);
  meter.free(1);
});

test('a set of tuples asks before it grows, and never has more than was granted', () => {
  const limit = 20_000_000;
  const { question, meter } = metered(limit);
  const tuples = new Tuples(2, true, null, meter);
  const index = tuples.index([1]);
  const fill = (): void => {
    for (let at = 0; ; at++) {
      tuples.insert(Int32Array.of(at, at % 1000), at);
      if (tuples.bytes !== question.used) throw new Error(`${tuples.bytes} bytes, ${question.used} granted`);
    }
  };
  expect(fill).toThrow(/QUESTION_MEMORY_BYTES/);
  expect(tuples.bytes).toBeLessThanOrEqual(limit);
  expect(tuples.count).toBeGreaterThan(100_000);
  expect(index.rows).toBeGreaterThan(100_000);
  expect(tuples.emptied().bytes).toBe(question.used);
});

test('a dictionary asks before it grows, and never has more than was granted', () => {
  const { question, meter } = metered(8_000_000);
  const dictionary = new Dictionary(meter);
  const fill = (): void => {
    for (let at = 0; ; at++) {
      dictionary.intern(`constant number ${at}`);
      if (dictionary.bytes !== question.used)
        throw new Error(`${dictionary.bytes} bytes, ${question.used} granted`);
    }
  };
  expect(fill).toThrow(/QUESTION_MEMORY_BYTES/);
  expect(dictionary.size).toBeGreaterThan(70_000);
});

test('blocks of integers ask for each block, and have 0 where nothing was written', () => {
  const { question, meter } = metered(1_000_000);
  const blocks = new IntBlocks(meter);
  expect(blocks.at(5)).toBe(0);
  blocks.set(3, 7);
  blocks.set(40_000, 9);
  expect([blocks.at(3), blocks.at(4), blocks.at(16), blocks.at(20_000), blocks.at(40_000)]).toEqual([
    7, 0, 0, 0, 9,
  ]);
  expect(blocks.at(1_000_000)).toBe(0);
  expect(blocks.bytes).toBe(question.used);
  expect(() => {
    for (let at = 0; ; at += 16_384) blocks.set(at, 1);
  }).toThrow(/QUESTION_MEMORY_BYTES/);
  blocks.clear();
  expect([question.used, blocks.at(3)]).toEqual([0, 0]);
});
