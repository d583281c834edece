import { IconDatabase, IconStack2, IconUsers } from '@tabler/icons-react';
import { useState } from 'react';
import { apiFailureOf } from '../../api/problem.ts';
import { useSession } from '../../api/session.tsx';
import { scopeLabel } from '../../api/space.ts';
import type { NameQuestion } from '../../ui/dialogs.tsx';
import { later, lazyComponent } from '../../ui/later.tsx';
import type { GoTo } from './go-to.ts';
import styles from './shell.module.css';
import { OpenedLater } from '../../ui/opened-later.tsx';
import { SwitcherButton } from './switcher-button.tsx';

const fetchMenus = () => import('./space-menus.tsx');
const DatabaseMenu = lazyComponent(async () => (await fetchMenus()).DatabaseSwitcher);
const TenantMenu = lazyComponent(async () => (await fetchMenus()).TenantSwitcher);
const ScopeMenu = lazyComponent(async () => (await fetchMenus()).ScopeSwitcher);
const NameDialog = later(async () => (await import('../../ui/dialogs.tsx')).NameDialog);

/** Shows database, tenant and scope in the title bar; each opens a menu to switch. */
export function SpaceSwitchers({ goTo }: { goTo: GoTo }) {
  const { space } = useSession();
  const [question, setQuestion] = useState<NameQuestion | null>(null);
  const common = { goTo, ask: setQuestion };
  const slash = (
    <span className={styles.slash} aria-hidden>
      /
    </span>
  );
  return (
    <nav className={styles.switchers} aria-label="Where">
      <OpenedLater
        button={
          <SwitcherButton
            what="Database"
            value={space.database}
            icon={<IconDatabase size={15} aria-hidden />}
          />
        }
        fetch={fetchMenus}
      >
        <DatabaseMenu {...common} />
      </OpenedLater>
      {slash}
      <OpenedLater
        button={
          <SwitcherButton what="Tenant" value={space.tenant} icon={<IconUsers size={15} aria-hidden />} />
        }
        fetch={fetchMenus}
      >
        <TenantMenu {...common} />
      </OpenedLater>
      {slash}
      <OpenedLater
        button={
          <SwitcherButton
            what="Scope"
            value={scopeLabel(space.scope)}
            icon={<IconStack2 size={15} aria-hidden />}
          />
        }
        fetch={fetchMenus}
      >
        <ScopeMenu {...common} />
      </OpenedLater>
      {question !== null && (
        <NameDialog question={question} failureOf={apiFailureOf} onClose={() => setQuestion(null)} />
      )}
    </nav>
  );
}
