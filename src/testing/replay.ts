// A provider that answers as a recorded session did, and reports requests that differ from the recording.
import {
  createRecordedProvider,
  FairleadError,
  type Event,
  type ModelRequest,
  type RecordedProvider,
} from '../core/index.ts';
import { excerptDifference, diffRequests } from './request-diff.ts';

/** The options of a replay. */
export type ReplayOptions = {
  /** `false` answers in the recorded order without comparing the requests. */
  readonly compare?: boolean;
};

/** A provider that replays a session. */
export type ReplayProvider = RecordedProvider;

/** Creates a provider that answers each request with the recorded answer: the n-th request with that of the n-th turn. */
export const replayProvider = (events: readonly Event[], { compare = true }: ReplayOptions = {}): ReplayProvider =>
  createRecordedProvider(
    events,
    compare ? { onRequest: (request, recorded, index) => assertSameRequest(recorded.request, request, index) } : {},
  );

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
