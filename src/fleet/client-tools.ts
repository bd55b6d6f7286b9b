// What a run is given by a client that has tools of its own: the client makes their calls, so the run ends with them, and the next one brings the results.
import {
  isObject,
  toolOutput,
  toolResultFact,
  type ResolvedAgent,
  type Check,
  type Fact,
  type Gate,
  type JsonObject,
  type RunState,
  type ModelSettings,
  type Tool,
  type ToolChoice,
  type ToolSpec,
} from '../core/index.ts';

/** What a client's run says under `client` in its settings. */
export type ClientRunOptions = {
  /** The tools whose calls the client makes. */
  readonly tools?: readonly ToolSpec[];
  readonly choice?: ToolChoice;
  /** At most one call of them at a time. */
  readonly single?: boolean;
  /** How the model is to answer. */
  readonly sampling?: ModelSettings;
  /** What came of the calls that the run before this one handed out. */
  readonly results?: readonly ClientToolResult[];
  /** The results are all that is said: the run's words are for people who look at the queue. */
  readonly silent?: boolean;
  /** What the client had said and heard before, as a digest. */
  readonly heard?: string;
};

/** The result of a call, as a client brings it. */
export type ClientToolResult = { readonly call: string; readonly text: string; readonly failed?: boolean };

/** What a client gave to a run; only a server of ours writes it, so it is what it says. */
export const getClientOptions = ({ client }: JsonObject): ClientRunOptions => (isObject(client) ? client : {});

/** How a call is told of that was handed to a client. */
const clientToolQuestion = 'Waiting for the client to run this tool.';

/** The tools of a client, to stand beside those of the agent. */
export const createClientTools = (settings: JsonObject): readonly Tool[] =>
  (getClientOptions(settings).tools ?? []).map((spec) => ({
    ...spec,
    // What a client does is its own affair, but it is done in the world and not by us.
    effect: 'external',
    // Handed out again under the same key it is the same call.
    idempotent: true,
    clientSideQuestion: clientToolQuestion,
    execute: () => toolOutput({ failed: true, text: 'The client alone can make this call.' }),
  }));

/** The agent as a client wants it. */
export function applyClientOptions(parts: ResolvedAgent, wish: ClientRunOptions): ResolvedAgent {
  const names = (wish.tools ?? []).map(({ name }) => name);
  const { choice = 'auto', sampling } = wish;
  const mustCall = choice === 'required' || typeof choice === 'object';
  return {
    ...parts,
    ...(sampling ? { settings: { ...parts.settings, ...sampling } } : {}),
    ...(wish.single ? { gates: [...parts.gates, createSingleCallGate(names)] } : {}),
    ...(mustCall ? { checks: [createRequiredCallCheck(names), ...parts.checks] } : {}),
  };
}

/** Lets one call of these through in each answer. */
const createSingleCallGate =
  (names: readonly string[]): Gate =>
  ({ id, tool }, { calls }) =>
    names.includes(tool) && calls.find((each) => names.includes(each.tool))?.id !== id
      ? { type: 'deny', reason: 'One call at a time: wait for the result of the first, then make this one.' }
      : { type: 'allow' };

/** How often a call is asked for that the client insists on. */
const maxCallReminders = 3;

/** A run whose client wants a call ends with it: one that comes to an answer has made none. */
function createRequiredCallCheck(names: readonly string[]): Check {
  let times = 0;
  return {
    name: 'client-tools',
    run: () =>
      times++ < maxCallReminders
        ? { type: 'failed', why: `No answer is wanted yet: call ${names.join(' or ')}.` }
        : { type: 'abstained', why: `The model did not call ${names.join(' or ')}, as the client wanted.` },
  };
}

/** The calls of a run that has nothing else left to do: the client is to make them. */
export function listClientCalls({ calls }: RunState): readonly RunState['calls'][number][] {
  const open = calls.filter((call) => !call.result);
  return open.every(({ ask }) => ask?.kind === 'client-tool' && ask.allowed === undefined) ? open : [];
}

/** The facts that a run of a client begins with: each call that was handed out has come to something, or nobody knows to what. */
export function clientToolResultFacts(state: RunState, { results = [] }: ClientRunOptions): readonly Fact[] {
  const most = state.limits?.outputChars ?? 100_000;
  return listClientCalls(state).map(({ id }): Fact => {
    const brought = results.find(({ call }) => call === id);
    if (brought)
      return toolResultFact(id, toolOutput({ text: brought.text, failed: brought.failed === true }), most, 0);
    return { type: 'tool-ended', call: id, outcome: 'unknown', text: 'The client brought no result.', ms: 0 };
  });
}
