// Handles requests of an MCP server: questions to the user, model sampling, and roots. Each is offered only if it has a handler.
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

/** A question of a server to the user. Its text is the server's, with invisible characters escaped. */
export type Elicitation = {
  readonly server: string;
  readonly message: string;
} & ({ readonly type: 'form'; readonly schema: JsonObject } | { readonly type: 'url'; readonly url: string });

/** The answer of the user. */
export type ElicitationResult =
  | { readonly type: 'accept'; readonly content?: JsonObject }
  | { readonly type: 'decline' }
  | { readonly type: 'cancel' };

/** A request of a server for a model response. */
export type SamplingRequest = {
  readonly server: string;
  readonly system?: string;
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly text: string }[];
  readonly maxTokens: number;
};

/** The response of the model and its usage. The run that called the server pays for it. */
export type SamplingResult = { readonly text: string; readonly model: string; readonly spent?: Partial<UsageTotals> };

/** Handlers of server requests. A missing handler is not offered to the server. */
export type McpClientHandlers = {
  readonly elicit?: (question: Elicitation, signal: AbortSignal) => Promise<ElicitationResult>;
  /** Asks the user, runs the model and returns its response. Throws if the user denies it. */
  readonly sample?: (wish: SamplingRequest, signal: AbortSignal) => Promise<SamplingResult>;
  /** Max model responses per server and session. Default 5. */
  readonly maxSamples?: number;
  /** Folders that are sent to servers as their roots. */
  readonly roots?: readonly string[];
};

const defaultMaxSamples = 5;
const maxSampleTokens = 4096;
const maxTextChars = 20_000;

/** Returns the client capabilities. */
export const clientCapabilities = ({ elicit, sample, roots }: McpClientHandlers): ClientCapabilities => ({
  ...(elicit ? { elicitation: { form: { applyDefaults: true }, url: {} } } : {}),
  ...(sample ? { sampling: {} } : {}),
  ...(roots ? { roots: {} } : {}),
});

/** Counts of one server over all its connections: pending requests, model requests and their usage. */
export type ServerRequestCounts = { pending: number; samples: number; spent?: UsageTotals };

/** Registers handlers for the requests of one server on this client. */
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

/** Forms are flat: nested values in the answer are dropped. */
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
    : '[content that is not text]';
