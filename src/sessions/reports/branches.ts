// The branches of a session: where each parted from another, why, and what was said there first.
import { runStateView, type Event, type Message, type RunState } from '../../core/index.ts';
import { summarizeParts } from './branch-path.ts';

/** One line of events to a tip that could be continued. */
export type Branch = {
  /** The last event; going back to it continues this branch. */
  readonly tip: string;
  /** Whether this is the branch that is being continued. */
  readonly current: boolean;
  /** Where in the list the branch stands that this one parted from, and after which event; absent for the first. */
  readonly from?: { readonly branch: number; readonly event: string; readonly after: string };
  readonly reason?: 'edited' | 'forked' | 'rewound' | 'returned';
  readonly detail?: string;
  /** The first words that only this branch has; without any, `change` may say what is different. */
  readonly preview: string;
  readonly change?: string;
  /** Answers since it parted. */
  readonly turns: number;
  /** When its last event was written. */
  readonly time: string;
  /** Nothing was said or changed since it parted. */
  readonly isEmpty: boolean;
};

type BranchEvents = { readonly events: Event[]; readonly from?: { readonly branch: number; readonly event: string } };

/** The branches of these events, in the order they began. */
export function branchesOf(events: readonly Event[]): readonly Branch[] {
  const lines: BranchEvents[] = [];
  const lineOf = new Map<string, number>();
  const followed = new Set<string>();
  for (const event of events) {
    const { id, parent } = event;
    const before = parent === null ? undefined : lineOf.get(parent);
    const fresh = parent === null || before === undefined || followed.has(parent);
    if (parent !== null) followed.add(parent);
    const at = fresh ? lines.length : before;
    if (fresh)
      lines.push({
        events: [],
        ...(before === undefined || parent === null ? {} : { from: { branch: before, event: parent } }),
      });
    lines[at]?.events.push(event);
    lineOf.set(id, at);
  }
  const forks = lines.length > 1 ? forkStates(events) : new Map<string, ForkState>();
  const head = events.at(-1)?.id;
  return lines.map((line) => toBranch(line, forks, head));
}

/** The state at each event that something follows later than at once, in one pass over all of them. */
function forkStates(events: readonly Event[]): ReadonlyMap<string, ForkState> {
  const found = new Map<string, ForkState>();
  const wanted = new Set(events.flatMap(({ parent }, i) => (parent === events[i - 1]?.id ? [] : (parent ?? []))));
  const view = runStateView();
  let state = view.initial;
  let words = '';
  for (const event of events) {
    if (event.parent !== state.head) {
      const fork = event.parent === null ? undefined : found.get(event.parent);
      state = fork?.state ?? view.initial;
      words = fork?.inputText ?? '';
    }
    if (event.type === 'turn-started') words = deliveredText(state, event.inputs) ?? words;
    state = view.on(state, event);
    if (wanted.has(event.id)) found.set(event.id, { state, inputText: words });
  }
  return found;
}

function deliveredText(state: RunState, inputs: readonly string[]): string | undefined {
  const last = state.pending.findLast((each) => inputs.includes(each.input));
  return last && summarizeParts(last.parts);
}

type ForkState = { readonly state: RunState; readonly inputText: string };

function toBranch(
  { events, from }: BranchEvents,
  forks: ReadonlyMap<string, ForkState>,
  head: string | undefined,
): Branch {
  const fork = from && forks.get(from.event);
  const start = events.find((event) => event.type === 'branch-started');
  const tip = events.at(-1) as Event;
  const own = getBranchPreview(events, fork?.state.messages.length ?? 0);
  return {
    tip: tip.id,
    current: tip.id === head,
    ...(from ? { from: { ...from, after: fork?.inputText ?? '' } } : {}),
    ...(from && start ? { reason: start.reason, ...(start.detail === undefined ? {} : { detail: start.detail }) } : {}),
    ...own,
    turns: events.filter((event) => event.type === 'turn-ended').length,
    time: tip.time,
    isEmpty: events.every(isBookkeepingEvent),
  };
}

const isBookkeepingEvent = (event: Event): boolean =>
  event.type === 'branch-started' ||
  event.type === 'annotation-added' ||
  event.type === 'session-started' ||
  (event.type === 'epoch-started' && event.baseline === undefined);

/** What was said first: by the person, or in an edited conversation where it begins to differ. */
function getBranchPreview(events: readonly Event[], common: number): Pick<Branch, 'preview' | 'change'> {
  for (const event of events) {
    if (event.type === 'input-received' && event.how !== 'continue') return { preview: summarizeParts(event.parts) };
    if (event.type === 'epoch-started' && event.baseline && event.reason === 'edited')
      return describeDifference(event.baseline.messages, common);
  }
  return { preview: '' };
}

function describeDifference(messages: readonly Message[], common: number): Pick<Branch, 'preview' | 'change'> {
  const first = messages[common];
  if (!first) return { preview: '', change: `cut to ${messages.length} message${messages.length === 1 ? '' : 's'}` };
  const words = summarizeParts(first.parts);
  return words === '' ? { preview: words, change: `another message of role ${first.role}` } : { preview: words };
}
