// A small MCP server without a library, well-behaved or hostile: in process, over sockets and HTTP, or as a program over stdio.
import type { Json, JsonObject } from '../../src/core/index.ts';

/** A message of the protocol, with the members that tests use. */
export type McpMessage = {
  readonly jsonrpc: '2.0';
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: JsonObject;
  readonly result?: JsonObject;
  readonly error?: JsonObject;
};

/** A tool as a server lists it. */
export type ListedTool = { readonly name: string; readonly description?: string } & Readonly<Record<string, Json>>;

/** The behavior of a server. */
export type McpBehaviour = {
  tools: readonly ListedTool[];
  readonly capabilities?: JsonObject;
  /** Returns the result of a call; undefined never responds. */
  readonly call?: (tool: string, args: JsonObject) => JsonObject | undefined | Promise<JsonObject | undefined>;
  readonly other?: (message: McpMessage) => JsonObject | undefined;
};

/** Creates a tool without input. */
export const createListedTool = (name: string, more: Readonly<Record<string, Json>> = {}): ListedTool => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: { a: { type: 'string' } } },
  ...more,
});

/** Creates a text result. */
export const createTextResult = (said: string, more: JsonObject = {}): JsonObject => ({
  content: [{ type: 'text', text: said }],
  ...more,
});

/** Returns the response to a message, if any. */
export async function answerMcpMessage(behaviour: McpBehaviour, message: McpMessage): Promise<McpMessage | undefined> {
  const { id, method, params = {} } = message;
  if (id === undefined || method === undefined) return undefined;
  const result = await getMcpResult(behaviour, message, method, params);
  if (result === null) return undefined;
  const error = { code: -32_601, message: `There is no method ${method}.` };
  return result ? { jsonrpc: '2.0', id, result } : { jsonrpc: '2.0', id, error };
}

async function getMcpResult(
  behaviour: McpBehaviour,
  message: McpMessage,
  method: string,
  params: JsonObject,
): Promise<JsonObject | null | undefined> {
  const { tools, capabilities = { tools: { listChanged: true } }, call, other } = behaviour;
  if (method === 'initialize')
    return { protocolVersion: params['protocolVersion'] ?? '', capabilities, serverInfo: { name: 't', version: '1' } };
  if (method === 'tools/list') return { tools: tools as unknown as Json };
  if (method === 'tools/call')
    return (await call?.(String(params['name']), (params['arguments'] ?? {}) as JsonObject)) ?? null;
  if (method === 'ping') return {};
  return other?.(message);
}

/** One end of a pair of transports. */
type TransportEnd = {
  start(): Promise<void>;
  send(message: never): Promise<void>;
};

/** Serves on this end. */
export const serveMcpOn =
  (behaviour: McpBehaviour) =>
  async (end: TransportEnd): Promise<void> => {
    const take = async (message: McpMessage): Promise<void> => {
      const answer = await answerMcpMessage(behaviour, message);
      if (answer) await end.send(answer as never);
    };
    Object.assign(end, { onmessage: (message: McpMessage) => void take(message) });
    await end.start();
  };
