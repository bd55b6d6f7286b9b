// A script: the list of answers of a scripted model, or a function that returns them for a request.
import { FairleadError, type FinishReason, type Json, type Usage } from '../core/index.ts';
import { calls, joinResponses, says, type ScriptedResponse } from './scripted-response.ts';
import { splitText } from './split-text.ts';

/** A request as a script sees it, in every wire format. */
export type ScriptRequest<Body> = {
  /** The number of earlier requests for an answer. */
  readonly index: number;
  readonly model: string;
  /** The names of the offered tools. */
  readonly tools: readonly string[];
  /** The texts of all tool results in the conversation, oldest first, without the tags around text from outside. */
  readonly results: readonly string[];
  /** The text of the last message of the user. */
  readonly prompt: string;
  /** The request itself: a core `Request` at the scripted provider, the parsed body at the scripted server. */
  readonly body: Body;
};

/** One entry of a script: an answer, several that are joined to one, or a text. */
export type ScriptStep = ScriptedResponse | readonly ScriptedResponse[] | string;

/** The answers in order, or a function of the request; undefined means that no answer is left. */
export type Script<Body = unknown> =
  | readonly ScriptStep[]
  | ((asked: ScriptRequest<Body>, index: number) => ScriptStep | undefined | Promise<ScriptStep | undefined>);

/** Creates a script that calls a tool until the conversation has `times` results, and then answers. It has no state, so any number of conversations can share it. */
export const callsThenAnswer =
  (times: number, tool: string, input: Json | ((index: number) => Json), text: string): Script =>
  ({ results }) =>
    results.length < times ? calls(tool, typeof input === 'function' ? input(results.length) : input) : says(text);

/** An answer with all defaults filled in. */
export type ResolvedResponse = Omit<ScriptedResponse, 'calls'> & {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly {
    readonly tool: string;
    readonly id: string;
    readonly given: boolean;
    readonly raw: string;
  }[];
  readonly finish: FinishReason;
  readonly usage: Usage;
  readonly model: string;
  readonly textChunks: readonly string[];
};

/** Returns the answer of the script to a request. */
export async function nextResponse<Body>(script: Script<Body>, asked: ScriptRequest<Body>): Promise<ResolvedResponse> {
  const { index } = asked;
  const step = typeof script === 'function' ? await script(asked, index) : script[index];
  if (step === undefined) throw scriptOverError(script, index);
  return resolveResponse(
    typeof step === 'string' ? { text: step } : isResponseList(step) ? joinResponses(step) : step,
    asked,
  );
}

const isResponseList = (step: ScriptStep): step is readonly ScriptedResponse[] => Array.isArray(step);

const scriptOverError = (script: Script<never>, index: number): FairleadError =>
  new FairleadError(
    'testing/script-over',
    typeof script === 'function'
      ? `The script returned no answer to request ${index} (counted from 0).`
      : `The script has ${script.length} ${script.length === 1 ? 'answer' : 'answers'} and request ${index} (counted from 0) needs another one.`,
    { blame: 'user', hint: 'Add an answer to the script, or find out why the agent sent another request.' },
  );

function resolveResponse(
  answer: ScriptedResponse,
  { index, model }: { readonly index: number; readonly model: string },
): ResolvedResponse {
  const text = answer.text ?? (Array.isArray(answer.chunks) ? answer.chunks.join('') : '');
  const made = (answer.calls ?? []).map((call, i) => ({
    tool: call.tool,
    id: call.id ?? `call_${index.toString(36).padStart(6, '0')}${i.toString(36).padStart(3, '0')}`,
    given: call.id !== undefined,
    raw: call.raw ?? JSON.stringify(call.input ?? {}),
  }));
  return {
    ...answer,
    text,
    reasoning: answer.reasoning ?? '',
    calls: made,
    finish: answer.finish ?? (made.length ? 'tool-calls' : 'stop'),
    usage: answer.usage ?? { input: 10, output: 5 },
    model: answer.model ?? model,
    textChunks: splitText(text, answer.chunks),
  };
}
