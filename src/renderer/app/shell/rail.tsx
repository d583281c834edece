import {
  IconBrain,
  IconDatabaseCog,
  IconFlask,
  IconFrame,
  IconHelpCircle,
  IconHistory,
  IconListSearch,
  IconPlugConnected,
  IconRoute,
  IconRoute2,
  IconSchema,
  IconSettings,
  IconStack2,
  IconTable,
  IconTimeline,
} from '@tabler/icons-react';
import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useLastSearch } from '../../ui/last-searches.ts';
import styles from './shell.module.css';

interface Tool {
  to: NonNullable<LinkProps['to']>;
  title: string;
  icon: ReactNode;
  /** True if the tool starts with the last question asked. */
  takesUp?: boolean;
}

const tools: readonly Tool[] = [
  { to: '/facts', title: 'Facts', icon: <IconTable size={20} stroke={1.6} aria-hidden /> },
  { to: '/rules', title: 'Rules', icon: <IconRoute2 size={20} stroke={1.6} aria-hidden /> },
  { to: '/schema', title: 'Schema', icon: <IconSchema size={20} stroke={1.6} aria-hidden /> },
  { to: '/ask', title: 'Ask', icon: <IconListSearch size={20} stroke={1.6} aria-hidden /> },
  { to: '/proof', title: 'Proof', icon: <IconRoute size={20} stroke={1.6} aria-hidden /> },
  {
    to: '/why-not',
    title: 'Why not',
    icon: <IconHelpCircle size={20} stroke={1.6} aria-hidden />,
    takesUp: true,
  },
  { to: '/what-if', title: 'What if', icon: <IconFlask size={20} stroke={1.6} aria-hidden /> },
  { to: '/trace', title: 'Trace', icon: <IconTimeline size={20} stroke={1.6} aria-hidden />, takesUp: true },
  { to: '/context', title: 'Context', icon: <IconFrame size={20} stroke={1.6} aria-hidden /> },
  { to: '/scopes', title: 'Scopes', icon: <IconStack2 size={20} stroke={1.6} aria-hidden /> },
  { to: '/memory', title: 'Memory', icon: <IconBrain size={20} stroke={1.6} aria-hidden /> },
  { to: '/history', title: 'History', icon: <IconHistory size={20} stroke={1.6} aria-hidden /> },
  { to: '/agents', title: 'Agents', icon: <IconPlugConnected size={20} stroke={1.6} aria-hidden /> },
];

function RailLink({ to, title, icon, takesUp = false }: Tool) {
  const own = useLastSearch(to);
  const { question } = useLastSearch('/ask');
  const search = takesUp && own['question'] === undefined && question !== undefined ? { question } : own;
  return (
    <Link
      to={to}
      search={search}
      className={`flex-column ${styles.tool}`}
      activeProps={{ className: styles.toolActive ?? '' }}
      activeOptions={{ includeSearch: false }}
    >
      {icon}
      <span>{title}</span>
    </Link>
  );
}

/** Returns the title of the view at a path; null if it has none. */
export function viewTitleOf(path: string): string | null {
  if (path === '/start') return 'Samples';
  if (path === '/settings') return 'Settings';
  if (path === '/entity' || path.startsWith('/entity/')) return 'Entity';
  if (path === '/admin' || path.startsWith('/admin/')) return 'Admin';
  return tools.find(({ to }) => to === path)?.title ?? null;
}

/** Shows the tools at the left edge. */
export function Rail() {
  return (
    <nav className={styles.rail} aria-label="Tools" data-pane>
      {tools.map((tool) => (
        <RailLink key={tool.title} {...tool} />
      ))}
      <span className="grow" />
      <RailLink to="/admin" title="Admin" icon={<IconDatabaseCog size={20} stroke={1.6} aria-hidden />} />
      <RailLink to="/settings" title="Settings" icon={<IconSettings size={20} stroke={1.6} aria-hidden />} />
    </nav>
  );
}
