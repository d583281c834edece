/** The commands of the palette: the tools, and each predicate, rule, question, scope and database by name. */
import {
  IconArrowsDiff,
  IconBook2,
  IconBook,
  IconBrain,
  IconContrast,
  IconDatabase,
  IconDatabaseCog,
  IconFileExport,
  IconFileImport,
  IconFlask,
  IconFrame,
  IconGitFork,
  IconHelpCircle,
  IconHistory,
  IconKey,
  IconLayoutSidebar,
  IconLink,
  IconListSearch,
  IconLogin2,
  IconLogout2,
  IconPlugConnected,
  IconRoute,
  IconRoute2,
  IconSchema,
  IconSettings,
  IconStack2,
  IconSunMoon,
  IconTable,
  IconTimeline,
  IconTool,
  IconWorld,
  type TablerIcon,
} from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { commandEntry, type CommandId, named } from '../../desktop-contract/commands.ts';
import { linkablePlace, linkOfPlace } from '../../desktop-contract/places.ts';
import { askToSignIn, useCredential } from '../api/credential.ts';
import { apiFailureOf } from '../api/problem.ts';
import { useAuthenticationMode, useDatabases, usePredicates, useRules, useScopes } from '../api/queries.ts';
import type { KnownQuestion } from '../api/known-questions.ts';
import { useQuestions } from '../api/questions.ts';
import { useSession, useSignOut, type WorkbenchSession } from '../api/session.tsx';
import { allScopes, type Space } from '../api/space.ts';
import { useShowMoment } from '../api/timeline.ts';
import { agentsSearchOf } from '../features/agents/agents-search.ts';
import { newTab } from '../features/ask/ask-search.ts';
import { contextSearchOf } from '../features/context/context-search.ts';
import { factsSearchOf } from '../features/facts/facts-search.ts';
import { memorySearchOf } from '../features/memory/memory-search.ts';
import { scopesSearchOf } from '../features/scopes/scopes-search.ts';
import { usePaletteState } from './palette-state.ts';
import { leaveTour, useTour } from './tour/tour-store.ts';
import type { AppCommand } from '../ui/command.ts';
import { formatAmount } from '../ui/format.ts';
import { copyText, notifyDone, notifyFailure, notifyHint } from '../ui/notify.tsx';
import { focusPane } from '../ui/pane-focus.ts';
import { useLastSearch } from '../ui/last-searches.ts';
import { setTheme, useShownTheme } from '../ui/theme-choice.ts';
import { setDensity, useDensity } from '../ui/preferences.ts';

/** The tour's code is fetched with it. */
async function startTour(session: WorkbenchSession): Promise<void> {
  await (await import('./tour/tour-steps.ts')).takeTour(session);
}

const small = { size: 16, stroke: 1.6, 'aria-hidden': true } as const;

/** A command with the title, group and keys that the list of commands gives it. */
function command(id: CommandId, Icon: TablerIcon, run: () => void) {
  return { ...named(id), icon: <Icon {...small} />, run };
}

/** Commands for the rules as a whole. */
function useRuleCommands(): AppCommand[] {
  const navigate = useNavigate();
  return useMemo(
    () => [
      command(
        'rules.document',
        IconRoute2,
        () => void navigate({ to: '/rules', search: { view: 'document' } }),
      ),
      command('rules.replace', IconRoute2, () => void navigate({ to: '/rules', search: { find: '' } })),
      command('rules.graph', IconRoute2, () => void navigate({ to: '/rules', search: { view: 'graph' } })),
      command('rules.rename', IconRoute2, () => void navigate({ to: '/rules', search: { rename: '-' } })),
    ],
    [navigate],
  );
}

/** Commands for the tools, and for the moment that they show. */
function useToolCommands(): AppCommand[] {
  const navigate = useNavigate();
  const show = useShowMoment();
  return useMemo(() => {
    const go = (to: '/facts' | '/rules' | '/ask' | '/start' | '/history' | '/admin' | '/settings') => () =>
      void navigate({ to });
    return [
      command('go.facts', IconTable, go('/facts')),
      command('go.rules', IconRoute2, go('/rules')),
      command('go.ask', IconListSearch, go('/ask')),
      command('go.start', IconBook2, go('/start')),
      command('go.admin', IconDatabaseCog, go('/admin')),
      command('go.settings', IconSettings, go('/settings')),
      command('go.history', IconHistory, go('/history')),
      command(
        'history.compare',
        IconArrowsDiff,
        () => void navigate({ to: '/history', search: { part: 'compare' } }),
      ),
      command('history.now', IconHistory, () => show(null)),
    ];
  }, [navigate, show]);
}

/** Commands for declarations, constraints and what violates them. */
function useSchemaCommands(): AppCommand[] {
  const navigate = useNavigate();
  return useMemo(
    () => [
      command('go.schema', IconSchema, () => void navigate({ to: '/schema' })),
      command(
        'schema.declare',
        IconSchema,
        () => void navigate({ to: '/schema', search: { predicate: '-' } }),
      ),
      command(
        'schema.constrain',
        IconSchema,
        () => void navigate({ to: '/schema', search: { part: 'constraints', constraint: '-' } }),
      ),
      command(
        'schema.violations',
        IconSchema,
        () => void navigate({ to: '/schema', search: { part: 'violations' } }),
      ),
    ],
    [navigate],
  );
}

/** Commands for theme and density. */
function useLookCommands(): AppCommand[] {
  const shown = useShownTheme();
  return useMemo(
    () => [
      command('theme', IconSunMoon, () => setTheme(shown === 'light' ? 'dark' : 'light')),
      {
        ...named('theme.contrast'),
        title: shown === 'contrast' ? 'Leave high contrast' : 'High contrast',
        icon: <IconContrast {...small} />,
        run: () => setTheme(shown === 'contrast' ? 'system' : 'contrast'),
      },
      command('density', IconSunMoon, () =>
        setDensity(useDensity.getState().density === 'compact' ? 'normal' : 'compact'),
      ),
    ],
    [shown],
  );
}

/** The folder of a saved question, and its text if its name differs. */
function questionDetail({ name, folder, text }: KnownQuestion): { detail?: string } {
  const parts = [folder, name === null ? null : text].filter((part) => part !== null);
  return parts.length === 0 ? {} : { detail: parts.join(' · ') };
}

function useKnowledgeCommands(): AppCommand[] {
  const navigate = useNavigate();
  const { space } = useSession();
  const predicates = usePredicates().data;
  const isWanted = usePaletteState(({ isOpen }) => isOpen);
  const rules = useRules({ isWanted }).data;
  const questions = useQuestions(space);
  return useMemo(
    () => [
      ...(predicates ?? []).map(
        (row): AppCommand => ({
          id: `predicate ${row.name}/${row.arity}`,
          title: `${row.name}/${row.arity}`,
          group: 'Predicates',
          detail: formatAmount(row.facts, 'fact'),
          icon: <IconTable {...small} />,
          run: () => void navigate({ to: '/facts', search: { predicate: row.name } }),
        }),
      ),
      ...(rules ?? []).map(
        (rule): AppCommand => ({
          id: `rule ${rule.id}`,
          title: rule.name ?? rule.text,
          group: 'Rules',
          ...(rule.name === null ? {} : { detail: rule.text }),
          icon: <IconRoute2 {...small} />,
          run: () => void navigate({ to: '/rules', search: { rule: rule.id } }),
        }),
      ),
      ...questions.map(
        (question): AppCommand => ({
          id: `question ${question.text}`,
          title: question.name ?? question.text,
          group: question.kind === 'saved' ? 'Saved questions' : 'Questions',
          ...questionDetail(question),
          icon: <IconListSearch {...small} />,
          run: () => void navigate({ to: '/ask', search: { question: question.text } }),
        }),
      ),
    ],
    [navigate, predicates, rules, questions],
  );
}

/** Commands for whole scopes; they keep the pair last compared. */
function useScopeToolCommands(): AppCommand[] {
  const navigate = useNavigate();
  const compared = JSON.stringify(useLastSearch('/scopes'));
  return useMemo(() => {
    const search = scopesSearchOf(JSON.parse(compared) as Record<string, unknown>);
    return [
      command('go.scopes', IconStack2, () => void navigate({ to: '/scopes', search })),
      command(
        'scopes.fork',
        IconGitFork,
        () => void navigate({ to: '/scopes', search: { ...search, fork: '' } }),
      ),
    ];
  }, [navigate, compared]);
}

/** Commands for memory and its parts; they keep the figures last chosen. */
function useMemoryCommands(): AppCommand[] {
  const navigate = useNavigate();
  const last = JSON.stringify(useLastSearch('/memory'));
  return useMemo(() => {
    const search = memorySearchOf(JSON.parse(last) as Record<string, unknown>);
    return [
      command('go.memory', IconBrain, () => void navigate({ to: '/memory', search })),
      command(
        'memory.evict',
        IconBrain,
        () => void navigate({ to: '/memory', search: { ...search, part: 'evict' } }),
      ),
      command(
        'memory.consolidate',
        IconBrain,
        () => void navigate({ to: '/memory', search: { ...search, part: 'consolidate' } }),
      ),
      command(
        'memory.summaries',
        IconBrain,
        () => void navigate({ to: '/memory', search: { ...search, part: 'summaries' } }),
      ),
    ];
  }, [navigate, last]);
}

/** Commands for agents: their calls, connecting one, trying tools by hand. */
function useAgentCommands(): AppCommand[] {
  const navigate = useNavigate();
  const last = JSON.stringify(useLastSearch('/agents'));
  return useMemo(() => {
    const search = agentsSearchOf(JSON.parse(last) as Record<string, unknown>);
    return [
      command('go.agents', IconPlugConnected, () => void navigate({ to: '/agents', search })),
      command(
        'agents.connect',
        IconPlugConnected,
        () => void navigate({ to: '/agents', search: { ...search, part: 'connect' } }),
      ),
      command(
        'agents.try',
        IconTool,
        () => void navigate({ to: '/agents', search: { ...search, part: 'try' } }),
      ),
    ];
  }, [navigate, last]);
}

/** Commands for a new question and the tools that explain, which take up the last question asked. */
function useExplainingCommands(): AppCommand[] {
  const navigate = useNavigate();
  const { question: asked } = useLastSearch('/ask');
  return useMemo(() => {
    const search = typeof asked === 'string' ? { question: asked } : {};
    return [
      command('ask.new', IconListSearch, () => void navigate({ to: '/ask', search: { tab: newTab } })),
      command('go.what-if', IconFlask, () => void navigate({ to: '/what-if' })),
      command('go.why-not', IconHelpCircle, () => void navigate({ to: '/why-not', search })),
      command('go.trace', IconTimeline, () => void navigate({ to: '/trace', search })),
    ];
  }, [navigate, asked]);
}

/** Import and export; they keep what the Facts view shows. */
function useTransferCommands(): AppCommand[] {
  const navigate = useNavigate();
  const shown = JSON.stringify(useLastSearch('/facts'));
  return useMemo(() => {
    const search = factsSearchOf(JSON.parse(shown) as Record<string, unknown>);
    return [
      command(
        'facts.import',
        IconFileImport,
        () => void navigate({ to: '/facts', search: { ...search, transfer: 'import' } }),
      ),
      command(
        'facts.export',
        IconFileExport,
        () => void navigate({ to: '/facts', search: { ...search, transfer: 'export' } }),
      ),
    ];
  }, [navigate, shown]);
}

/** Opens the context window last chosen. */
function useContextCommands(): AppCommand[] {
  const navigate = useNavigate();
  const chosen = JSON.stringify(useLastSearch('/context'));
  return useMemo(() => {
    const search = contextSearchOf(JSON.parse(chosen) as Record<string, unknown>);
    return [command('go.context', IconFrame, () => void navigate({ to: '/context', search }))];
  }, [navigate, chosen]);
}

/** Keys and sign-in; a service that requires no key has no sign-in. */
function useKeyCommands(): AppCommand[] {
  const navigate = useNavigate();
  const signOut = useSignOut();
  const hasKey = useCredential(({ key }) => key !== null);
  const isAsked = (useAuthenticationMode() ?? 'disabled') !== 'disabled';
  return useMemo(() => {
    const isMet = { authentication: isAsked, key: isAsked && hasKey, tabs: false, proof: false };
    return [
      command('go.keys', IconKey, () => void navigate({ to: '/admin/keys' })),
      command('keys.make', IconKey, () => void navigate({ to: '/admin/keys', search: { make: 'true' } })),
      {
        ...named('sign-in'),
        ...(hasKey ? { title: 'Sign in with another key…' } : {}),
        icon: <IconLogin2 {...small} />,
        run: askToSignIn,
      },
      command('sign-out', IconLogout2, signOut),
    ].filter(({ id }) => {
      const { needs } = commandEntry(id);
      return needs === undefined || isMet[needs];
    });
  }, [navigate, signOut, hasKey, isAsked]);
}

/** Copies a link, or reports why there is none. */
async function copyLink(link: string | null): Promise<void> {
  if (link === null) notifyHint('What is shown is too long for a link.');
  else if (await copyText(link)) notifyDone('Copied');
}

/** The documentation, links to what is shown, and the way from pane to pane. */
const viewCommands: readonly AppCommand[] = [
  command('help.documentation', IconBook, () => {
    // The application opens it in the browser.
    window.open('/documentation/index.html', '_blank', 'noreferrer');
  }),
  command('link.copy', IconLink, () => void copyLink(linkOfPlace(shownPlace()))),
  command('link.copy-address', IconWorld, () => {
    const place = linkablePlace(shownPlace());
    void copyLink(place === null ? null : `${window.location.origin}/#${place}`);
  }),
  command('pane.next', IconLayoutSidebar, () => focusPane(1)),
  command('pane.previous', IconLayoutSidebar, () => focusPane(-1)),
];

function shownPlace(): string {
  return window.location.hash.slice(1);
}

/** Starts or resumes the tour. */
function useTourCommands(): AppCommand[] {
  const session = useSession();
  const isOpen = useTour(({ progress }) => progress?.isOpen === true);
  return useMemo(
    () => [
      {
        ...named('tour'),
        title: isOpen ? 'Leave the tour' : 'Take the tour',
        icon: <IconRoute {...small} />,
        run: () => {
          if (isOpen) leaveTour();
          else startTour(session).catch((error: unknown) => notifyFailure(apiFailureOf(error)));
        },
      },
    ],
    [session, isOpen],
  );
}

/** The list of databases, and each other database by name. */
function useDatabaseCommands(goTo: (space: Space) => void): AppCommand[] {
  const navigate = useNavigate();
  const { space } = useSession();
  const isWanted = usePaletteState(({ isOpen }) => isOpen);
  const databases = useDatabases({ isWanted }).data;
  return useMemo(
    () => [
      command('go.databases', IconDatabaseCog, () => void navigate({ to: '/admin/databases' })),
      {
        ...named('admin.replication'),
        run: () => void navigate({ to: '/admin/replication' }),
      },
      { ...named('admin.nodes'), run: () => void navigate({ to: '/admin/nodes' }) },
      ...(databases ?? [])
        .filter(({ name }) => name !== space.database)
        .map(
          ({ name, facts }): AppCommand => ({
            id: `database ${name}`,
            title: name,
            group: 'Databases',
            detail: formatAmount(facts, 'fact'),
            icon: <IconDatabase {...small} />,
            run: () => goTo({ ...space, database: name, scope: allScopes }),
          }),
        ),
    ],
    [navigate, databases, space, goTo],
  );
}

/** Returns all commands, those of the tools first. */
export function useCommands(goTo: (space: Space) => void): AppCommand[] {
  const { space } = useSession();
  const scopes = useScopes({ isWanted: usePaletteState(({ isOpen }) => isOpen) });
  const tools = useToolCommands();
  const ruleTools = useRuleCommands();
  const schemaTools = useSchemaCommands();
  const looks = useLookCommands();
  const context = useContextCommands();
  const transfer = useTransferCommands();
  const scopeTools = useScopeToolCommands();
  const memory = useMemoryCommands();
  const agents = useAgentCommands();
  const keys = useKeyCommands();
  const tour = useTourCommands();
  const explaining = useExplainingCommands();
  const knowledge = useKnowledgeCommands();
  const databases = useDatabaseCommands(goTo);
  const scopeNames = scopes.join('\n');
  return useMemo(() => {
    const names = scopeNames === '' ? [] : scopeNames.split('\n');
    const scopeCommands = [
      { title: 'All scopes', scope: allScopes },
      ...names.map((name) => ({ title: name, scope: { kind: 'named', name } as const })),
    ].map(
      ({ title, scope }): AppCommand => ({
        id: `scope ${title}`,
        title,
        group: 'Scopes',
        icon: <IconStack2 {...small} />,
        run: () => goTo({ ...space, scope }),
      }),
    );
    return [
      ...tools,
      ...ruleTools,
      ...schemaTools,
      ...looks,
      ...viewCommands,
      ...context,
      ...transfer,
      ...scopeTools,
      ...memory,
      ...agents,
      ...keys,
      ...tour,
      ...explaining,
      ...knowledge,
      ...databases,
      ...scopeCommands,
    ];
  }, [
    tools,
    ruleTools,
    schemaTools,
    looks,
    context,
    transfer,
    scopeTools,
    memory,
    agents,
    keys,
    tour,
    explaining,
    knowledge,
    databases,
    scopeNames,
    space,
    goTo,
  ]);
}
