// What a session says of a run in the queue: its questions, how it came out, and whether it was begun or ended before.
import {
  unwrapDeferredCall,
  fold,
  lastItem,
  runStateView,
  messageText,
  type Event,
  type Log,
  type ApprovalQuestion,
  type RunOutcome,
  type RunState,
} from '../core/index.ts';

/** What a person has to answer before the run goes on. */
export const listOpenQuestions = (state: RunState): readonly ApprovalQuestion[] =>
  state.calls.flatMap((call): readonly ApprovalQuestion[] => {
    const { ask } = call;
    if (!ask || ask.allowed !== undefined) return [];
    const aim = unwrapDeferredCall(call);
    const tool = typeof aim === 'string' ? call.tool : aim.tool;
    return [{ call: call.id, tool, question: ask.question, ...(ask.kind ? { kind: ask.kind } : {}) }];
  });

/** How the run came out that this state is at the end of. */
export function getRunOutcome({ ended, messages, spent, calls }: RunState): RunOutcome {
  const tail = lastItem(messages);
  // Whatever else ends a run answers the calls that are open.
  const handed = calls.flatMap(({ id, tool, input, sent, result }) =>
    result ? [] : [{ id, tool, input: sent ?? input }],
  );
  const { reason = 'cancelled', detail, error } = ended ?? {};
  return {
    reason,
    text: tail?.role === 'assistant' ? messageText(tail) : '',
    spent,
    ...(detail === undefined ? {} : { detail }),
    ...(error ? { error } : {}),
    ...(handed.length > 0 ? { clientToolCalls: handed } : {}),
  };
}

/** What became of a run's words in an earlier attempt: whether they were said, and how the run ended that read them. */
export type PreviousAttempt = { readonly promptRecorded: boolean; readonly outcome?: RunOutcome };

/** Looks through all branches of a log: an edit may have left the one with the words behind. */
export async function findPreviousAttempt(
  log: Pick<Log, 'read' | 'follow'>,
  tail: number,
  run: string,
): Promise<PreviousAttempt> {
  let said = false;
  const done = new AbortController();
  for await (const event of tail > 0 ? log.follow(0, done.signal) : []) {
    if (event.type === 'input-received' && event.input === run) said = true;
    if (said && event.type === 'run-ended') return { promptRecorded: said, outcome: await getRunOutcomeAt(log, event) };
    if (event.seq >= tail) break;
  }
  return { promptRecorded: said };
}

async function getRunOutcomeAt(log: Pick<Log, 'read'>, event: Event): Promise<RunOutcome> {
  const view = runStateView();
  let state = view.initial;
  for await (const events of log.read({ at: event.id, from: 'epoch' })) state = fold(view, events, state);
  return getRunOutcome(state);
}
