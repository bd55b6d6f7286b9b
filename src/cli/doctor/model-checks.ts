// Checks the model: its provider answers, it is listed, it calls a tool when asked, and its context window is large enough.
import {
  isObject,
  createPersistentList,
  escapeInvisibleLine,
  type Chunk,
  type Json,
  type Message,
  type ModelRequest,
} from '../../core/index.ts';
import { resolveModel } from '../../providers/index.ts';
import { formatEndpoint } from '../../coding-agent/models/index.ts';
import { readKnownModels } from '../../coding-agent/state/index.ts';
import { fail, ok, warn, type DoctorCheck, type CheckResult, type CheckContext, type TargetModel } from './check.ts';

const answerTimeoutMs = 120_000;
/** Enough for a model that reasons before it calls. */
const maxOutputTokens = 1024;
const minContextTokens = 8000;

const providerCheck: DoctorCheck = {
  name: 'provider',
  needsNetwork: true,
  async run({ target }) {
    const { model, testConnection } = await target();
    const answer = await testConnection();
    if (answer !== undefined) return ok(answer);
    if (model) return ok(`${model.name} needs no external provider.`);
    return warn(
      'No model is configured, and no model server answers on this machine.',
      'Start a model server such as Ollama, enter a key with fairlead login, or use fairlead --model embedded.',
    );
  },
};

const modelCheck: DoctorCheck = {
  name: 'model',
  needsNetwork: true,
  async run({ settings, target }) {
    const { model, endpoint, reason } = requireModel(await target());
    const refresh = 'Fetch the list: fairlead --one-shot --refresh-models';
    if (!model) return warn('No model is selected, and there is no list of models.', refresh);
    const listed = (readKnownModels(settings) ?? []).find(({ id }) => id === model.ref.model);
    const label = `${model.name} (${reason})`;
    if (listed || !endpoint)
      return ok(`${label}${listed ? ` is in the list of ${formatEndpoint(endpoint ?? model.ref)}` : ''}.`);
    return warn(`${label} is in no list, so its capabilities are unknown.`, refresh);
  },
};

const toolCallingCheck: DoctorCheck = {
  name: 'tool calling',
  needsNetwork: true,
  async run(context) {
    const { model, open, testConnection } = requireModel(await context.target());
    if (!model) return warn('Not tested: there is no model.', 'Select one: --model <name>');
    if (model.tools === false)
      return warn(
        `${model.name} cannot call tools according to its list, so it only answers with text.`,
        chooseModelHint(model.ref.provider),
      );
    await testConnection();
    const number = 100 + Math.floor(Math.random() * 900);
    const startedAt = performance.now();
    const timeout = AbortSignal.timeout(answerTimeoutMs);
    const provider = await open();
    const end = await readToolCall(
      provider.stream(createToolCallRequest(number), AbortSignal.any([context.signal, timeout])),
      timeout,
    );
    if (end === 'timeout')
      return fail(
        `${model.name} did not answer within ${answerTimeoutMs / 1000} s.`,
        'Use a smaller model, or a faster machine.',
      );
    const duration = `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
    return judgeToolCall(end, number, model.name, model.ref.provider, duration);
  },
};

/** Returns the target, or throws if the requested model cannot be used. */
function requireModel(target: TargetModel): TargetModel {
  if (target.error) throw target.error;
  return target;
}

const chooseModelHint = (provider: string): string => `Select another: fairlead models ${provider} --tools`;

const createToolCallRequest = (number: number): ModelRequest => ({
  system: 'This is a test. Do exactly what you are asked.',
  tools: [
    {
      name: 'report_number',
      description: 'Reports a number.',
      input: {
        type: 'object',
        properties: { number: { type: 'integer' } },
        required: ['number'],
        additionalProperties: false,
      },
    },
  ],
  messages: createPersistentList<Message>([
    {
      role: 'user',
      parts: [{ type: 'text', text: `Call the tool report_number with the number ${number}. Say nothing else.` }],
    },
  ]),
  toolChoice: 'auto',
  settings: { maxOutputTokens },
});

type StreamEnd = Chunk & { readonly type: 'end' };

async function readToolCall(
  chunks: AsyncIterable<Chunk>,
  timeout: AbortSignal,
): Promise<StreamEnd | undefined | 'timeout'> {
  let end: StreamEnd | undefined;
  try {
    for await (const chunk of chunks) if (chunk.type === 'end') end = chunk;
  } catch (error) {
    if (timeout.aborted) return 'timeout';
    throw error;
  }
  return end;
}

/** Judges the answer; anything other than the requested call is quoted. */
function judgeToolCall(
  end: StreamEnd | undefined,
  number: number,
  name: string,
  provider: string,
  duration: string,
): CheckResult {
  const parts = end?.message.parts ?? [];
  const call = parts.find((part) => part.type === 'tool-call');
  if (call && call.invalid === undefined && getNumberInput(call.input) === number)
    return ok(`${name} called the tool as asked (${duration}, ${end?.usage.output ?? '?'} tokens).`);
  if (call)
    return warn(
      `${name} called ${call.tool} with ${truncateLine(call.invalid ?? JSON.stringify(call.input))} instead of {"number":${number}} (${duration}).`,
      `Expect wrong calls, or use a larger model. ${chooseModelHint(provider)}`,
    );
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return fail(
    `${name} called no tool; it ${text ? `answered: ${truncateLine(text)}` : 'answered nothing'} (${end?.finishReason ?? 'no end'}, ${duration}).`,
    chooseModelHint(provider),
  );
}

const getNumberInput = (input: Json): unknown => (isObject(input) ? input['number'] : undefined);

const truncateLine = (text: string): string => {
  const line = escapeInvisibleLine(text.trim());
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
};

const contextWindowCheck: DoctorCheck = {
  name: 'context window',
  needsNetwork: true,
  async run(context) {
    const { model, open, testConnection } = requireModel(await context.target());
    if (!model) return warn('Not tested: there is no model.', 'Select one: --model <name>');
    await testConnection();
    const { contextWindow } = await open();
    const ollamaContext = await readOllamaContext(context);
    const tokens = ollamaContext ?? contextWindow;
    if (tokens === undefined)
      return warn(
        `The context window of ${model.name} is unknown, so a conversation that is too long is only noticed when the provider rejects it.`,
        'Fetch the list again: fairlead --one-shot --refresh-models',
      );
    const detail = ollamaContext === undefined ? '' : ' (sent to Ollama as num_ctx with every request)';
    const summary = `${model.name} has a context window of ${tokens} tokens${detail}.`;
    return tokens < minContextTokens
      ? warn(`${summary} That is small for work with tools.`, 'Use a model with a larger window.')
      : ok(summary);
  },
};

/** Returns the context window that is requested from Ollama; undefined for other providers. */
async function readOllamaContext({ target, settings, signal }: CheckContext): Promise<number | undefined> {
  const { model, endpoint } = await target();
  if (!model || !endpoint) return undefined;
  const { family, baseUrl, model: name, contextWindow } = resolveModel(model.ref, settings.env);
  if (family.protocol !== 'ollama') return undefined;
  const { resolveOllamaContextWindow } = await import('../../providers/ollama/index.ts');
  return resolveOllamaContextWindow(baseUrl, name, contextWindow, { signal });
}

/** The checks of the model. */
export const modelChecks: readonly DoctorCheck[] = [providerCheck, modelCheck, toolCallingCheck, contextWindowCheck];
