// Screen of all sessions, of the server and of the user's terminal, last changed first.
import type { JSX } from 'preact';
import { formatCount } from '../text/format.ts';
import { EscapedText } from '../components/escaped-text.tsx';
import { formatStopReason, truncate } from '../text/labels.ts';
import { SearchField } from '../components/filters.tsx';
import { Icon } from '../components/icon.tsx';
import { EmptyState, ErrorMessage, DataTable, PageTitle, RelativeTime } from '../components/primitives.tsx';
import { SavedViews } from '../components/saved-views.tsx';
import { usePoll } from '../hooks/use-poll.ts';
import { linkTo, replaceQuery } from '../state/router.ts';
import { api } from '../api/client.ts';
import type { SessionEntry } from '../api/types.ts';

/** Sessions per page. */
const pageSize = 50;

const sources = [
  { source: '', name: 'All' },
  { source: 'server', name: 'Server' },
  { source: 'terminal', name: 'Terminal' },
] as const;

const filterNames = ['source', 'q', 'folder'] as const;

/** The sessions screen; the query is the filter and the page, so that both can be linked to. */
export function SessionsScreen({ query }: { readonly query: string }): JSX.Element {
  const params = new URLSearchParams(query);
  const read = (name: string): string => params.get(name)?.trim() ?? '';
  const wanted = Object.fromEntries(filterNames.map((name) => [name, read(name)])) as Record<
    (typeof filterNames)[number],
    string
  >;
  const page = { before: read('before'), beforeTerminal: read('beforeTerminal') };
  const isFirstPage = page.before === '' && page.beforeTerminal === '';
  const hasTerminal = usePoll((signal) => api.options(signal), 60_000).value?.terminalSessions ?? false;
  const request = { ...wanted, ...page, source: wanted.source || 'all', limit: pageSize };
  const { value, error } = usePoll((signal) => api.sessions(request, signal), 5000, JSON.stringify(request));
  const sessions = value?.sessions ?? [];
  const folders = [
    ...new Set([...sessions.flatMap(({ folder }) => folder ?? []), ...(wanted.folder ? [wanted.folder] : [])]),
  ];
  const change = (patch: Partial<typeof wanted>): void => replaceQuery('sessions', { ...wanted, ...patch });
  const isFiltered = Object.values(wanted).some((each) => each !== '');
  return (
    <>
      <PageTitle>Sessions</PageTitle>
      <div class="toolbar" role="search">
        {hasTerminal ? (
          <div class="choices" role="group" aria-label="Source">
            {sources.map(({ source, name }) => (
              <button
                key={name}
                type="button"
                aria-pressed={wanted.source === source}
                onClick={() => change({ source })}
              >
                {name}
              </button>
            ))}
          </div>
        ) : null}
        <SearchField label="Search sessions" value={wanted.q} change={(q) => change({ q })} />
        {folders.length > 0 ? (
          <select
            aria-label="Folder"
            value={wanted.folder}
            onChange={(event) => change({ folder: event.currentTarget.value })}
          >
            <option value="">All folders</option>
            {folders.map((folder) => (
              <option key={folder} value={folder}>
                {folder}
              </option>
            ))}
          </select>
        ) : null}
      </div>
      <SavedViews screen="sessions" filter={wanted} />
      <ErrorMessage failed={error} />
      {isFirstPage ? null : (
        <p class="pages">
          Older sessions. <a href={linkTo('sessions', undefined, wanted)}>Back to the latest</a>
        </p>
      )}
      {value && sessions.length === 0 ? (
        isFiltered || !isFirstPage ? (
          <EmptyState icon="search" title={isFirstPage ? 'No sessions match this filter.' : 'No older sessions.'}>
            <p>
              <a href={linkTo('sessions')}>Show all sessions</a>
            </p>
          </EmptyState>
        ) : (
          <EmptyState icon="sessions" title="No sessions yet.">
            <p>
              Every run is recorded in a session. Start a run in <a href={linkTo('ask')}>Ask</a>
              {hasTerminal ? (
                <>
                  , or a conversation in your terminal with <code>fairlead</code>
                </>
              ) : null}
              .
            </p>
          </EmptyState>
        )
      ) : (
        <DataTable
          caption="Sessions, last changed first"
          head={['Session', 'Source', 'Folder', 'Status', '#Events', 'Changed']}
        >
          {sessions.map((each) => (
            <SessionRow key={`${each.source} ${each.session}`} session={each} />
          ))}
        </DataTable>
      )}
      {value?.next ? (
        <p class="pages">
          <a href={linkTo('sessions', undefined, { ...wanted, ...value.next })}>Older sessions</a>
        </p>
      ) : null}
    </>
  );
}

function SessionRow({ session: each }: { readonly session: SessionEntry }): JSX.Element {
  const isTerminal = each.source === 'terminal';
  const title = truncate((each.title ?? each.name ?? each.session).replaceAll(/\s+/g, ' '), 140);
  return (
    <tr>
      <td class="words">
        <a href={linkTo('sessions', each.session, { source: isTerminal ? 'terminal' : '' })} data-row>
          <bdi>
            <EscapedText text={title} />
          </bdi>
        </a>
      </td>
      <td>
        <span class="source">
          <Icon name={isTerminal ? 'terminal' : 'fleet'} size={14} /> {isTerminal ? 'terminal' : 'server'}
        </span>
      </td>
      <td class="path">
        <bdi title={each.folder}>{each.folder === undefined ? '' : <EscapedText text={each.folder} />}</bdi>
      </td>
      <td>{each.status === undefined ? '' : <SessionStatus status={each.status} reason={each.reason} />}</td>
      <td class="number">{formatCount(each.events)}</td>
      <td>
        <RelativeTime time={each.updatedAt} />
      </td>
    </tr>
  );
}

const goodReasons: ReadonlySet<string> = new Set(['answered', 'task-complete', 'abstained']);
const cancelReasons: ReadonlySet<string> = new Set(['cancelled', 'kill-switch']);

function SessionStatus({
  status,
  reason,
}: {
  readonly status: string;
  readonly reason: string | undefined;
}): JSX.Element {
  if (status !== 'ended' || reason === undefined) return <span class={`status ${status}`}>{status}</span>;
  const tone = cancelReasons.has(reason) ? 'queued' : goodReasons.has(reason) ? 'ended' : 'bad';
  return <span class={`status ${tone}`}>{formatStopReason(reason)}</span>;
}
