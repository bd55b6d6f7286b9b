// One call of a participant: an agent runs in a session of its own, a model is asked once, a function gets the typed input. What comes back is data that is checked.
import { errorMessage, estimateTokens, raceAbort, toJson, type AskModel, type JsonObject } from '../../core/index.ts';
import { getModelFamily, unknownFamily } from '../../checks/judges/index.ts';
import type { CallCost, Reservation } from './budget.ts';
import type { Member, PatternAgent } from './participant.ts';

/** What a returned value is read as; a problem is one sentence. */
export type ReadResult<Out> =
  | { readonly value: Out; readonly text?: string; readonly score?: number }
  | { readonly problem: string };

/** A role: how agents and models are asked, and how the value of any participant is read. */
export type RoleTask<In, Out> = {
  readonly role: string;
  /** The prompt of an agent or a model. Results of others are in it as untrusted text. */
  readonly format: (input: In) => RolePrompt;
  /** The JSON Schema of the answer; absent for a text. */
  readonly schema?: JsonObject;
  /** Reads what a participant returned: any value, or the text of a model. */
  readonly read: (value: unknown) => ReadResult<Out>;
};

/** The prompt of a role with its size. */
export type RolePrompt = { readonly system: string; readonly prompt: string; readonly tokens: number };

/** The family of the model that answered, which a fallback can change. */
type AnsweredBy = { readonly family: string };

/** What a call returned, and what it used. */
export type CallResult<Out> = {
  readonly cost: CallCost;
  readonly text?: string;
  readonly score?: number;
  readonly sessionId?: string;
  readonly answeredBy?: AnsweredBy;
} & ({ readonly type: 'ok'; readonly value: Out } | { readonly type: 'failed'; readonly why: string });

/** What a call needs. */
type MemberCall<In, Out> = {
  readonly member: Member;
  readonly task: RoleTask<In, Out>;
  readonly input: In;
  readonly prompt: RolePrompt | undefined;
  readonly reservation: Reservation;
  readonly signal: AbortSignal;
  readonly freeCalls: () => number;
};

type RawResult = {
  readonly value?: unknown;
  readonly failure?: string;
  readonly cost: CallCost;
  readonly sessionId?: string;
  readonly answeredBy?: AnsweredBy;
};

/** Creates a prompt. */
export const createPrompt = (system: string, ...parts: readonly string[]): RolePrompt => {
  const prompt = parts.filter((part) => part !== '').join('\n\n');
  return { system, prompt, tokens: estimateTokens(system) + estimateTokens(prompt) };
};

/** Asks a participant and reads what it returned. Never rejects: a participant that throws has failed. */
export async function callMember<In, Out>(call: MemberCall<In, Out>): Promise<CallResult<Out>> {
  const { value, failure, ...rest } = await callRaw(call);
  if (failure !== undefined) return { ...rest, type: 'failed', why: failure.slice(0, 600) };
  const text = typeof value === 'string' ? value : undefined;
  try {
    const read = call.task.read(value);
    if ('problem' in read)
      return { ...rest, ...(text === undefined ? {} : { text }), type: 'failed', why: read.problem };
    const shown = read.text ?? text ?? JSON.stringify(toJson(read.value));
    return {
      ...rest,
      text: shown,
      ...(read.score === undefined ? {} : { score: read.score }),
      type: 'ok',
      value: read.value,
    };
  } catch (error) {
    return { ...rest, type: 'failed', why: `The result cannot be read: ${errorMessage(error).slice(0, 500)}` };
  }
}

async function callRaw<In, Out>({
  member,
  task,
  input,
  prompt,
  reservation,
  signal,
  freeCalls,
}: MemberCall<In, Out>): Promise<RawResult> {
  const { kind } = member;
  if (kind.type === 'agent' && prompt) return runAgent(kind.agent, prompt, task.schema, reservation, signal);
  if (kind.type === 'model' && prompt) return askOnce(kind.ask, prompt, task.schema, signal);
  if (kind.type !== 'function') return { failure: 'There is no prompt.', cost: { calls: 0, tokens: 0, usd: 0 } };
  const used: { tokens: number; usd: number | undefined } = { tokens: 0, usd: kind.asksModel ? undefined : 0 };
  const spend = (more: { readonly tokens?: number; readonly usd?: number }): void => {
    used.tokens += toAmount(more.tokens);
    if (more.usd !== undefined) used.usd = (used.usd ?? 0) + toAmount(more.usd);
  };
  const outcome = await settle(() =>
    raceAbort(signal, () => kind.run(input, { signal, freeCalls: freeCalls(), spend })),
  );
  return { ...outcome, cost: { calls: kind.asksModel ? 1 : 0, ...used } };
}

/** An amount that a participant reports cannot give budget back. */
const toAmount = (value: number | undefined): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;

async function settle(
  work: () => Promise<unknown>,
): Promise<{ readonly value: unknown } | { readonly failure: string }> {
  try {
    return { value: await work() };
  } catch (error) {
    return { failure: errorMessage(error) };
  }
}

async function askOnce(
  ask: AskModel,
  { system, prompt, tokens }: RolePrompt,
  schema: JsonObject | undefined,
  signal: AbortSignal,
): Promise<RawResult> {
  try {
    const request = { system, prompt, ...(schema ? { outputSchema: schema } : {}) };
    const { text, spent } = await raceAbort(signal, () => ask(request, signal));
    const used = (spent.input ?? tokens) + (spent.output ?? estimateTokens(text));
    const usd = (spent.turnsWithoutPrice ?? 0) > 0 ? undefined : spent.usd;
    return { value: text, cost: { calls: 1, tokens: used, usd } };
  } catch (error) {
    return { failure: errorMessage(error), cost: { calls: 1, tokens, usd: undefined } };
  }
}

/** Runs an agent in a new session within what is reserved. Which models answered is read from its events: a gateway may have used a fallback. */
async function runAgent(
  agent: PatternAgent,
  { system, prompt, tokens }: RolePrompt,
  schema: JsonObject | undefined,
  reservation: Reservation,
  signal: AbortSignal,
): Promise<RawResult> {
  const families = new Set<string>();
  let turns = 0;
  try {
    await using session = await agent.session();
    const { family } = session.agent.provider;
    session.subscribe((event) => {
      if (event.type === 'turn-started') turns += 1;
      if (event.type === 'turn-ended') families.add(getModelFamily(event.model, family));
    });
    const own = session.agent.limits;
    const min = (reserved: number | undefined, limit: number | undefined): number =>
      Math.min(reserved ?? Number.POSITIVE_INFINITY, limit ?? Number.POSITIVE_INFINITY);
    const limits = {
      turns: min(reservation.calls, own?.turns),
      ...(reservation.tokens === undefined ? {} : { tokens: min(reservation.tokens, own?.tokens) }),
      ...(reservation.usd === undefined ? {} : { usd: min(reservation.usd, own?.usd) }),
    };
    const result = await session.run(`${system}\n\n${prompt}`, {
      signal,
      limits,
      ...(schema ? { outputSchema: schema } : {}),
    });
    const known = [...families].filter((each) => each !== unknownFamily);
    const cost: CallCost = {
      calls: Math.max(turns, result.turns),
      tokens: result.usage.inputTokens + result.usage.outputTokens,
      usd: result.costUsd,
    };
    const rest = {
      cost,
      sessionId: result.sessionId,
      ...(known.length === 1 && known[0] !== undefined ? { answeredBy: { family: known[0] } } : {}),
      ...(known.length > 1 ? { answeredBy: { family: unknownFamily } } : {}),
    };
    return result.status === 'success'
      ? { ...rest, value: result.text }
      : {
          ...rest,
          failure: `The run of the agent ended with ${result.reason}${result.detail === undefined ? '' : `: ${result.detail.replace(/\.+$/, '')}`}.`,
        };
  } catch (error) {
    return { failure: errorMessage(error), cost: { calls: Math.max(1, turns), tokens, usd: undefined } };
  }
}
