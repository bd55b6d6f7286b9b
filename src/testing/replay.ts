// A provider that answers as a recorded session did, and reports requests that differ from the recording.
import {
  FairleadError,
  fromFailure,
  renderRequest,
  runStateView,
  messageText,
  type Chunk,
  type Event,
  type Provider,
  type ModelRequest,
} from '../core/index.ts';
import { excerptDifference, diffRequests } from './request-diff.ts';

/** The options of a replay. */
export type ReplayOptions = {
  /** `false` answers in the recorded order without comparing the requests. */
  readonly compare?: boolean;
};

/** A provider that replays a session. */
export type ReplayProvider = Provider & {
  /** The number of turns left in the recording. */
  readonly remaining: number;
};

type RecordedTurn = {
  readonly request: ModelRequest;
  readonly outcome: Event & { readonly type: 'turn-ended' | 'turn-failed' };
};

/** Creates a provider that answers each request with the recorded answer: the n-th request with that of the n-th turn. */
export function replayProvider(events: readonly Event[], options: ReplayOptions = {}): ReplayProvider {
  const path = branchPath(events);
  const turns = recordedTurns(path);
  let index = 0;
  return {
    family: 'replay',
    model: path.findLast((event) => event.type === 'epoch-started')?.model ?? 'replay',
    price: { input: 0, output: 0 },
    get remaining() {
      return turns.length - index;
    },
    async *stream(request) {
      const turn = turns[index];
      if (!turn) throw replayOverError(turns.length);
      if (options.compare !== false) assertSameRequest(turn.request, request, index);
      index++;
      yield* replayChunks(turn.outcome);
    },
  };
}

/** Returns the events from the root to the last one: other branches are not replayed. */
function branchPath(events: readonly Event[]): readonly Event[] {
  const byId = new Map(events.map((event) => [event.id, event]));
  const path: Event[] = [];
  for (let event = events.at(-1); event; event = event.parent === null ? undefined : byId.get(event.parent))
    path.push(event);
  return path.toReversed();
}

/** Returns each complete turn with its request. A turn without an end was interrupted by a crash. */
function recordedTurns(path: readonly Event[]): readonly RecordedTurn[] {
  const view = runStateView();
  const turns: RecordedTurn[] = [];
  let state = view.initial;
  let request: ModelRequest | undefined;
  for (const event of path) {
    state = view.on(state, event);
    if (event.type === 'turn-started') request = renderRequest(state, { settings: {} });
    if ((event.type === 'turn-ended' || event.type === 'turn-failed') && request) {
      turns.push({ request, outcome: event });
      request = undefined;
    }
  }
  return turns;
}

function assertSameRequest(recorded: ModelRequest, request: ModelRequest, index: number): void {
  const longer = recorded.messages.length < request.messages.length;
  const found = longer ? diffRequests(request, recorded) : diffRequests(recorded, request);
  if (!found) return;
  const { was, is } = longer ? excerptDifference(found.is, found.was) : excerptDifference(found.was, found.is);
  throw new FairleadError(
    'testing/replay-departed',
    `Request ${index} differs from the recording at ${found.where}: recorded was ${was} and received is ${is}`,
    {
      blame: 'user',
      hint: 'The agent, its tools or their results have changed since; record again, or replay with { compare: false }.',
    },
  );
}

const replayOverError = (turns: number): FairleadError =>
  new FairleadError(
    'testing/replay-over',
    `The recording has ${turns} ${turns === 1 ? 'turn' : 'turns'} and one more is requested.`,
    {
      blame: 'user',
      hint: 'The agent continues where it stopped when it was recorded; find out why, or record again.',
    },
  );

function* replayChunks(event: RecordedTurn['outcome']): Generator<Chunk> {
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
