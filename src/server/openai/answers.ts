// How a run came out, as OpenAI's endpoints say it: a whole answer, the events of a stream, or why there is none.
import { frame } from '../../bridges/dialects/chat.ts';
import type { StreamEvent } from '../../bridges/dialects/dialect.ts';
import { finished, speech } from '../../bridges/dialects/responses-speech.ts';
import type { FleetRun, JsonObject, Spent } from '../../core/index.ts';
import { refused } from '../faults.ts';
import { answerIdOf } from './beginning.ts';

/** A way to say what a run says: whole, or in pieces. */
export type Saying = {
  readonly whole: (run: FleetRun) => JsonObject;
  readonly opening: readonly StreamEvent[];
  readonly delta: (text: string) => StreamEvent;
  /** What ends a stream that said this. */
  readonly closing: (run: FleetRun, said: string) => readonly StreamEvent[];
};

/** Throws where a run has no answer: it waits for a person, or ended without one. */
export function mustHaveAnswered({ id, status, outcome, questions, session }: FleetRun): void {
  if (status === 'resting')
    throw refused(
      'server/no-answer',
      `The run ${id} waits for a person: ${questions[0]?.question ?? 'it was put to rest.'}`,
      {
        hint: `Answer it on the page, or with POST /api/sessions/${session}/answer.`,
      },
    );
  if (outcome && (outcome.reason === 'answered' || outcome.reason === 'task-complete')) return;
  if (outcome && outcome.text !== '' && (isCut(outcome.reason) || outcome.reason === 'abstained')) return;
  const why = outcome?.error?.message ?? outcome?.detail ?? 'It gave no answer.';
  throw refused('server/no-answer', `The run ${id} ended (${outcome?.reason ?? status}): ${why}`);
}

const isCut = (reason: string): boolean => /^(?:truncated|max-turns|time|.*-budget)$/.test(reason);

const finishOf = ({ outcome }: FleetRun): string => (outcome && isCut(outcome.reason) ? 'length' : 'stop');

const spentIn = ({ outcome }: FleetRun): Pick<Spent, 'input' | 'output' | 'cacheRead'> =>
  outcome?.spent ?? { input: 0, output: 0, cacheRead: 0 };

const chatUsage = (run: FleetRun): JsonObject => {
  const { input, output, cacheRead } = spentIn(run);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
  };
};

/** The way of chat completions. */
export function chatSaying(request: JsonObject, { id }: FleetRun): Saying {
  const base = { ...frame(request, 'chat.completion.chunk'), id: `chatcmpl-${id}` };
  const chunk = (delta: JsonObject, finish: string | null): StreamEvent => ({
    data: { ...base, choices: [{ index: 0, delta, finish_reason: finish }] },
  });
  const options = request['stream_options'] as JsonObject | undefined;
  return {
    whole: (run) => ({
      ...base,
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: run.outcome?.text ?? '', refusal: null },
          logprobs: null,
          finish_reason: finishOf(run),
        },
      ],
      usage: chatUsage(run),
    }),
    opening: [chunk({ role: 'assistant', content: '' }, null)],
    delta: (text) => chunk({ content: text }, null),
    closing: (run) => [
      chunk({}, finishOf(run)),
      ...(options?.['include_usage'] === true ? [{ data: { ...base, choices: [], usage: chatUsage(run) } }] : []),
      { data: '[DONE]' },
    ],
  };
}

/** The way of responses. */
export function responsesSaying(request: JsonObject, begun: FleetRun): Saying {
  const id = answerIdOf(begun);
  const previous = { previous_response_id: request['previous_response_id'] ?? null };
  const ended = (run: FleetRun): JsonObject => {
    const { input, output, cacheRead } = spentIn(run);
    const cut = finishOf(run) === 'length';
    return {
      ...(cut ? { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } } : {}),
      usage: {
        input_tokens: input,
        input_tokens_details: { cached_tokens: cacheRead },
        output_tokens: output,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: input + output,
      },
    };
  };
  const { opening, delta, closing } = speech({ ...finished(request, ''), id, ...previous });
  return {
    whole: (run) => ({ ...finished(request, run.outcome?.text ?? ''), id, ...previous, ...ended(run) }),
    opening,
    delta,
    closing: (run, said) => closing(said, ended(run)),
  };
}
