import { expect, test } from 'vitest';
import { fileNameOf, scaleOfPicture } from './save-proof.ts';

test('a file is named by its statement, in letters that every system takes', () => {
  expect(fileNameOf('cousin(alma, "a/b")', 'svg')).toBe('proof-cousin-alma-a-b.svg');
  expect(fileNameOf('größe(?x)', 'png')).toBe('proof-größe-x.png');
  expect(fileNameOf('', 'txt')).toBe('proof-steps.txt');
  expect(fileNameOf('p'.repeat(500), 'json').length).toBeLessThan(80);
});

test('a picture is enlarged as far as browsers draw it, and refused where it could not be read', () => {
  expect(scaleOfPicture(800, 600)).toBe(2);
  expect(scaleOfPicture(16_000, 100)).toBe(1);
  expect(scaleOfPicture(10_000, 10_000)).toBeCloseTo(0.894, 2);
  expect(scaleOfPicture(100_000, 100)).toBeNull();
});
