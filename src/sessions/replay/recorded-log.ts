// A log that compares each fact that a replay derives with the recorded one, and continues with the recorded one.
import {
  renderRequest,
  runStateView,
  type Event,
  type Fact,
  type Log,
  type ModelRequest,
  type RunState,
  type ToolSpec,
} from '../../core/index.ts';
import {
  canonicalFact,
  compareRequests,
  formatFact,
  nameFact,
  withSides,
  type ReplayDifference,
} from './difference.ts';
import { isDerivedFact, type DerivedEvent, type DerivedFact, type Recording } from './recording.ts';

/** What the requests of now have instead of what was recorded. */
export type CurrentConfiguration = {
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  /** Whether notes are derived again; otherwise the recorded ones are taken. */
  readonly hasRules: boolean;
};

/** A log of a replay, and its position in the recording. */
export type RecordedLog = Log & {
  readonly differences: readonly ReplayDifference[];
  /** Aborts when the whole recording was replayed. */
  readonly ended: AbortSignal;
  /** The next recorded fact that the loop has to derive. */
  peek(offset?: number): DerivedEvent | undefined;
  /** The next recorded fact about a call. */
  peekCall(call: string): DerivedEvent | undefined;
  /** Makes the next append take the next recorded fact although the replay does not derive it; returns the fact to append. */
  skip(): Fact;
};

const skipFact: Fact = { type: 'annotation-added', key: 'replay-skipped', value: null };

/** Attempts without progress before a recorded fact is taken without the replay. */
const maxIdleAppends = 3;

/** Creates the log of a replay. Facts before the first derived one are in it. */
export function createRecordedLog(recording: Recording, current?: CurrentConfiguration): RecordedLog {
  const { derived, outside, calls } = recording;
  const differences: ReplayDifference[] = [];
  const events: Event[] = [];
  const endedCalls = new Set<string>();
  const ended = new AbortController();
  const view = runStateView();
  const tools = new Map(calls.map(({ id, tool }) => [id, tool]));
  const lastPrefix = getPrefix(recording.path.findLast((event) => event.type === 'epoch-started'));
  const toolOf = (call: string): string => tools.get(call) ?? call;
  let state: RunState = view.initial;
  let position = 0;
  let idle = 0;
  let reported = '';

  /** Events are numbered again: the path of a branch has gaps. */
  function emit(event: Event): Event {
    const parent = events.at(-1)?.id ?? null;
    const seq = events.length + 1;
    const added = { ...event, seq, id: seq.toString(36), parent };
    events.push(added);
    state = view.on(state, added);
    if (event.type === 'tool-ended') endedCalls.add(event.call);
    return added;
  }

  function emitNext(): readonly Event[] {
    const event = derived[position];
    if (!event) return [];
    position++;
    idle = 0;
    if (event.type === 'turn-started') endedCalls.clear();
    const added = [emit(event), ...(outside[position] ?? []).map(emit)];
    if (position >= derived.length) ended.abort();
    return added;
  }

  const report = (found: Omit<ReplayDifference, 'turn'>, turn: number): void =>
    void differences.push({ turn, ...found });

  function compareTurnStart(recorded: DerivedEvent, fact: DerivedFact, before: RunState): void {
    if (recorded.type !== 'turn-started' || fact.type !== 'turn-started') return;
    const notes = current?.hasRules ? fact.notes : recorded.notes;
    const then = renderTurn(before, recorded);
    const now = renderTurn(before, { ...recorded, inputs: fact.inputs, notes });
    // What the session itself has changed since is no difference to now: the last instructions and tools are compared.
    const isLast = current !== undefined && getPrefix(before) === lastPrefix;
    const request = isLast ? { ...now, system: current.system, tools: current.tools } : now;
    // The instructions and tools of an epoch are the same in each of its turns.
    const [prefix, rest] = partition(
      compareRequests(then, request),
      ({ where }) => !where.startsWith('request: message'),
    );
    const text = JSON.stringify(prefix);
    for (const each of [...(text === reported ? [] : prefix), ...rest]) report(each, recorded.turn);
    reported = text;
  }

  const renderTurn = (before: RunState, event: Event): ModelRequest =>
    renderRequest(view.on(before, event), { settings: {} });

  /** Whether the recording ends this work without a result: the process ended there. */
  const isInterrupted = (fact: DerivedFact): boolean =>
    fact.type === 'turn-failed'
      ? derived[position]?.type !== 'turn-failed' && derived[position]?.type !== 'turn-ended'
      : fact.type === 'tool-ended' && (endedCalls.has(fact.call) || peekCall(fact.call)?.type !== 'tool-ended');

  function peekCall(call: string): DerivedEvent | undefined {
    for (let i = position; i < derived.length; i++) {
      const event = derived[i];
      if (event?.type === 'turn-started') return undefined;
      if (event && 'call' in event && event.call === call) return event;
    }
    return undefined;
  }

  function accept(fact: Fact): readonly Event[] {
    const recorded = derived[position];
    if (!recorded || !isDerivedFact(fact)) return [];
    if (isInterrupted(fact) && idle < maxIdleAppends) {
      idle++;
      return [];
    }
    const before = state;
    const turn = recorded.type === 'turn-started' ? recorded.turn : before.turn;
    const isSameKind =
      recorded.type === fact.type && (!('call' in recorded) || !('call' in fact) || recorded.call === fact.call);
    if (!isSameKind) {
      report({ ...withSides(nameFact(recorded, toolOf), formatFact(recorded), undefined) }, turn);
      report({ ...withSides(nameFact(fact, toolOf), undefined, formatFact(fact)) }, turn);
    } else if (fact.type === 'turn-started') compareTurnStart(recorded, fact, before);
    else if (!isRecordedValue(fact)) compareFacts(recorded, fact, turn);
    const added = emitNext();
    if (!current?.hasRules || fact.type !== 'turn-started') return added;
    // The notes of now count as shown, so that they are not queued for the next turn again.
    return added.map((event) => (event.type === 'turn-started' ? { ...event, notes: fact.notes } : event));
  }

  function compareFacts(recorded: DerivedEvent, fact: DerivedFact, turn: number): void {
    if (canonicalFact(recorded) === canonicalFact(fact)) return;
    const [then, now] = [formatFact(recorded), formatFact(fact)];
    report(
      then === now
        ? withSides(nameFact(fact, toolOf), canonicalFact(recorded), canonicalFact(fact))
        : withSides(nameFact(fact, toolOf), then, now),
      turn,
    );
  }

  for (const event of outside[0] ?? []) emit(event);
  if (derived.length === 0) ended.abort();
  return {
    differences,
    ended: ended.signal,
    peek: (offset = 0) => derived[position + offset],
    peekCall,
    skip() {
      const event = derived[position];
      if (event) report(withSides(nameFact(event, toolOf), formatFact(event), undefined), state.turn);
      return skipFact;
    },
    async *read() {
      yield [...events];
    },
    append: async (_after, facts) => facts.flatMap((fact) => (fact === skipFact ? emitNext() : accept(fact))),
    async *follow() {
      yield* events;
    },
    close: async () => {},
  };
}

/** The results of tools, the failures of a model, and questions about an effect whose outcome a tool could not tell. */
const isRecordedValue = (fact: DerivedFact): boolean =>
  fact.type === 'tool-ended' ||
  fact.type === 'turn-failed' ||
  (fact.type === 'approval-requested' && fact.kind === 'unknown-outcome');

/** The instructions and tools as one text. */
const getPrefix = (part: Pick<RunState, 'system' | 'tools'> | undefined): string =>
  JSON.stringify([part?.system, part?.tools]);

function partition<T>(items: readonly T[], isFirst: (item: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}
