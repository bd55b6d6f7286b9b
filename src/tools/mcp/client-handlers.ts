// What a server may ask of us: a question to the person, an answer of a model, the folders it may work in. Each only where somebody answers it.
import type { Client, ClientCapabilities, CreateMessageRequest, ElicitRequest } from '@modelcontextprotocol/client';
import { pathToFileURL } from 'node:url';
import {
  isObject,
  zeroUsage,
  addUsage,
  toJson,
  escapeInvisible,
  escapeInvisibleLine,
  type Json,
  type JsonObject,
  type UsageTotals,
} from '../../core/index.ts';

/** A question of a server to the person. Its words are the server's own, made visible. */
export type Elicitation = {
  readonly server: string;
  readonly message: string;
} & ({ readonly type: 'form'; readonly schema: JsonObject } | { readonly type: 'url'; readonly url: string });

/** What the person answered. */
export type ElicitationResult =
  | { readonly type: 'accept'; readonly content?: JsonObject }
  | { readonly type: 'decline' }
  | { readonly type: 'cancel' };

/** A server's wish for an answer of a model. */
export type SamplingRequest = {
  readonly server: string;
  readonly system?: string;
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly text: string }[];
  readonly maxTokens: number;
};

/** What the model answered, and what that used up: the run that called the server pays for it. */
export type SamplingResult = { readonly text: string; readonly model: string; readonly spent?: Partial<UsageTotals> };

/** Who answers a server. What is absent is not offered to it at all. */
export type McpClientHandlers = {
  readonly elicit?: (question: Elicitation, signal: AbortSignal) => Promise<ElicitationResult>;
  /** Asks the person, runs the model and says what it answered; throws where that is refused. */
  readonly sample?: (wish: SamplingRequest, signal: AbortSignal) => Promise<SamplingResult>;
  /** How many answers of a model one server may have in a session; 5 unless given. */
  readonly maxSamples?: number;
  /** Folders that servers are told they may work in. */
  readonly roots?: readonly string[];
};

const defaultMaxSamples = 5;
const maxSampleTokens = 4096;
const maxTextChars = 20_000;

/** What we say we can do for a server. */
export const clientCapabilities = ({ elicit, sample, roots }: McpClientHandlers): ClientCapabilities => ({
  ...(elicit ? { elicitation: { form: { applyDefaults: true }, url: {} } } : {}),
  ...(sample ? { sampling: {} } : {}),
  ...(roots ? { roots: {} } : {}),
});

/** How often a server asked us, over all of its connections: what waits for an answer now, and what a model was asked and what that used up. */
export type ServerRequestCounts = { pending: number; samples: number; spent?: UsageTotals };

/** Answers the requests of one server on this client. */
export function registerClientHandlers(
  client: Client,
  server: string,
  answerers: McpClientHandlers,
  count: ServerRequestCounts,
): void {
  const { elicit, sample, roots, maxSamples = defaultMaxSamples } = answerers;
  if (roots)
    client.setRequestHandler('roots/list', () => ({
      roots: roots.map((folder) => ({ uri: pathToFileURL(folder).href })),
    }));
  if (elicit)
    client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq: { signal } }) => {
      const answer = await whilePending(count, () => elicit(toElicitation(server, params), signal));
      if (answer.type !== 'accept') return { action: answer.type };
      return { action: 'accept', ...(answer.content ? { content: flattenContent(answer.content) } : {}) };
    });
  if (sample)
    client.setRequestHandler('sampling/createMessage', async ({ params }, { mcpReq: { signal } }) => {
      if (count.samples >= maxSamples) throw new Error(`This session answers at most ${maxSamples} such requests.`);
      count.samples++;
      const { text, model, spent } = await whilePending(count, () => sample(toSamplingRequest(server, params), signal));
      if (spent) count.spent = addUsage(count.spent ?? zeroUsage, spent);
      return { role: 'assistant', content: { type: 'text', text }, model };
    });
}

async function whilePending<T>(count: ServerRequestCounts, work: () => Promise<T>): Promise<T> {
  count.pending++;
  try {
    return await work();
  } finally {
    count.pending--;
  }
}

function toElicitation(server: string, params: ElicitRequest['params']): Elicitation {
  const message = escapeInvisible(params.message).slice(0, maxTextChars);
  if (params.mode === 'url') return { type: 'url', server, message, url: escapeInvisibleLine(params.url) };
  return { type: 'form', server, message, schema: toJson(params.requestedSchema) as JsonObject };
}

/** Forms are flat: anything else in the answer is left out. */
function flattenContent(content: JsonObject): Record<string, string | number | boolean | string[]> {
  const isPlain = (value: Json): value is string | number | boolean | string[] =>
    ['string', 'number', 'boolean'].includes(typeof value) ||
    (Array.isArray(value) && value.every((each) => typeof each === 'string'));
  const kept = Object.entries(content).filter((entry): entry is [string, string | number | boolean | string[]] =>
    isPlain(entry[1]),
  );
  return Object.fromEntries(kept);
}

function toSamplingRequest(server: string, params: CreateMessageRequest['params']): SamplingRequest {
  const { systemPrompt, messages, maxTokens } = params;
  return {
    server,
    ...(systemPrompt === undefined ? {} : { system: escapeInvisible(systemPrompt).slice(0, maxTextChars) }),
    messages: messages.slice(-50).map(({ role, content }) => ({
      role,
      text: [content].flat().map(contentText).join('\n').slice(0, maxTextChars),
    })),
    maxTokens: Math.min(maxTokens, maxSampleTokens),
  };
}

const contentText = (block: unknown): string =>
  isObject(block) && block['type'] === 'text' && typeof block['text'] === 'string'
    ? escapeInvisible(block['text'])
    : '[something that is no text]';
