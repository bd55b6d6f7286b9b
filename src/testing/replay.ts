// A provider that answers as a recorded session did, and reports requests that differ from the recording.
import {
  branchOfLastEvent,
  FairleadError,
  readRecordedTurns,
  replayRecordedTurn,
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

/** Creates a provider that answers each request with the recorded answer: the n-th request with that of the n-th turn. */
export function replayProvider(events: readonly Event[], options: ReplayOptions = {}): ReplayProvider {
  const path = branchOfLastEvent(events);
  const turns = readRecordedTurns(path);
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
      yield* replayRecordedTurn(turn.outcome);
    },
  };
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
