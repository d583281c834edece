import { IconEqual, IconMinus, IconPlus } from '@tabler/icons-react';
import { Tag } from './tags.tsx';

const looks = {
  gained: { word: 'gained', tone: 'good', icon: <IconPlus size={12} stroke={2.4} aria-hidden /> },
  lost: { word: 'lost', tone: 'bad', icon: <IconMinus size={12} stroke={2.4} aria-hidden /> },
  unchanged: { word: 'stays', tone: 'plain', icon: <IconEqual size={12} aria-hidden /> },
} as const;

/** Shows the change of a conclusion as a word with a sign. */
export function ChangeTag({ change }: { change: keyof typeof looks }) {
  const { word, tone, icon } = looks[change];
  return (
    <Tag tone={tone}>
      {icon}
      {word}
    </Tag>
  );
}
