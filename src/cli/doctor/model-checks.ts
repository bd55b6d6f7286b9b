// What the model must do: be reached, be known, call a tool when asked to, and hold enough.
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
import { formatEndpoint } from '../../coding-agent/models/resolve-model.ts';
import { readKnownModels } from '../../coding-agent/state/index.ts';
import { fail, ok, warn, type DoctorCheck, type CheckResult, type CheckContext, type TargetModel } from './check.ts';

const answerTimeoutMs = 120_000;
/** Room for a model that thinks before it calls. */
const maxOutputTokens = 1024;
const minContextTokens = 8000;

const providerCheck: DoctorCheck = {
  name: 'provider',
  needsNetwork: true,
  async run({ target }) {
    const { model, testConnection } = await target();
    const said = await testConnection();
    if (said !== undefined) return ok(said);
    if (model) return ok(`${model.name} needs no provider elsewhere.`);
    return warn(
      'No provider is configured and none was found, so the embedded model would be used: small, slow and often wrong.',
      'Set a key such as ANTHROPIC_API_KEY, or start a model server such as Ollama.',
    );
  },
};

const modelCheck: DoctorCheck = {
  name: 'model',
  needsNetwork: true,
  async run({ settings, target }) {
    const { model, endpoint, reason } = requireModel(await target());
    const refresh = 'Read the list: fairlead --one-shot --refresh-models';
    if (!model) return warn('No model was chosen yet, and no list of models is kept.', refresh);
    const listed = (readKnownModels(settings) ?? []).find(({ id }) => id === model.ref.model);
    const which = `${model.name} (${reason})`;
    if (listed || !endpoint)
      return ok(`${which}${listed ? ` is on the list of ${formatEndpoint(endpoint ?? model.ref)}` : ''}.`);
    return warn(`${which} is on no list, so what it can do is not known.`, refresh);
  },
};

const toolCallingCheck: DoctorCheck = {
  name: 'tool calling',
  needsNetwork: true,
  async run(ground) {
    const { model, open, testConnection } = requireModel(await ground.target());
    if (!model) return warn('Not tried: there is no model to try it with.', 'Choose one: --model <name>');
    if (model.tools === false)
      return warn(
        `By its list ${model.name} cannot call tools, so it can only talk.`,
        chooseModelHint(model.ref.provider),
      );
    await testConnection();
    const number = 100 + Math.floor(Math.random() * 900);
    const began = performance.now();
    const time = AbortSignal.timeout(answerTimeoutMs);
    const provider = await open();
    const end = await readToolCall(
      provider.stream(createToolCallRequest(number), AbortSignal.any([ground.signal, time])),
      time,
    );
    if (end === 'late')
      return fail(
        `${model.name} did not answer within ${answerTimeoutMs / 1000} s.`,
        'Take a smaller model, or a faster machine.',
      );
    const took = `${((performance.now() - began) / 1000).toFixed(1)} s`;
    return judgeToolCall(end, number, model.name, model.ref.provider, took);
  },
};

/** The subject, unless the model that was asked for is none. */
function requireModel(subject: TargetModel): TargetModel {
  if (subject.error) throw subject.error;
  return subject;
}

const chooseModelHint = (provider: string): string => `Choose another: fairlead models ${provider} --tools`;

const createToolCallRequest = (number: number): ModelRequest => ({
  system: 'You are being tried out. Do exactly what you are asked.',
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
  settings: { maxOutputTokens: maxOutputTokens },
});

type StreamEnd = Chunk & { readonly type: 'end' };

async function readToolCall(chunks: AsyncIterable<Chunk>, time: AbortSignal): Promise<StreamEnd | undefined | 'late'> {
  let end: StreamEnd | undefined;
  try {
    for await (const chunk of chunks) if (chunk.type === 'end') end = chunk;
  } catch (error) {
    if (time.aborted) return 'late';
    throw error;
  }
  return end;
}

/** What came back, word for word where it is not what was asked for. */
function judgeToolCall(
  end: StreamEnd | undefined,
  number: number,
  name: string,
  provider: string,
  took: string,
): CheckResult {
  const parts = end?.message.parts ?? [];
  const call = parts.find((part) => part.type === 'tool-call');
  if (call && call.invalid === undefined && getNumberInput(call.input) === number)
    return ok(`${name} called the tool as asked (${took}, ${end?.usage.output ?? '?'} tokens).`);
  if (call)
    return warn(
      `${name} called ${call.tool} with ${truncateLine(call.invalid ?? JSON.stringify(call.input))} instead of {"number":${number}} (${took}).`,
      `Expect wrong calls, or take a larger model. ${chooseModelHint(provider)}`,
    );
  const words = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return fail(
    `${name} called no tool; it ${words ? `said: ${truncateLine(words)}` : 'said nothing'} (${end?.finishReason ?? 'no end'}, ${took}).`,
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
  async run(ground) {
    const { model, open, testConnection } = requireModel(await ground.target());
    if (!model) return warn('Not looked at: there is no model to look at.', 'Choose one: --model <name>');
    await testConnection();
    const { contextWindow: told } = await open();
    const set = await readOllamaContext(ground);
    const tokens = set ?? told;
    if (tokens === undefined)
      return warn(
        `Nobody says how much ${model.name} can hold, so a conversation that is too long is only noticed when it is refused.`,
        'Read the list again: fairlead --one-shot --refresh-models',
      );
    const how = set === undefined ? '' : ' (sent to Ollama as num_ctx with every request)';
    const says = `${model.name} holds ${tokens} tokens${how}.`;
    return tokens < minContextTokens
      ? warn(`${says} That is little for work with tools.`, 'Take a model with a larger window.')
      : ok(says);
  },
};

/** What Ollama will really be told to hold; nothing for other providers. */
async function readOllamaContext({ target, settings, signal }: CheckContext): Promise<number | undefined> {
  const { model, endpoint } = await target();
  if (!model || !endpoint) return undefined;
  const { family, baseUrl, model: name, contextWindow } = resolveModel(model.ref, settings.env);
  if (family.protocol !== 'ollama') return undefined;
  const { resolveOllamaContextWindow } = await import('../../providers/ollama/context-window.ts');
  return resolveOllamaContextWindow(baseUrl, name, contextWindow, { signal });
}

/** The checks of the model. */
export const modelChecks: readonly DoctorCheck[] = [providerCheck, modelCheck, toolCallingCheck, contextWindowCheck];
