// What a run is at: the questions it waits with, who answers them, and what it does.
import type { Call, RunState, StopReason } from '../../core/index.ts';
import type { Session } from '../../agent/index.ts';
import type { Grants } from '../../guards/index.ts';
import type { Outfit } from './outfit.ts';

/** The calls a person has to answer for. */
export const openAsks = (state: RunState): readonly Call[] =>
  state.calls.filter((call) => call.ask && call.ask.allowed === undefined);

/** Whether a run rests because a person has to answer. */
export const waits = (state: RunState): boolean => state.run !== undefined && openAsks(state).length > 0;

/** Ends after which another run reads what waits. After any other it would end in the same way again, and so would the one after it. */
const readOn: ReadonlySet<StopReason> = new Set(['answered', 'task-complete', 'abstained', 'truncated']);

/** Whether words came in too late for the run that has ended: another one is to read them. */
export const cameLate = ({ pending, ended }: RunState): boolean =>
  pending.length > 0 && ended !== undefined && readOn.has(ended.reason);

/** A session whose questions are answered, with what was granted in it; a conversation is one. */
export type Answerable = {
  readonly session: Session;
  readonly grants: Grants;
  readonly outfit: Pick<Outfit, 'kindOf'>;
};

/** What a person says to a question: yes to this call, yes to every call of exactly its kind, or no. */
export type Said = 'once' | 'always' | 'no';

/** Puts the open questions of a run to a person, one after the other, and writes the answers down. One that gets none stays open, and so do those after it. */
export async function answerOpen(
  talk: Answerable,
  state: RunState,
  ask: (call: Call, kind: string) => Promise<Said | undefined>,
): Promise<void> {
  for (const call of openAsks(state)) {
    const kind = talk.outfit.kindOf(call);
    if (talk.grants.has(kind)) {
      await talk.session.answer(call.id, true, 'granted before');
      continue;
    }
    const said = await ask(call, kind);
    if (said === undefined) return;
    if (said === 'always') talk.grants.grant(kind);
    await talk.session.answer(call.id, said !== 'no', 'person');
  }
}

/** What is being done, in a word or two. */
export function doing({ calls, inTurn }: RunState): string {
  const tools = calls.filter((call) => call.key !== undefined && !call.result).map((call) => call.tool);
  if (tools.length) return `running ${[...new Set(tools)].join(', ')}`;
  return inTurn ? 'thinking' : 'working';
}
