/** The page of an entity: its names, what is known about it as lists, and what is around it as a drawing. */
import { Button, Switch, Tabs } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconCircleDot, IconEraser, IconGitMerge, IconListSearch } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { EntityPage } from '../../../engine/contract/entities.ts';
import { AnswerOrFailure } from '../../api/answered.tsx';
import { quotedName } from '../../api/mentions.ts';
import { Permitted } from '../../api/permitted.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { Banner, EmptyState } from '../../ui/notices.tsx';
import { PaneFrame, Split } from '../../ui/pane.tsx';
import { AliasChips } from './alias-chips.tsx';
import { EntityList } from './entity-lists.tsx';
import { ForgetDialog } from './forget-dialog.tsx';
import { type EntityPart, entityParts, type EntitySearch } from './entity-search.ts';
import styles from './entity.module.css';
import { MergeDialog } from './merge-dialog.tsx';
import { NeighbourhoodGraph } from './neighbourhood-graph.tsx';
import { useEntity } from './use-entity.ts';

const firstEntries = 200;
const moreEntries = 1000;

interface EntityViewProps {
  constant: string;
  search: EntitySearch;
  onSearch: (search: EntitySearch) => void;
}

/** The title of a list with its length. */
function titleOf(part: EntityPart, { totals, asArgument }: EntityPage): string {
  switch (part) {
    case 'facts':
      return `Facts ${formatCount(totals.facts)}`;
    case 'conclusions':
      return `Conclusions ${formatCount(totals.conclusions)}`;
    case 'places':
      return `Occurs as ${formatCount(asArgument.length)}`;
    case 'rules':
      return `Rules ${formatCount(totals.mentionsInRules)}`;
    case 'history':
      return 'History';
  }
}

function Lists({
  page,
  search,
  onSearch,
  onMore,
}: Omit<EntityViewProps, 'constant'> & {
  page: EntityPage;
  onMore: () => void;
}) {
  const part = search.part ?? 'facts';
  const { notWorkedOut } = page;
  return (
    <PaneFrame
      title="What is known"
      label="What is known"
      scroll="own"
      actions={
        <Switch
          label="Derive all conclusions"
          checked={search.infer === 'true'}
          onChange={(event) =>
            onSearch({ ...search, infer: event.currentTarget.checked ? 'true' : undefined })
          }
        />
      }
    >
      <div className="flex-column full-height">
        {notWorkedOut !== undefined && (
          <Banner>Time ran out before all conclusions of {notWorkedOut.join(', ')} were derived.</Banner>
        )}
        <Tabs
          value={part}
          onChange={(value) => {
            const next = entityParts.find((each) => each === value);
            onSearch({ ...search, part: next === 'facts' ? undefined : next });
          }}
          className="flex-column rest-height"
        >
          <Tabs.List>
            {entityParts.map((each) => (
              <Tabs.Tab key={each} value={each}>
                {titleOf(each, page)}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {entityParts.map((each) => (
            <Tabs.Panel key={each} value={each} className="rest-height">
              <EntityList part={each} page={page} onInfer={() => onSearch({ ...search, infer: 'true' })} />
            </Tabs.Panel>
          ))}
        </Tabs>
        {page.nextOffset !== null && (
          <div className={`flex-row spread gap-8 padded-6 ${styles.foot}`}>
            <span className="dim">The first {formatCount(page.nextOffset)} of each list</span>
            <Button size="compact-xs" variant="default" onClick={onMore}>
              Show {formatCount(moreEntries)} more
            </Button>
          </div>
        )}
      </div>
    </PaneFrame>
  );
}

interface HeadProps {
  page: EntityPage;
  onMerge: () => void;
  onForget: () => void;
}

function Head({ page, onMerge, onForget }: HeadProps) {
  const { entity, aliases, totals } = page;
  return (
    <header className="flex-column gap-6 fixed-size padded-8 line-below on-panel">
      <div className="flex-row flex-wrap gap-8">
        <IconCircleDot size={18} stroke={1.6} className="fixed-size" aria-hidden />
        <div className={styles.nameBox} tabIndex={entity.length > 200 ? 0 : undefined}>
          <h1 className={styles.name}>{entity === '' ? '""' : entity}</h1>
        </div>
        <CopyButton text={entity} label="Copy the constant" />
        <span className={styles.figure}>
          <strong className="number">{formatCount(totals.facts)}</strong>{' '}
          {totals.facts === 1 ? 'fact' : 'facts'}
        </span>
        <span className={styles.figure}>
          <strong className="number">{formatCount(totals.conclusions)}</strong>
          {page.conclusionsComplete ? '' : ' known'} {totals.conclusions === 1 ? 'conclusion' : 'conclusions'}
        </span>
        <span className={styles.figure}>
          <strong className="number">{formatCount(totals.neighbours)}</strong>{' '}
          {totals.neighbours === 1 ? 'link' : 'links'}
        </span>
        <span className="grow" />
        <Button
          variant="default"
          leftSection={<IconListSearch size={14} aria-hidden />}
          renderRoot={(props) => (
            <Link to="/ask" search={{ question: quotedName(entity), words: 'true' }} {...props} />
          )}
        >
          Ask
        </Button>
        <Permitted operation="mergeEntities">
          <Button variant="default" leftSection={<IconGitMerge size={14} aria-hidden />} onClick={onMerge}>
            Merge…
          </Button>
        </Permitted>
        <Permitted operation="forgetEntity">
          <Button
            variant="default"
            leftSection={<IconEraser size={14} aria-hidden />}
            aria-haspopup="dialog"
            onClick={onForget}
          >
            Forget…
          </Button>
        </Permitted>
      </div>
      <AliasChips entity={entity} aliases={aliases} />
    </header>
  );
}

/** The page of a constant, or of the entity that it is an alias of. */
export function EntityView({ constant, search, onSearch }: EntityViewProps) {
  const [limit, setLimit] = useState(firstEntries);
  const [isForgetting, setIsForgetting] = useState(false);
  const infer = search.infer === 'true';
  const asked = useEntity(constant, infer, limit);
  const isNarrow = useMediaQuery('(max-width: 1100px)') ?? false;
  return (
    <AnswerOrFailure asked={asked}>
      {(page) => (
        <div className="flex-column full-height" aria-busy={asked.isPlaceholderData}>
          <Head
            page={page}
            onMerge={() => onSearch({ ...search, merge: '-' })}
            onForget={() => setIsForgetting(true)}
          />
          {isForgetting && <ForgetDialog entity={page.entity} onClose={() => setIsForgetting(false)} />}
          {page.entity !== constant && (
            <Banner>
              {constant} is an alias of {page.entity}.
            </Banner>
          )}
          {page.asArgument.length === 0 && page.mentionsInRules.length === 0 && infer ? (
            <EmptyState title="Nothing is known about it">
              No fact, conclusion or rule of this scope has {formatAmount(1, 'constant')} of this name. Check
              the spelling and the scope.
            </EmptyState>
          ) : (
            <div className="rest-height">
              <Split
                id={isNarrow ? 'entity-stacked' : 'entity'}
                orientation={isNarrow ? 'vertical' : 'horizontal'}
                label="Between the lists and the neighbourhood"
                panes={[
                  {
                    id: 'lists',
                    size: '50%',
                    least: isNarrow ? '160px' : '360px',
                    content: (
                      <Lists
                        page={page}
                        search={search}
                        onSearch={onSearch}
                        onMore={() => setLimit(limit + moreEntries)}
                      />
                    ),
                  },
                  {
                    id: 'around',
                    least: isNarrow ? '160px' : '300px',
                    content: <NeighbourhoodGraph key={page.entity} entity={page.entity} infer={infer} />,
                  },
                ]}
              />
            </div>
          )}
          {search.merge !== undefined && (
            <MergeDialog
              entity={page.entity}
              other={search.merge === '-' ? '' : search.merge}
              onClose={() => onSearch({ ...search, merge: undefined })}
            />
          )}
        </div>
      )}
    </AnswerOrFailure>
  );
}
