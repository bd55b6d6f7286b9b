// The turns of a recorded session: each request as it was sent, and its answer as a stream of chunks. Replays read them.
import { FairleadError, fromFailure } from './errors.ts';
import type { Event } from './fact.ts';
import { messageText } from './message.ts';
import type { Chunk, ModelRequest, Provider } from './ports.ts';
import { renderRequest } from './render-request.ts';
import { runStateView } from './state.ts';

/** A complete turn of a recording: its request, and how it ended. */
export type RecordedTurn = {
  readonly turn: number;
  readonly request: ModelRequest;
  readonly outcome: Event & { readonly type: 'turn-ended' | 'turn-failed' };
};

/** Returns the events from the root to the last one: other branches are left out. */
export function branchOfLastEvent(events: readonly Event[]): readonly Event[] {
  const byId = new Map(events.map((event) => [event.id, event]));
  const path: Event[] = [];
  for (let event = events.at(-1); event; event = event.parent === null ? undefined : byId.get(event.parent))
    path.push(event);
  return path.toReversed();
}

/** Returns each complete turn of a branch with its request. A turn without an end was interrupted by a crash. */
export function readRecordedTurns(path: readonly Event[]): readonly RecordedTurn[] {
  const view = runStateView();
  const turns: RecordedTurn[] = [];
  let state = view.initial;
  let request: ModelRequest | undefined;
  for (const event of path) {
    state = view.on(state, event);
    if (event.type === 'turn-started') request = renderRequest(state, { settings: {} });
    if ((event.type === 'turn-ended' || event.type === 'turn-failed') && request) {
      turns.push({ turn: event.turn, request, outcome: event });
      request = undefined;
    }
  }
  return turns;
}

/** Yields the answer of a recorded turn as a provider does; throws if the turn failed. */
export function* replayRecordedTurn(event: RecordedTurn['outcome']): Generator<Chunk> {
  if (event.type === 'turn-failed') throw fromFailure(event.error);
  const { message, finishReason, usage, model, usd } = event;
  const text = messageText(message);
  if (text !== '') {
    yield { type: 'part-started', index: 0, part: 'text' };
    yield { type: 'part-delta', index: 0, text };
    yield { type: 'part-ended', index: 0 };
  }
  yield { type: 'end', message, finishReason, usage, model, ...(usd === undefined ? {} : { usd }) };
}

/** A provider with recorded answers. */
export type RecordedProvider = Provider & {
  /** The number of answers that are left. */
  readonly remaining: number;
};

/** The options of `createRecordedProvider`. */
export type RecordedProviderOptions = {
  /** The first turn whose answer is given; 1 by default. */
  readonly from?: number;
  /** Called with each request and its recorded turn, before the answer; may throw. */
  readonly onRequest?: (request: ModelRequest, recorded: RecordedTurn, index: number) => void;
};

/** Creates a provider that answers as the recording did: the n-th request with the answer of the n-th turn. */
export function createRecordedProvider(
  events: readonly Event[],
  { from = 1, onRequest }: RecordedProviderOptions = {},
): RecordedProvider {
  const path = branchOfLastEvent(events);
  const turns = readRecordedTurns(path).filter(({ turn }) => turn >= from);
  let index = 0;
  return {
    family: 'recorded',
    model: path.findLast((event) => event.type === 'epoch-started')?.model ?? 'recorded',
    price: { input: 0, output: 0 },
    get remaining() {
      return turns.length - index;
    },
    async *stream(request) {
      const recorded = turns[index];
      if (!recorded) throw noAnswerError(turns.length);
      onRequest?.(request, recorded, index);
      index++;
      yield* replayRecordedTurn(recorded.outcome);
    },
  };
}

const noAnswerError = (turns: number): FairleadError =>
  new FairleadError(
    'testing/replay-over',
    `The recording has ${turns} ${turns === 1 ? 'turn' : 'turns'} and one more is requested.`,
    {
      blame: 'user',
      hint: 'The agent continues where it stopped when it was recorded; find out why, or record again.',
    },
  );
