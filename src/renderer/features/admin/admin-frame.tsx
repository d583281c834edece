/** The Admin sections, each with its own address, above the one shown. */
import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import styles from './admin.module.css';

const sections: readonly { readonly to: NonNullable<LinkProps['to']>; readonly title: string }[] = [
  { to: '/admin', title: 'Dashboard' },
  { to: '/admin/databases', title: 'Databases' },
  { to: '/admin/keys', title: 'Keys' },
  { to: '/admin/replication', title: 'Replication' },
  { to: '/admin/nodes', title: 'Nodes' },
];

/** Shows the links to the Admin sections above the section's content. */
export function AdminFrame({ children }: { children: ReactNode }) {
  return (
    <div className="flex-column full-height">
      <nav className="flex gap-2 fixed-size line-below on-panel" aria-label="Administration">
        {sections.map(({ to, title }) => (
          <Link
            key={to}
            to={to}
            className={styles.section ?? ''}
            activeProps={{ className: styles.current ?? '' }}
            activeOptions={{ exact: true, includeSearch: false }}
          >
            {title}
          </Link>
        ))}
      </nav>
      <div className="rest-height">{children}</div>
    </div>
  );
}
