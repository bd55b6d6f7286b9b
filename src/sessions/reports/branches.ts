// Lists the branches of a session: where and why each started, and its first input.
import { runStateView, type Event, type Message, type RunState } from '../../core/index.ts';
import { summarizeParts } from './branch-path.ts';

/** A branch: the path to an event that can be continued. */
export type Branch = {
  /** The last event; a rewind to it continues this branch. */
  readonly tip: string;
  /** True for the current branch. */
  readonly current: boolean;
  /** The index of the parent branch and the event after which this one started; absent for the first. */
  readonly from?: { readonly branch: number; readonly event: string; readonly after: string };
  readonly reason?: 'edited' | 'forked' | 'rewound' | 'returned';
  readonly detail?: string;
  /** The first input that only this branch has; without one, `change` may say what differs. */
  readonly preview: string;
  readonly change?: string;
  /** Number of responses since the branch started. */
  readonly turns: number;
  /** Time of the last event. */
  readonly time: string;
  /** True if nothing happened since the branch started. */
  readonly isEmpty: boolean;
};

type BranchEvents = { readonly events: Event[]; readonly from?: { readonly branch: number; readonly event: string } };

/** Returns the branches of these events, in the order they started. */
export function branchesOf(events: readonly Event[]): readonly Branch[] {
  const branches: BranchEvents[] = [];
  const branchByEvent = new Map<string, number>();
  const followed = new Set<string>();
  for (const event of events) {
    const { id, parent } = event;
    const parentBranch = parent === null ? undefined : branchByEvent.get(parent);
    const isNew = parent === null || parentBranch === undefined || followed.has(parent);
    if (parent !== null) followed.add(parent);
    const at = isNew ? branches.length : parentBranch;
    if (isNew)
      branches.push({
        events: [],
        ...(parentBranch === undefined || parent === null ? {} : { from: { branch: parentBranch, event: parent } }),
      });
    branches[at]?.events.push(event);
    branchByEvent.set(id, at);
  }
  const forks = branches.length > 1 ? forkStates(events) : new Map<string, ForkState>();
  const head = events.at(-1)?.id;
  return branches.map((branch) => toBranch(branch, forks, head));
}

/** Computes the state at each branch point in one pass. */
function forkStates(events: readonly Event[]): ReadonlyMap<string, ForkState> {
  const states = new Map<string, ForkState>();
  const branchPoints = new Set(events.flatMap(({ parent }, i) => (parent === events[i - 1]?.id ? [] : (parent ?? []))));
  const view = runStateView();
  let state = view.initial;
  let inputText = '';
  for (const event of events) {
    if (event.parent !== state.head) {
      const fork = event.parent === null ? undefined : states.get(event.parent);
      state = fork?.state ?? view.initial;
      inputText = fork?.inputText ?? '';
    }
    if (event.type === 'turn-started') inputText = deliveredText(state, event.inputs) ?? inputText;
    state = view.on(state, event);
    if (branchPoints.has(event.id)) states.set(event.id, { state, inputText });
  }
  return states;
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

/** Returns the first input of a branch, or the first difference of an edited conversation. */
function getBranchPreview(events: readonly Event[], common: number): Pick<Branch, 'preview' | 'change'> {
  for (const event of events) {
    if (event.type === 'input-received' && event.how !== 'continue' && event.by === undefined)
      return { preview: summarizeParts(event.parts) };
    if (event.type === 'epoch-started' && event.baseline && event.reason === 'edited')
      return describeDifference(event.baseline.messages, common);
  }
  return { preview: '' };
}

function describeDifference(messages: readonly Message[], common: number): Pick<Branch, 'preview' | 'change'> {
  const first = messages[common];
  if (!first) return { preview: '', change: `cut to ${messages.length} message${messages.length === 1 ? '' : 's'}` };
  const inputText = summarizeParts(first.parts);
  return inputText === ''
    ? { preview: inputText, change: `another message of role ${first.role}` }
    : { preview: inputText };
}
