/** A text with what it mentions marked, and below it what each mention stands for. */
import { IconArrowNarrowRight } from '@tabler/icons-react';
import type { Mention } from '../../engine/contract/mention.ts';
import { isReadAsAnother, kindOfMention, namesInWords, cutAtMentions } from '../api/mentions.ts';
import styles from './mentioned-text.module.css';

function lookOf(mention: Mention): string {
  const kind = mention.constants.length === 0 ? styles.predicate : '';
  return `${styles.mark} ${isReadAsAnother(mention) ? styles.another : kind}`;
}

/** Says in words what the mark of a mention means, for those who do not see the list below. */
function titleOf(mention: Mention): string {
  const reading = isReadAsAnother(mention) ? 'read as ' : '';
  return `${reading}${kindOfMention(mention)} ${namesInWords(mention)}`;
}

function Meaning({ mention }: { mention: Mention }) {
  const names = namesInWords(mention);
  return (
    <li className="inline-row gap-4 flex-wrap">
      <span className={lookOf(mention)}>{mention.text}</span>{' '}
      {names !== mention.text && (
        <>
          <IconArrowNarrowRight size={14} aria-hidden />
          <span className="visually-hidden">is</span> <span className={`mono ${styles.name}`}>
            {names}
          </span>{' '}
        </>
      )}
      <span className="dim">
        {kindOfMention(mention)}
        {isReadAsAnother(mention) && ', in another spelling'}
      </span>
    </li>
  );
}

interface MentionedTextProps {
  text: string;
  mentions: readonly Mention[];
}

/** Shows a text with its mentions marked. */
export function MentionedText({ text, mentions }: MentionedTextProps) {
  return (
    <div className="flex-column gap-8">
      <p className={styles.text} aria-label="What was asked" role="group">
        {cutAtMentions(text, mentions).map((part, index) =>
          part.mention === null ? (
            part.text
          ) : (
            // The same mention may occur twice.
            <mark
              key={`${index} ${part.text}`}
              className={lookOf(part.mention)}
              title={titleOf(part.mention)}
            >
              {part.text}
            </mark>
          ),
        )}
      </p>
      {mentions.length > 0 && (
        <ul className="plain-list flex flex-wrap gap-6-24" aria-label="Names in the text">
          {mentions.map((mention) => (
            <Meaning key={mention.start} mention={mention} />
          ))}
        </ul>
      )}
    </div>
  );
}
