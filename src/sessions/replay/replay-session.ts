// Replays a recorded session, whole or from a turn, and compares it with the recording turn by turn.
import { cutBeforeTurn } from '../../agent/recording/index.ts';
import { branchOfLastEvent, FairleadError, maxOf, type Event } from '../../core/index.ts';
import { canonicalFact, formatFact, nameFact, withSides, type ReplayDifference } from './difference.ts';
import { replayLive, type LiveOptions } from './replay-live.ts';
import { replayRecorded, type ReplayAgent } from './replay-recorded.ts';
import { isDerivedFact, type DerivedFact } from './recording.ts';

/** The options of a replay. */
export type ReplaySessionOptions = {
  /** The agent of now: its instructions, tools, rules and reminders are compared with those of each recorded request. */
  readonly agent?: ReplayAgent | undefined;
  /** The turn from which a live model answers; without it the whole session is replayed as recorded. */
  readonly from?: number | undefined;
  /** The live model, and its tools; required with `from`. */
  readonly live?: LiveOptions | undefined;
};

/** A replay, compared with its recording. */
export type SessionReplay = {
  readonly session: string;
  /** The model that was recorded last. */
  readonly model: string;
  /** The number of recorded turns on the branch. */
  readonly turns: number;
  /** Whether nothing differs and the replay reached the end. */
  readonly identical: boolean;
  readonly differences: readonly ReplayDifference[];
  /** The part with a live model. */
  readonly live?: { readonly from: number; readonly model: string; readonly turns: number; readonly usd: number };
  /** Why the replay stopped before the end. */
  readonly stopped?: string;
};

/** Replays the branch of a session that its last event is on. Throws `session/no-turn` if it has no turn `from`. */
export async function replaySession(
  events: readonly Event[],
  { agent, from, live }: ReplaySessionOptions = {},
): Promise<SessionReplay> {
  const path = branchOfLastEvent(events);
  const turns = path.filter(({ type }) => type === 'turn-started').length;
  const about = {
    session: path.find((event) => event.type === 'session-started')?.session ?? '',
    model: path.findLast((event) => event.type === 'epoch-started')?.model ?? '',
    turns,
  };
  if (from === undefined) {
    const differences = await replayRecorded(path, agent);
    return { ...about, identical: differences.length === 0, differences };
  }
  if (!live)
    throw new FairleadError('replay/no-model', 'A replay from a turn needs a model.', {
      blame: 'user',
      hint: 'Set live: { provider }.',
    });
  const prefix = cutBeforeTurn(path, from);
  const earlier = await replayRecorded(prefix, agent);
  const { events: added, usd, stopped } = await replayLive(path, from, prefix, live);
  const differences = [...earlier, ...compareTurns(path.slice(prefix.length), added, from)];
  return {
    ...about,
    identical: differences.length === 0 && stopped === undefined,
    differences,
    live: { from, model: live.provider.model, turns: added.filter(({ type }) => type === 'turn-started').length, usd },
    ...(stopped === undefined ? {} : { stopped }),
  };
}

type TurnFacts = ReadonlyMap<number, readonly DerivedFact[]>;

/** Compares what the model said, what the tools returned and how runs ended, turn by turn. */
function compareTurns(
  recorded: readonly Event[],
  replayed: readonly Event[],
  from: number,
): readonly ReplayDifference[] {
  const [then, now] = [groupByTurn(recorded, from), groupByTurn(replayed, from)];
  const toolsOf = [createToolNames(recorded), createToolNames(replayed)] as const;
  const last = maxOf([...then.keys(), ...now.keys()], from);
  const found: ReplayDifference[] = [];
  for (let turn = from; turn <= last; turn++) {
    const [was, is] = [then.get(turn) ?? [], now.get(turn) ?? []];
    for (let i = 0; i < Math.max(was.length, is.length); i++) {
      const [a, b] = [was[i], is[i]];
      if (a && b && canonicalFact(a) === canonicalFact(b)) continue;
      const names = [a && nameFact(a, toolsOf[0]), b && nameFact(b, toolsOf[1])] as const;
      if (a && b && names[0] === names[1]) {
        found.push({ turn, ...withSides(names[0] ?? '', ...formatSides(a, b)) });
        continue;
      }
      if (a) found.push({ turn, ...withSides(names[0] ?? '', formatFact(a), undefined) });
      if (b) found.push({ turn, ...withSides(names[1] ?? '', undefined, formatFact(b)) });
    }
  }
  return found;
}

/** Facts that read the same but are not the same are shown as JSON. */
function formatSides(a: DerivedFact, b: DerivedFact): [string, string] {
  const [was, is] = [formatFact(a), formatFact(b)];
  return was === is ? [canonicalFact(a), canonicalFact(b)] : [was, is];
}

const comparedTypes: ReadonlySet<string> = new Set<DerivedFact['type']>([
  'turn-ended',
  'turn-failed',
  'answer-rejected',
  'tool-ended',
  'run-ended',
]);

function groupByTurn(events: readonly Event[], from: number): TurnFacts {
  const turns = new Map<number, DerivedFact[]>();
  let turn = from;
  for (const event of events) {
    if (event.type === 'turn-started') turn = event.turn;
    if (!isDerivedFact(event) || !comparedTypes.has(event.type)) continue;
    const facts = turns.get(turn) ?? [];
    facts.push(event);
    turns.set(turn, facts);
  }
  return turns;
}

function createToolNames(events: readonly Event[]): (call: string) => string {
  const names = new Map<string, string>();
  for (const event of events)
    if (event.type === 'turn-ended')
      for (const part of event.message.parts) if (part.type === 'tool-call') names.set(part.id, part.tool);
  return (call) => names.get(call) ?? call;
}
