// Client-side tools of a run: the client executes their calls, so the run ends with them and the next run brings the results.
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

/** The setting `client` of a run. */
export type ClientRunOptions = {
  /** The tools that the client executes. */
  readonly tools?: readonly ToolSpec[];
  readonly choice?: ToolChoice;
  /** At most one call of these tools per turn. */
  readonly single?: boolean;
  /** Sampling parameters of the model. */
  readonly sampling?: ModelSettings;
  /** The results of the client tool calls of the previous run. */
  readonly results?: readonly ClientToolResult[];
  /** The results are the only input: the prompt of the run is shown in the queue but not recorded. */
  readonly silent?: boolean;
  /** A digest of the history that the client sent. */
  readonly heard?: string;
};

/** The result of a client tool call. */
export type ClientToolResult = { readonly call: string; readonly text: string; readonly failed?: boolean };

/** Returns the client options of a run. Only the server writes them, so they are not validated. */
export const getClientOptions = ({ client }: JsonObject): ClientRunOptions => (isObject(client) ? client : {});

const clientToolQuestion = 'Waiting for the client to run this tool.';

/** Creates the client tools of a run, to be added to those of the agent. */
export const createClientTools = (settings: JsonObject): readonly Tool[] =>
  (getClientOptions(settings).tools ?? []).map((spec) => ({
    ...spec,
    // The effect of a client tool is unknown, so it counts as external.
    effect: 'external',
    // The same call may be sent to the client again: it has the same id.
    idempotent: true,
    clientSideQuestion: clientToolQuestion,
    execute: () => toolOutput({ failed: true, text: 'Only the client can execute this tool.' }),
  }));

/** Returns the agent with the client's sampling parameters and tool choice. */
export function applyClientOptions(agent: ResolvedAgent, options: ClientRunOptions): ResolvedAgent {
  const names = (options.tools ?? []).map(({ name }) => name);
  const { choice = 'auto', sampling } = options;
  const mustCall = choice === 'required' || typeof choice === 'object';
  return {
    ...agent,
    ...(sampling ? { settings: { ...agent.settings, ...sampling } } : {}),
    ...(options.single ? { gates: [...agent.gates, createSingleCallGate(names)] } : {}),
    ...(mustCall ? { checks: [createRequiredCallCheck(names), ...agent.checks] } : {}),
  };
}

/** A gate that allows one call of these tools per turn. */
const createSingleCallGate =
  (names: readonly string[]): Gate =>
  ({ id, tool }, { calls }) =>
    names.includes(tool) && calls.find((each) => names.includes(each.tool))?.id !== id
      ? { type: 'deny', reason: 'Only one call at a time: wait for the result of the first call, then call this tool.' }
      : { type: 'allow' };

/** How often the model is asked for a call that the client requires. */
const maxCallReminders = 3;

/** A check that fails if the run answers without a call that the client requires. */
function createRequiredCallCheck(names: readonly string[]): Check {
  let reminders = 0;
  return {
    name: 'client-tools',
    run: () =>
      reminders++ < maxCallReminders
        ? { type: 'failed', why: `An answer is not allowed yet: call ${names.join(' or ')}.` }
        : { type: 'abstained', why: `The model did not call ${names.join(' or ')}, which the client requires.` },
  };
}

/** Returns the open calls of a run if all of them are client tool calls; otherwise none. */
export function listClientCalls({ calls }: RunState): readonly RunState['calls'][number][] {
  const open = calls.filter((call) => !call.result);
  return open.every(({ ask }) => ask?.kind === 'client-tool' && ask.allowed === undefined) ? open : [];
}

/** Returns the results of the open client tool calls as facts; a call without a result has an unknown outcome. */
export function clientToolResultFacts(state: RunState, { results = [] }: ClientRunOptions): readonly Fact[] {
  const maxChars = state.limits?.outputChars ?? 100_000;
  return listClientCalls(state).map(({ id }): Fact => {
    const result = results.find(({ call }) => call === id);
    if (result)
      return toolResultFact(id, toolOutput({ text: result.text, failed: result.failed === true }), maxChars, 0);
    return { type: 'tool-ended', call: id, outcome: 'unknown', text: 'The client sent no result.', ms: 0 };
  });
}
