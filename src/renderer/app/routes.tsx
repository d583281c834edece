/**
 * The routes: the view of each address, and how views are combined.
 *
 * Features are siblings and do not import each other; this file composes them, such as a proof beside the answers or
 * the palette over all of them. Every address contains the space, which is kept from view to view.
 */
import {
  createHashHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  retainSearchParams,
  useLocation,
  useNavigate,
} from '@tanstack/react-router';
import { Suspense, useCallback, useEffect, useMemo } from 'react';
import { usePredicates, useRules } from '../api/queries.ts';
import { questionSearchOf } from '../api/question-search.ts';
import { useCredential } from '../api/credential.ts';
import { SessionProvider, useSession } from '../api/session.tsx';
import { momentOfSearch, type MomentSearch, momentSearchOf, presentSearch } from '../api/moment.ts';
import {
  allScopes,
  searchOf,
  type Space,
  spaceOfSearch,
  type SpaceSearch,
  spaceSearchOf,
} from '../api/space.ts';
import { useCommands } from './commands.tsx';
import { adminSearchOf } from '../features/admin/admin-search.ts';
import { agentsSearchOf } from '../features/agents/agents-search.ts';
import { askSearchOf } from '../features/ask/ask-search.ts';
import { contextSearchOf } from '../features/context/context-search.ts';
import { entitySearchOf } from '../features/entity/entity-search.ts';
import { factsSearchOf } from '../features/facts/facts-search.ts';
import { FactsView } from '../features/facts/facts-view.tsx';
import type { StagedChanges } from '../features/facts/stage-changes.ts';
import { historySearchOf } from '../features/history/history-search.ts';
import { keysSearchOf } from '../features/keys/keys-search.ts';
import { memorySearchOf } from '../features/memory/memory-search.ts';
import { proofSearchOf } from '../features/proof/proof-search.ts';
import { rulesSearchOf } from '../features/rules/rules-search.ts';
import { schemaSearchOf } from '../features/schema/schema-search.ts';
import { scopesSearchOf } from '../features/scopes/scopes-search.ts';
import { WorkbenchShell } from './shell/shell.tsx';
import { ViewFailed } from './shell/view-failed.tsx';
import { useTour } from './tour/tour-store.ts';
import { DropArea } from '../features/transfer/choose-file.tsx';
import { dropFile, useTransfers } from '../features/transfer/transfer-state.ts';
import { whatIfSearchOf } from '../features/what-if/what-if-search.ts';
import { EmptyState } from '../ui/notices.tsx';
import { later, lazyComponent } from '../ui/later.tsx';
import { noteSearch, useLastSearch } from '../ui/last-searches.ts';
import { writeStored } from '../ui/stored-state.ts';

const AdminFrame = later(async () => (await import('../features/admin/admin-frame.tsx')).AdminFrame);
const AdminView = lazyComponent(async () => (await import('../features/admin/admin-view.tsx')).AdminView);
const DashboardView = lazyComponent(
  async () => (await import('../features/admin/dashboard-view.tsx')).DashboardView,
);
const RetractDialog = later(async () => (await import('../features/facts/retract-dialog.tsx')).RetractDialog);
const SettingsView = lazyComponent(
  async () => (await import('../features/settings/settings-view.tsx')).SettingsView,
);
const StartView = lazyComponent(async () => (await import('./start/start-view.tsx')).StartView);
const TourOffer = lazyComponent(async () => (await import('./tour/tour-offer.tsx')).TourOffer);
const ImportNotice = later(async () => (await import('../features/transfer/import-notice.tsx')).ImportNotice);
const NodesView = lazyComponent(async () => (await import('../features/admin/nodes-view.tsx')).NodesView);
const ReplicationView = lazyComponent(
  async () => (await import('../features/admin/replication-view.tsx')).ReplicationView,
);
const AgentsView = lazyComponent(async () => (await import('../features/agents/agents-view.tsx')).AgentsView);
const AskView = lazyComponent(async () => (await import('../features/ask/ask-view.tsx')).AskView);
const ContextView = lazyComponent(
  async () => (await import('../features/context/context-view.tsx')).ContextView,
);
const KeysView = lazyComponent(async () => (await import('../features/keys/keys-view.tsx')).KeysView);
const RulesView = lazyComponent(async () => (await import('../features/rules/rules-view.tsx')).RulesView);
const ProofView = lazyComponent(async () => (await import('../features/proof/proof-view.tsx')).ProofView);
const ProofPanel = lazyComponent(async () => (await import('../features/proof/proof-panel.tsx')).ProofPanel);
const TourPanel = lazyComponent(async () => (await import('./tour/tour-panel.tsx')).TourPanel);
const ImportDialog = lazyComponent(
  async () => (await import('../features/transfer/import-dialog.tsx')).ImportDialog,
);
const ExportDialog = lazyComponent(
  async () => (await import('../features/transfer/export-dialog.tsx')).ExportDialog,
);
const EntityView = lazyComponent(async () => (await import('../features/entity/entity-view.tsx')).EntityView);

const HistoryView = lazyComponent(
  async () => (await import('../features/history/history-view.tsx')).HistoryView,
);
const WhyNotView = lazyComponent(
  async () => (await import('../features/why-not/why-not-panel.tsx')).WhyNotView,
);
const WhyNotPanel = lazyComponent(
  async () => (await import('../features/why-not/why-not-panel.tsx')).WhyNotPanel,
);
const TraceView = lazyComponent(async () => (await import('../features/trace/trace-panel.tsx')).TraceView);
const PlanPanel = lazyComponent(async () => (await import('../features/plan/plan-panel.tsx')).PlanPanel);
const TracePanel = lazyComponent(async () => (await import('../features/trace/trace-panel.tsx')).TracePanel);
const MemoryView = lazyComponent(async () => (await import('../features/memory/memory-view.tsx')).MemoryView);
const SchemaView = lazyComponent(async () => (await import('../features/schema/schema-view.tsx')).SchemaView);
const ScopesView = lazyComponent(async () => (await import('../features/scopes/scopes-view.tsx')).ScopesView);
const WhatIfView = lazyComponent(
  async () => (await import('../features/what-if/what-if-view.tsx')).WhatIfView,
);

/** Storage key of the last address, for a start without one. */
export const lastAddressKey = 'corollary.last-address';

function Frame() {
  const search = rootRoute.useSearch();
  const key = JSON.stringify(spaceSearchOf(search));
  // Keeps the identity of the space and the moment while their values are the same.
  const space = useMemo(
    () => spaceOfSearch(spaceSearchOf(JSON.parse(key) as Record<string, unknown>)),
    [key],
  );
  const { asOf, asKnown } = search;
  const moment = useMemo(() => momentOfSearch({ asOf, asKnown }), [asOf, asKnown]);
  const person = useCredential((credential) => credential.person);
  return (
    <SessionProvider space={space} moment={moment}>
      {/* Remounted after a sign-out: the previous user's view is not for the next one. */}
      <Framed key={person} />
    </SessionProvider>
  );
}

const nowhere = { database: undefined, tenant: undefined, scope: undefined, unscoped: undefined };
const spaceAndMoment = ['database', 'tenant', 'scope', 'unscoped', 'asOf', 'asKnown'] as const;

/** Returns a function that switches to another database, tenant or scope in the current view. */
function useGoTo(): (next: Space) => void {
  const navigate = useNavigate();
  const { database, tenant } = useSession().space;
  return useCallback(
    (next: Space) => {
      // Another scope shows the same knowledge; elsewhere the ids in the address mean nothing.
      const isSameKnowledge = next.database === database && next.tenant === tenant;
      const search = { ...nowhere, ...searchOf(next) };
      void navigate({
        to: '.',
        search: (before) => (isSameKnowledge ? { ...before, ...search } : { ...presentSearch, ...search }),
      });
    },
    [navigate, database, tenant],
  );
}

/** Shows the running import while its dialog is closed. */
function ImportUnderWay() {
  const navigate = useNavigate();
  const { pathname, search } = useLocation();
  const isDialogOpen = pathname === '/facts' && factsSearchOf(search).transfer === 'import';
  const onShow = () => void navigate({ to: '/facts', search: { transfer: 'import' } });
  const isAny = useTransfers(({ imports }) => imports.length > 0);
  if (!isAny) return null;
  return <ImportNotice isDialogOpen={isDialogOpen} onShow={onShow} />;
}

/** Shows the tour beside the view while one runs. */
function Tour() {
  const isOpen = useTour(({ progress }) => progress?.isOpen === true);
  const navigate = useNavigate();
  const { pathname, search } = useLocation();
  const shown = useMemo(() => ({ path: pathname, search }), [pathname, search]);
  if (!isOpen) return null;
  return (
    <Suspense fallback={null}>
      <TourPanel shown={shown} onGo={(to) => void navigate({ to })} />
    </Suspense>
  );
}

/** Returns a function that opens the import dialog with a file; the Facts view keeps its search. */
function useImportDialog(): (file: File) => void {
  const navigate = useNavigate();
  const shown = useLastSearch('/facts');
  return (file) => {
    dropFile(file);
    void navigate({ to: '/facts', search: { ...factsSearchOf(shown), transfer: 'import' } });
  };
}

/** Opens an address named by an external link. */
function onPlace(place: string): void {
  router.history.push(place);
}

function Framed() {
  const { space, moment } = useSession();
  const { database, tenant } = space;
  const goTo = useGoTo();
  const commands = useCommands(goTo);
  const onImport = useImportDialog();
  return (
    <WorkbenchShell commands={commands} goTo={goTo} desktop={{ onPlace, onFile: onImport }} aside={<Tour />}>
      <DropArea onFile={onImport}>
        {/* Another knowledge base or moment remounts the view: no open item or draft is carried over. */}
        <Suspense fallback={null} key={JSON.stringify([database, tenant, moment])}>
          <Outlet />
        </Suspense>
      </DropArea>
      <ImportUnderWay />
    </WorkbenchShell>
  );
}

function NotFound() {
  return <EmptyState title="There is no such view">The address names nothing in this workbench.</EmptyState>;
}

const rootRoute = createRootRoute({
  validateSearch: (search: Record<string, unknown>): SpaceSearch & MomentSearch => ({
    ...spaceSearchOf(search),
    ...momentSearchOf(search),
  }),
  search: { middlewares: [retainSearchParams([...spaceAndMoment])] },
  component: Frame,
  notFoundComponent: NotFound,
});

/** Leaves the address without a view, unless another was opened since whose view is still being loaded. */
function Redirect({ to }: { to: '/start' | '/facts' }) {
  useEffect(() => {
    if (router.history.location.pathname === '/') void router.navigate({ to, replace: true });
  }, [to]);
  return null;
}

/** Redirects an empty knowledge base to the samples, any other to its facts. */
function Home() {
  const predicates = usePredicates();
  // A rule's head is a predicate too.
  const rules = useRules({ isWanted: predicates.data?.length === 0 });
  if (predicates.isError || rules.isError) return <Redirect to="/facts" />;
  // The cache may be out of date.
  if (predicates.data === undefined || predicates.isFetching) return null;
  if (predicates.data.length > 0) return <Redirect to="/facts" />;
  if (rules.data === undefined || rules.isFetching) return null;
  const isEmpty = rules.data.length === 0;
  return <Redirect to={isEmpty ? '/start' : '/facts'} />;
}

const homeRoute = createRoute({ getParentRoute: () => rootRoute, path: '/', component: Home });

const startRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/start',
  component: function Start() {
    return <StartView tour={<TourOffer />} />;
  },
});

const factsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/facts',
  validateSearch: factsSearchOf,
  component: function Facts() {
    const search = factsRoute.useSearch();
    const navigate = factsRoute.useNavigate();
    const onSearch = useCallback(
      (next: typeof search) => void navigate({ search: next, replace: true }),
      [navigate],
    );
    const close = () => onSearch({ ...search, transfer: undefined });
    function onImport(file: File): void {
      dropFile(file);
      onSearch({ ...search, transfer: 'import' });
    }
    return (
      <>
        <FactsView search={search} onSearch={onSearch} onImport={onImport} />
        <Suspense fallback={null}>
          {search.transfer === 'import' && <ImportDialog onClose={close} />}
          {search.transfer === 'export' && (
            <ExportDialog
              start={{
                predicate: search.predicate,
                isFiltered: search.q !== undefined || search.truth !== undefined,
              }}
              onClose={close}
            />
          )}
        </Suspense>
      </>
    );
  },
});

const rulesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/rules',
  validateSearch: rulesSearchOf,
  component: function Rules() {
    const search = rulesRoute.useSearch();
    const navigate = rulesRoute.useNavigate();
    return <RulesView search={search} onSearch={(next) => void navigate({ search: next, replace: true })} />;
  },
});

/** Stages facts from a view other than Facts. */
function useStaging() {
  const { space } = useSession();
  return async (label: string, changes: StagedChanges) => {
    const { stageChanges } = await import('../features/facts/stage-changes.ts');
    stageChanges(space, label, changes);
  };
}

const askRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/ask',
  validateSearch: askSearchOf,
  component: function Ask() {
    const search = askRoute.useSearch();
    const navigate = askRoute.useNavigate();
    const onStage = useStaging();
    const onSearch = useCallback(
      (next: typeof search, { replace } = { replace: false }) => void navigate({ search: next, replace }),
      [navigate],
    );
    return (
      <AskView
        search={search}
        onSearch={onSearch}
        renderProof={(question, onClose) => <ProofPanel question={question} onClose={onClose} />}
        renderWhyNot={(question, onQuestion, onClose) => (
          <WhyNotPanel question={question} onQuestion={onQuestion} onStage={onStage} onClose={onClose} />
        )}
        renderTrace={(question, onClose) => <TracePanel question={question} onClose={onClose} />}
        renderPlan={(question, onClose) => <PlanPanel question={question} onClose={onClose} />}
      />
    );
  },
});

const entityRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/entity/$constant',
  validateSearch: entitySearchOf,
  component: function Entity() {
    const { constant } = entityRoute.useParams();
    const search = entityRoute.useSearch();
    const navigate = entityRoute.useNavigate();
    return (
      <EntityView
        key={constant}
        constant={constant}
        search={search}
        onSearch={(next) => void navigate({ search: next, replace: true })}
      />
    );
  },
});

/** The page of a constant that no path can hold; without one, a way to some. */
const namedEntityRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/entity',
  validateSearch: entitySearchOf,
  component: function NamedEntity() {
    const search = namedEntityRoute.useSearch();
    const navigate = namedEntityRoute.useNavigate();
    const constant = search.of ?? '';
    return (
      <EntityView
        key={constant}
        constant={constant}
        search={search}
        onSearch={(next) => void navigate({ search: next, replace: true })}
      />
    );
  },
});

const contextRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/context',
  validateSearch: contextSearchOf,
  component: function Context() {
    const search = contextRoute.useSearch();
    const navigate = contextRoute.useNavigate();
    const { space } = useSession();
    const goTo = useGoTo();
    return (
      <ContextView
        search={search}
        onSearch={(next) => {
          // The form writes the address with a delay, possibly during a navigation to another view.
          if (router.latestLocation.pathname === '/context') void navigate({ search: next, replace: true });
        }}
        onScope={(scope) => goTo({ ...space, scope })}
        renderRetract={(fact, onClose, onRetracted) => (
          <RetractDialog fact={fact} onClose={onClose} onRetracted={onRetracted} />
        )}
      />
    );
  },
});

const proofRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/proof',
  validateSearch: proofSearchOf,
  component: function Proof() {
    const search = proofRoute.useSearch();
    const navigate = proofRoute.useNavigate();
    return (
      <ProofView
        search={search}
        onSearch={(next) => {
          // A new root is a new history entry.
          void navigate({ search: next, replace: next.from === search.from });
        }}
      />
    );
  },
});

const whyNotRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/why-not',
  validateSearch: questionSearchOf,
  component: function WhyNot() {
    const search = whyNotRoute.useSearch();
    const navigate = whyNotRoute.useNavigate();
    const onStage = useStaging();
    return (
      <WhyNotView search={search} onSearch={(next) => void navigate({ search: next })} onStage={onStage} />
    );
  },
});

const traceRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/trace',
  validateSearch: questionSearchOf,
  component: function Trace() {
    const navigate = traceRoute.useNavigate();
    return <TraceView search={traceRoute.useSearch()} onSearch={(next) => void navigate({ search: next })} />;
  },
});

const whatIfRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/what-if',
  validateSearch: whatIfSearchOf,
  component: function WhatIf() {
    const search = whatIfRoute.useSearch();
    const navigate = whatIfRoute.useNavigate();
    return <WhatIfView search={search} onSearch={(next) => void navigate({ search: next })} />;
  },
});

const dashboardRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/admin',
  component: function Dashboard() {
    return (
      <AdminFrame>
        <DashboardView />
      </AdminFrame>
    );
  },
});

const adminRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/admin/databases',
  validateSearch: adminSearchOf,
  component: function Admin() {
    const search = adminRoute.useSearch();
    const navigate = adminRoute.useNavigate();
    const goTo = useGoTo();
    const onSearch = useCallback(
      (next: typeof search) => void navigate({ search: next, replace: true }),
      [navigate],
    );
    return (
      <AdminFrame>
        <AdminView search={search} onSearch={onSearch} goTo={goTo} />
      </AdminFrame>
    );
  },
});

const replicationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/admin/replication',
  component: function Replication() {
    return (
      <AdminFrame>
        <ReplicationView />
      </AdminFrame>
    );
  },
});

const nodesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/admin/nodes',
  component: function Nodes() {
    return (
      <AdminFrame>
        <NodesView />
      </AdminFrame>
    );
  },
});

const keysRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/admin/keys',
  validateSearch: keysSearchOf,
  component: function Keys() {
    const search = keysRoute.useSearch();
    const navigate = keysRoute.useNavigate();
    const onSearch = useCallback(
      (next: typeof search) => void navigate({ search: next, replace: true }),
      [navigate],
    );
    return (
      <AdminFrame>
        <KeysView search={search} onSearch={onSearch} />
      </AdminFrame>
    );
  },
});

const schemaRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/schema',
  validateSearch: schemaSearchOf,
  component: function Schema() {
    const search = schemaRoute.useSearch();
    const navigate = schemaRoute.useNavigate();
    const onSearch = useCallback(
      (next: typeof search) => void navigate({ search: next, replace: next.part === search.part }),
      [navigate, search.part],
    );
    return <SchemaView search={search} onSearch={onSearch} />;
  },
});

const scopesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/scopes',
  validateSearch: scopesSearchOf,
  component: function Scopes() {
    const search = scopesRoute.useSearch();
    const navigate = scopesRoute.useNavigate();
    const { source, target, base } = search;
    return (
      <ScopesView
        search={search}
        onSearch={(next) => {
          // A new pair is a new history entry.
          const isSamePair = next.source === source && next.target === target && next.base === base;
          void navigate({ search: next, replace: isSamePair });
        }}
      />
    );
  },
});

const memoryRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/memory',
  validateSearch: memorySearchOf,
  component: function Memory() {
    const search = memoryRoute.useSearch();
    const navigate = memoryRoute.useNavigate();
    const onSearch = useCallback(
      (next: typeof search) => void navigate({ search: next, replace: next.part === search.part }),
      [navigate, search.part],
    );
    return (
      <MemoryView
        search={search}
        onSearch={onSearch}
        renderForget={(fact, onClose, onForgotten) => (
          <RetractDialog fact={fact} onClose={onClose} onRetracted={onForgotten} />
        )}
      />
    );
  },
});

/** The proof of a question as it was at a moment, in all scopes, whatever moment the workbench shows. */
function ProofThen({ question, asOf, asKnown, onClose }: ProofThenProps) {
  const { space } = useSession();
  const whole = useMemo(() => ({ ...space, scope: allScopes }), [space]);
  const moment = useMemo(() => momentOfSearch({ asOf, asKnown }), [asOf, asKnown]);
  return (
    <SessionProvider space={whole} moment={moment}>
      <ProofPanel question={question} onClose={onClose} />
    </SessionProvider>
  );
}

interface ProofThenProps extends MomentSearch {
  question: string;
  onClose: () => void;
}

const historyRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/history',
  validateSearch: historySearchOf,
  component: function History() {
    const search = historyRoute.useSearch();
    const navigate = historyRoute.useNavigate();
    const { part, from, to } = search;
    const onSearch = useCallback(
      (next: typeof search) => {
        // Another comparison is a new history entry.
        const isSame = next.part === part && next.from === from && next.to === to;
        void navigate({ search: next, replace: isSame });
      },
      [navigate, part, from, to],
    );
    return (
      <HistoryView
        search={search}
        onSearch={onSearch}
        renderProof={(question, moment, onClose) => (
          <ProofThen question={question} {...moment} onClose={onClose} />
        )}
      />
    );
  },
});

const agentsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/agents',
  validateSearch: agentsSearchOf,
  component: function Agents() {
    const search = agentsRoute.useSearch();
    const navigate = agentsRoute.useNavigate();
    const onSearch = useCallback(
      (next: typeof search) => void navigate({ search: next, replace: next.part === search.part }),
      [navigate, search.part],
    );
    return <AgentsView search={search} onSearch={onSearch} />;
  },
});

const settingsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings',
  component: function Settings() {
    return <SettingsView />;
  },
});

/** Keeps search parameters as plain text, so that addresses can be read and written by hand. */
function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

function stringifySearch(search: Record<string, unknown>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(search))
    if (typeof value === 'string') parameters.set(name, value);
  return parameters.size === 0 ? '' : `?${parameters}`;
}

/** The router of the workbench, on hash history. */
export const router = createRouter({
  routeTree: rootRoute.addChildren([
    homeRoute,
    startRoute,
    factsRoute,
    rulesRoute,
    askRoute,
    entityRoute,
    namedEntityRoute,
    contextRoute,
    proofRoute,
    whyNotRoute,
    traceRoute,
    whatIfRoute,
    dashboardRoute,
    adminRoute,
    replicationRoute,
    nodesRoute,
    keysRoute,
    schemaRoute,
    scopesRoute,
    memoryRoute,
    historyRoute,
    agentsRoute,
    settingsRoute,
  ]),
  history: createHashHistory(),
  parseSearch,
  stringifySearch,
  defaultPreload: false,
  defaultErrorComponent: ViewFailed,
});

router.subscribe('onResolved', ({ toLocation }) => {
  writeStored(lastAddressKey, toLocation.href);
  writeStored(lastAddressKey, toLocation.href, sessionStorage);
  noteSearch(toLocation.pathname, toLocation.search);
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
