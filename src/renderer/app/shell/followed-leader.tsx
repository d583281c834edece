/** In the title bar of a follower: whom it follows, with the way there. */
import { Tooltip } from '@mantine/core';
import { useFollowed } from '../../api/rights.ts';
import { Tag } from '../../ui/tags.tsx';
import styles from './shell.module.css';

const hint = 'This service takes no writes: its leader does.';

export function FollowedLeader() {
  const followed = useFollowed();
  if (followed === null) return null;
  const { url } = followed;
  if (url === null)
    return (
      <Tooltip label={hint}>
        <span>
          <Tag>Follower</Tag>
        </span>
      </Tooltip>
    );
  return (
    <Tooltip label={`${hint} Open its workbench in a new window.`}>
      <a className={styles.follower ?? ''} href={url} target="_blank" rel="noreferrer">
        Follower of {new URL(url).host}
      </a>
    </Tooltip>
  );
}
