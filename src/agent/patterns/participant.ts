// The participants of a pattern: agents, models and functions, with the name and the model family that independence is decided by.
import type { AskModel, Price, ResolvedAgent } from '../../core/index.ts';
import { getModelFamily, unknownFamily } from '../../checks/judges/index.ts';
import type { Session } from '../session.ts';
import { badOptionError, dependentError } from './errors.ts';

/** The part of `Agent` that a pattern uses. */
export type PatternAgent = {
  readonly name: string;
  resolve(): Promise<ResolvedAgent>;
  session(): Promise<Session>;
};

/** What a function of a participant gets besides its input. */
export type CallContext = {
  /** Aborts when the pattern is stopped or its time is over. */
  readonly signal: AbortSignal;
  /** The number of model calls that are left for others. */
  readonly freeCalls: number;
  /** Reports what the function used; without it, a model call counts with no tokens and with an unknown price. */
  readonly spend: (used: { readonly tokens?: number; readonly usd?: number }) => void;
};

/** A function as a participant. It cannot judge the work of a participant with its name or its family. */
export type FunctionParticipant<In, Out> = {
  readonly name: string;
  /** The model family behind the function; `code` for a function that asks no model. */
  readonly family?: string;
  /** Whether the function asks a model, which counts as one call; true by default. */
  readonly asksModel?: boolean;
  readonly run: (input: In, context: CallContext) => Out | Promise<Out>;
};

/** A model that is asked without tools, such as an `AskedModel` or a `VerifyModel`. */
export type ModelParticipant = {
  readonly name: string;
  readonly family?: string;
  readonly price?: Price;
  readonly ask: AskModel;
};

/** An agent under a name of its own. A family is used only if the name of the model does not say it. */
export type AgentParticipant = { readonly name?: string; readonly family?: string; readonly agent: PatternAgent };

/** An agent, a model, or a function with typed input and output. */
export type Participant<In, Out> = PatternAgent | AgentParticipant | ModelParticipant | FunctionParticipant<In, Out>;

/** The three kinds of participants. */
type ParticipantKind =
  | { readonly type: 'agent'; readonly agent: PatternAgent; readonly maxTurns: number | undefined }
  | { readonly type: 'model'; readonly ask: AskModel }
  | {
      readonly type: 'function';
      readonly asksModel: boolean;
      readonly run: (input: unknown, context: CallContext) => unknown;
    };

/** A participant whose name and family are known. */
export type Member = {
  readonly name: string;
  /** The family; `code` for a function without a model. */
  readonly family: string;
  readonly kind: ParticipantKind;
  /** The object of the caller: the same object under another name is the same participant. */
  readonly identity: unknown;
};

/** The family of functions that ask no model. */
export const codeFamily = 'code';

/** The family that a caller names, in the spelling of `getModelFamily`: `GPT`, `openai` and `gpt-5` are `gpt`. A participant that asks a model is not of the family `code`. */
function readFamily(role: string, name: string, family: string | undefined): string {
  const given = family?.trim().toLowerCase() ?? '';
  if (given === codeFamily)
    throw badOptionError(`The ${role} ${name} asks a model, so its family is not "${codeFamily}".`, 'asksModel: false');
  if (given === '') return unknownFamily;
  const known = getModelFamily(given, given);
  return known === unknownFamily ? given : known;
}

/** Finds the name and the family of a participant. The family that the name of a model says comes before the one that the caller names. */
export async function resolveMember<In, Out>(role: string, participant: Participant<In, Out>): Promise<Member> {
  const given = participant as Partial<AgentParticipant & ModelParticipant & FunctionParticipant<In, Out>>;
  const agent = isAgent(participant) ? participant : given.agent;
  if (agent !== undefined) {
    const { provider, limits } = await agent.resolve();
    const known = getModelFamily(provider.model, provider.family);
    return {
      name: given.name ?? agent.name,
      family: known === unknownFamily && !isAgent(participant) ? readFamily(role, agent.name, given.family) : known,
      kind: { type: 'agent', agent, maxTurns: limits?.turns },
      identity: agent,
    };
  }
  const { name, family } = given;
  if (typeof name !== 'string' || name.trim() === '')
    throw badOptionError(`The ${role} needs a name.`, '{ name: "critic", family: "gpt", run: … }');
  if (typeof given.ask === 'function') {
    const known = getModelFamily(name);
    return {
      name,
      family: known === unknownFamily ? readFamily(role, name, family) : known,
      kind: { type: 'model', ask: given.ask },
      identity: given.ask,
    };
  }
  if (typeof given.run !== 'function')
    throw badOptionError(`The ${role} ${name} must be an agent, a model with "ask", or a function "run".`);
  const { run, asksModel = true } = given;
  return {
    name,
    family: asksModel ? (family === undefined ? getModelFamily(name) : readFamily(role, name, family)) : codeFamily,
    kind: { type: 'function', asksModel, run: run as (input: unknown, context: CallContext) => unknown },
    identity: run,
  };
}

const isAgent = <In, Out>(participant: Participant<In, Out>): participant is PatternAgent =>
  'resolve' in participant && 'session' in participant;

/** Throws if a checker is not independent of an author: by name, by object, and by model family. Code is independent of every model. */
export function assertIndependent(role: string, checkers: readonly Member[], authors: readonly Member[]): void {
  for (const checker of checkers) {
    for (const author of authors) {
      const why = findDependence(checker, author);
      if (why !== undefined) throw dependentError(`The ${role} ${checker.name} cannot check ${author.name}: ${why}.`);
    }
  }
}

/** Returns why a participant is not independent of an author. */
export function findDependence(checker: Member, author: Member): string | undefined {
  if (checker.identity === author.identity) return 'they are the same participant';
  if (checker.name.trim().toLowerCase() === author.name.trim().toLowerCase()) return 'they have the same name';
  if (checker.family === codeFamily || author.family === codeFamily) return undefined;
  for (const { name, family } of [checker, author])
    if (family === unknownFamily) return `the model family of ${name} is not known`;
  return checker.family === author.family ? `both are of the model family ${author.family}` : undefined;
}
