// Converts a model response to facts: the stored message, its cost, and the reason if it is rejected.
import { errorMessage } from './errors.ts';
import type { Event, Fact, RejectionReason } from './fact.ts';
import { isJson } from './json.ts';
import {
  messageToolCalls,
  isEmptyMessage,
  satisfiesToolChoice,
  messageText,
  type ToolCallPart,
  type FinishReason,
  type Message,
  type MessagePart,
} from './message.ts';
import type { ResolvedAgent, OutputSchema, Chunk } from './ports.ts';
import { answerCost } from './usage-totals.ts';
import type { RunState } from './state.ts';

/** The last chunk of a response. */
export type EndChunk = Chunk & { readonly type: 'end' };

/** The event of a response. */
export type ResponseEvent = Event & { readonly type: 'turn-ended' };

type AnswerRejection = { readonly why: RejectionReason; readonly text: string };

/** Returns the facts for a response. Calls to tools that the request did not allow are answered at once and never run. */
export function answerFacts(agent: ResolvedAgent, state: RunState, end: EndChunk, ms: number): readonly Fact[] {
  const { turn } = state;
  const message = normalizeAnswer(end, turn);
  const { finishReason, model } = end;
  const ended: Fact = {
    type: 'turn-ended',
    turn,
    message,
    finishReason,
    ...answerCost(agent, state, end, message),
    model,
    ms,
  };
  const annotations = (end.annotations ?? []).map((each): Fact => ({ type: 'annotation-added', ...each }));
  const rejection = rejectionOf(agent, state, message, finishReason);
  if (!rejection) return [ended, ...annotations];
  return [ended, ...annotations, ...rejectionFacts(rejection, messageToolCalls(message))];
}

/** Returns the facts of a rejected response that its append did not keep, because a power cut tore it after the response: they are computed again. Returns none if the session continued after the response. */
export function missingRejectionFacts(
  agent: ResolvedAgent,
  state: RunState,
  { turn, message, finishReason }: ResponseEvent,
): readonly Fact[] {
  if (state.run === undefined || state.inTurn || state.turn !== turn) return [];
  const rejection = rejectionOf(agent, state, message, finishReason);
  if (!rejection) return [];
  const openCalls = state.calls.filter(({ result }) => !result);
  return rejectionFacts(rejection, openCalls);
}

/** Denies the calls of a rejected response, and gives the reason. */
function rejectionFacts(rejection: AnswerRejection, calls: readonly { readonly id: string }[]): readonly Fact[] {
  const text = `Nothing was run. ${rejection.text}`;
  const denied = calls.map(({ id }): Fact => ({ type: 'tool-ended', call: id, outcome: 'denied', text, ms: 0 }));
  return [...denied, { type: 'answer-rejected', ...rejection }];
}

/** Gives each call an id that is unique in the session and valid in every provider format. Drops white-space text, and the incomplete calls of a truncated, refused or filtered response. */
function normalizeAnswer({ message, finishReason }: EndChunk, turn: number): Message {
  let count = 0;
  const isComplete = finishReason !== 'length' && finishReason !== 'refusal' && finishReason !== 'filtered';
  const parts = message.parts.flatMap((part): readonly MessagePart[] => {
    if (part.type === 'tool-call') return isComplete ? [{ ...withJsonInput(part), id: callId(turn, count++) }] : [];
    return part.type === 'text' && part.text.trim() === '' && !part.meta ? [] : [part];
  });
  return { role: 'assistant', parts };
}

/** A call whose arguments cannot be parsed is kept as an invalid call, which never runs. */
const withJsonInput = (part: ToolCallPart): ToolCallPart =>
  isJson(part.input)
    ? part
    : {
        ...part,
        input: {},
        invalid: part.invalid ?? 'they are nested too deeply, or contain values that are not JSON.',
      };

/** The id of the n-th call of a turn: nine letters and digits, the strictest rule of all providers. */
export const callId = (turn: number, index: number): string =>
  `c${turn.toString(36).padStart(5, '0')}${index.toString(36).padStart(3, '0')}`;

function rejectionOf(
  agent: ResolvedAgent,
  state: RunState,
  message: Message,
  finish: FinishReason,
): AnswerRejection | undefined {
  if (finish === 'refusal')
    return {
      why: 'refused',
      text: 'Your last answer was a refusal. If there is a part of the task you can do, do that part and say what you left out and why.',
    };
  if (finish === 'filtered')
    return { why: 'filtered', text: 'Your last answer was withheld by a content filter. Answer again in other words.' };
  if (finish === 'length') return undefined;
  if (isEmptyMessage(message)) return { why: 'empty', text: 'Your last answer was empty. Answer the user now.' };
  const toolChoiceError = toolChoiceRejection(state, message);
  if (toolChoiceError) return toolChoiceError;
  if (messageToolCalls(message).length) return undefined;
  if (finish === 'tool-calls')
    return {
      why: 'no-call',
      text: 'Your last answer was to call a tool, but contained no call. Make the call, or answer without one.',
    };
  const schemaError = agent.outputSchema && outputSchemaError(agent.outputSchema, messageText(message));
  return schemaError === undefined
    ? undefined
    : {
        why: 'invalid',
        text: `Your last answer does not fit the required schema: ${schemaError} Answer with JSON that fits it, and nothing else.`,
      };
}

function toolChoiceRejection({ choice }: RunState, message: Message): AnswerRejection | undefined {
  const calls = messageToolCalls(message);
  if (satisfiesToolChoice(choice, calls)) return undefined;
  if (choice === 'none') return { why: 'invalid', text: 'No tool may be called now. Answer in words.' };
  return {
    why: 'no-call',
    text: typeof choice === 'object' ? `Answer with a call of the tool ${choice.tool}.` : 'Answer with a tool call.',
  };
}

/** A schema check that throws rejects the answer. */
function outputSchemaError(shape: OutputSchema, text: string): string | undefined {
  try {
    return shape.validate(text);
  } catch (error) {
    return `it could not be checked: ${errorMessage(error)}.`;
  }
}
