// One run of a pattern: asks its participants within the budget, traces every call, and records it in the session of the caller.
import { randomUUID } from 'node:crypto';
import { toJson, type Json } from '../../core/index.ts';
import type { Session } from '../session.ts';
import { createPatternMeter, type PatternBudget, type PatternSpent, type Reservation } from './budget.ts';
import { callMember, type CallResult, type RoleTask } from './call-member.ts';
import { badOptionError } from './errors.ts';
import { resolveMember, type Member, type Participant } from './participant.ts';

/** Options that every pattern has. */
export type PatternOptions = {
  /** Ends the pattern: it resolves with what it has. */
  readonly signal: AbortSignal;
  readonly budget: PatternBudget;
  /** The session that records what happened, as annotations, which are part of no request to a model. */
  readonly session?: Pick<Session, 'annotate'>;
};

/** Why a pattern ended. */
export type PatternStop =
  /** It did what it was for. */
  | 'complete'
  /** The score that was asked for was reached. */
  | 'target'
  /** More rounds would not have made it better. */
  | 'no-improvement'
  /** The maximum number of rounds or of states was reached. */
  | 'rounds'
  /** There was nothing left to try. */
  | 'exhausted'
  /** The budget was used up. */
  | 'budget'
  /** The signal was aborted. */
  | 'aborted'
  /** A participant that nothing can go on without failed. */
  | 'failed';

/** One call of a participant. */
export type PatternEntry = {
  /** The position in the order in which calls started. */
  readonly index: number;
  /** The role of the participant in this call, such as `evaluator`. */
  readonly role: string;
  /** The name of the participant. */
  readonly by: string;
  readonly family: string;
  /** What the call was about, such as `round 2`. */
  readonly about: string;
  readonly outcome: 'ok' | 'failed' | 'not-started';
  /** Why it failed or was not started. */
  readonly detail?: string;
  /** The beginning of what the participant returned. */
  readonly text?: string;
  readonly score?: number;
  readonly calls: number;
  readonly tokens: number;
  /** Absent if the price is not known. */
  readonly usd?: number;
  /** The session of an agent. */
  readonly sessionId?: string;
};

/** What every pattern returns besides its result. */
export type PatternReport = {
  /** The id of the run, which its annotations have too. */
  readonly id: string;
  readonly stop: PatternStop;
  /** One sentence about why it ended. */
  readonly detail: string;
  readonly trace: readonly PatternEntry[];
  readonly spent: PatternSpent;
};

/** The result of a call: a value, a failure of the participant, or that the pattern has to end. */
export type AskResult<Out> =
  /** `by` has the family of the model that answered, which a fallback can change. */
  | { readonly type: 'ok'; readonly value: Out; readonly by: Member }
  | { readonly type: 'failed'; readonly why: string }
  | { readonly type: 'stopped'; readonly stop: 'budget' | 'aborted'; readonly why: string; readonly started: boolean };

/** Whether a call without a value was made: what was not started used nothing. */
export const isStarted = (result: Exclude<AskResult<unknown>, { readonly type: 'ok' }>): boolean =>
  result.type === 'failed' || result.started;

/** The subject of a call, its share of the budget, and a check of the model that answered. */
export type AskOptions = {
  readonly about: string;
  /** Calls that run beside this one; 1 by default. */
  readonly shares?: number;
  /** Calls that stay free for a later step. */
  readonly keep?: number;
  /** Returns why an answer does not count, by the model that gave it: a fallback can be of the author's family. */
  readonly refuse?: (member: Member) => string | undefined;
};

/** One run of a pattern. */
export type PatternRun = {
  readonly signal: AbortSignal;
  /** Asks a participant in a role. Rejects only if the session cannot record it. */
  ask<In, Out>(member: Member, task: RoleTask<In, Out>, input: In, options: AskOptions): Promise<AskResult<Out>>;
  /** Why the pattern has to end, if it has to. */
  ending(): { readonly stop: 'budget' | 'aborted'; readonly why: string } | undefined;
  /** Adds an entry for work that was not started. */
  skip(role: string, about: string, why: string): Promise<void>;
  /** Records a fact of the pattern that is no call. */
  note(key: string, value: Json): Promise<void>;
  freeCalls(): number;
  finish(stop: PatternStop, detail: string): Promise<PatternReport>;
};

/** Annotations with this key have `id`, `pattern` and `event`: `started`, `called`, `noted` or `ended`. */
export const patternAnnotation = 'pattern';
/** The characters of a text that the trace has. */
const maxTraceChars = 2000;

/** Finds the participants of the roles of a pattern. */
export const resolveMembers = <In, Out>(
  role: string,
  participants: readonly Participant<In, Out>[],
): Promise<readonly Member[]> => Promise.all(participants.map((each) => resolveMember(role, each)));

/** Throws unless the options that every pattern has can be used. */
export function assertPatternOptions(options: PatternOptions): void {
  const { signal } = (options as Partial<PatternOptions> | undefined) ?? {};
  if (!(signal instanceof AbortSignal))
    throw badOptionError('A pattern needs a signal.', 'signal: new AbortController().signal');
}

/** Runs the body of a pattern. The timer of the budget is ended however the body ends. */
export async function withPatternRun<Result>(
  pattern: string,
  options: PatternOptions,
  members: readonly Member[],
  body: (run: PatternRun) => Promise<Result>,
): Promise<Result> {
  const meter = createPatternMeter(options.budget, options.signal);
  const id = randomUUID();
  const trace: PatternEntry[] = [];
  let nextIndex = 0;
  const record = async (event: string, value: unknown): Promise<void> => {
    await options.session?.annotate(patternAnnotation, toJson({ id, pattern, event, ...(value as object) }));
  };
  const ending = (): { readonly stop: 'budget' | 'aborted'; readonly why: string } | undefined => {
    if (options.signal.aborted) return { stop: 'aborted', why: 'The signal was aborted.' };
    if (meter.isTimeOver()) return { stop: 'budget', why: `The time of ${options.budget.ms} ms is over.` };
    return undefined;
  };
  const add = async (entry: PatternEntry): Promise<void> => {
    trace.push(entry);
    await record('called', entry);
  };
  const ask = async <In, Out>(
    member: Member,
    task: RoleTask<In, Out>,
    input: In,
    { about, shares = 1, keep = 0, refuse }: AskOptions,
  ): Promise<AskResult<Out>> => {
    const index = nextIndex++;
    const base = { index, role: task.role, by: member.name, family: member.family, about };
    const stopped = async (stop: 'budget' | 'aborted', why: string): Promise<AskResult<Out>> => {
      await add({ ...base, outcome: 'not-started', detail: why, calls: 0, tokens: 0, usd: 0 });
      return { type: 'stopped', stop, why, started: false };
    };
    let reservation: Reservation | string;
    const { kind } = member;
    const prompt = kind.type === 'function' ? undefined : task.format(input);
    const isCode = kind.type === 'function' && !kind.asksModel;
    try {
      reservation = await meter.reserve({
        calls: isCode ? 0 : kind.type === 'agent' ? (kind.maxTurns ?? options.budget.calls) : 1,
        minCalls: isCode ? 0 : 1,
        tokens: prompt?.tokens ?? 0,
        shares,
        keep,
      });
    } catch (error) {
      const end = ending();
      if (!end) throw error;
      return stopped(end.stop, end.why);
    }
    if (typeof reservation === 'string') return stopped('budget', `No call is left: ${reservation}`);
    const result = await callMember({
      member,
      task,
      input,
      prompt,
      reservation,
      signal: meter.signal,
      freeCalls: () => meter.freeCalls(),
    });
    reservation.settle(result.cost);
    const by = { ...member, ...result.answeredBy };
    const why = result.type === 'ok' ? refuse?.(by) : undefined;
    const judged: CallResult<Out> = why === undefined ? result : { ...result, type: 'failed', why };
    await add(createEntry(base, judged, member));
    if (judged.type === 'ok') return { type: 'ok', value: judged.value, by };
    const end = ending();
    return end ? { type: 'stopped', started: true, ...end } : { type: 'failed', why: judged.why };
  };
  try {
    await record('started', {
      budget: options.budget,
      participants: members.map(({ name, family, kind }) => ({ name, family, kind: kind.type })),
    });
    return await body({
      signal: meter.signal,
      ask,
      ending,
      freeCalls: () => meter.freeCalls(),
      skip: (role, about, detail) =>
        add({
          index: nextIndex++,
          role,
          by: '',
          family: '',
          about,
          outcome: 'not-started',
          detail,
          calls: 0,
          tokens: 0,
          usd: 0,
        }),
      note: (key, value) => record('noted', { key, value }),
      finish: async (stop, detail) => {
        const spent = meter.spent();
        await record('ended', { stop, detail, spent });
        return { id, stop, detail, spent, trace: trace.toSorted((a, b) => a.index - b.index) };
      },
    });
  } finally {
    meter.close();
  }
}

type EntryBase = Pick<PatternEntry, 'index' | 'role' | 'by' | 'family' | 'about'>;

function createEntry<Out>(base: EntryBase, result: CallResult<Out>, member: Member): PatternEntry {
  const { cost, text, score, sessionId } = result;
  return {
    ...base,
    family: result.answeredBy?.family ?? member.family,
    outcome: result.type,
    ...(result.type === 'failed' ? { detail: result.why } : {}),
    ...(text === undefined ? {} : { text: text.slice(0, maxTraceChars) }),
    ...(score === undefined ? {} : { score }),
    calls: cost.calls,
    tokens: cost.tokens,
    ...(cost.usd === undefined ? {} : { usd: cost.usd }),
    ...(sessionId === undefined ? {} : { sessionId }),
  };
}

/** Runs work for each item, at most `parallel` at a time, and waits for all of it, also after an error. */
export async function runPool<Item>(
  items: readonly Item[],
  parallel: number,
  work: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const errors: unknown[] = [];
  const runNext = async (): Promise<void> => {
    while (next < items.length && errors.length === 0) {
      const index = next++;
      try {
        await work(items[index] as Item, index);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, items.length) }, runNext));
  if (errors.length > 0) throw errors[0];
}
