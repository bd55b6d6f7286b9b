// The same small agent on plain SDK clients, each in a loop of a few lines, as programs without a framework write it.
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI, type Content, type Part } from '@google/genai';
import OpenAI from 'openai';
import type { BridgeLoop, BridgeLoopOptions } from './bridge-conformance.ts';

/** A loop on a client, wrapped or not. */
type ClientLoop<Client> = (client: Client, opening: Pick<BridgeLoopOptions, 'streamed' | 'run'>) => BridgeLoop;

const parameters = { type: 'object' as const, properties: { command: { type: 'string' } }, required: ['command'] };
const toolInfo = { name: 'run', description: 'Runs a command.' };
const noop = (): void => {};
const getCommand = (input: unknown): string => (input as { command: string }).command;

/** Chat completions. */
export const chatLoop: ClientLoop<OpenAI> = (client, { streamed, run }) => {
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'system', content: 'Help.' }];
  const tools = [{ type: 'function' as const, function: { ...toolInfo, parameters } }];
  const ask = async (onPiece: (piece: string) => void): Promise<OpenAI.ChatCompletionMessage> => {
    const request = { model: 'm', messages, tools };
    if (!streamed) return (await client.chat.completions.create(request)).choices[0]!.message;
    const stream = client.chat.completions.stream(request);
    stream.on('chunk', ({ choices }) => onPiece(JSON.stringify(choices[0]?.delta ?? {})));
    return (await stream.finalChatCompletion()).choices[0]!.message;
  };
  return {
    async run(prompt, onPiece = noop) {
      messages.push({ role: 'user', content: prompt });
      for (;;) {
        const { content, tool_calls = [] } = await ask(onPiece);
        messages.push({ role: 'assistant', content, ...(tool_calls.length ? { tool_calls } : {}) });
        if (tool_calls.length === 0) return content ?? '';
        for (const call of tool_calls)
          if (call.type === 'function') {
            const result = run(getCommand(JSON.parse(call.function.arguments)));
            messages.push({ role: 'tool', tool_call_id: call.id, content: result });
          }
      }
    },
  };
};

/** Responses, with the whole conversation in each request or with the conversation stored by the service. */
export const responsesLoop =
  (remembered: boolean): ClientLoop<OpenAI> =>
  (client, { streamed, run }) => {
    let input: OpenAI.Responses.ResponseInputItem[] = [];
    let previous: string | undefined;
    const tools = [{ type: 'function' as const, ...toolInfo, parameters, strict: false }];
    const ask = async (onPiece: (piece: string) => void): Promise<OpenAI.Responses.Response> => {
      const memory = remembered && previous !== undefined ? { previous_response_id: previous } : {};
      const request = { model: 'm', instructions: 'Help.', input, tools, ...memory };
      if (!streamed) return client.responses.create(request);
      const stream = client.responses.stream(request);
      stream.on('event', (event) => onPiece('delta' in event ? event.delta : ''));
      return stream.finalResponse();
    };
    return {
      async run(prompt, onPiece = noop) {
        input.push({ role: 'user', content: prompt });
        for (;;) {
          const { id, output } = await ask(onPiece);
          previous = id;
          const calls = output.filter((item) => item.type === 'function_call');
          const results = calls.map(({ call_id, arguments: given }) => {
            const result = run(getCommand(JSON.parse(given)));
            return { type: 'function_call_output' as const, call_id, output: result };
          });
          const said = output.map((item) => omitParsed(item)) as OpenAI.Responses.ResponseInputItem[];
          input = remembered ? results : [...input, ...said, ...results];
          if (calls.length === 0)
            return output
              .flatMap((item) => (item.type === 'message' ? item.content : []))
              .map((part) => (part.type === 'output_text' ? part.text : ''))
              .join('');
        }
      },
    };
  };

/** Removes the fields that the stream helper adds to items. */
const omitParsed = (item: object): object =>
  JSON.parse(JSON.stringify(item, (key, value: unknown) => (key.startsWith('parsed') ? undefined : value))) as object;

/** Messages. */
export const anthropicLoop: ClientLoop<Anthropic> = (client, { streamed, run }) => {
  const messages: Anthropic.MessageParam[] = [];
  const tools = [{ ...toolInfo, input_schema: parameters }];
  const ask = async (onPiece: (piece: string) => void): Promise<Anthropic.Message> => {
    const request = { model: 'm', max_tokens: 1000, system: 'Help.', messages, tools };
    if (!streamed) return client.messages.create(request);
    const stream = client.messages.stream(request);
    stream.on('streamEvent', (event) => onPiece('delta' in event ? JSON.stringify(event.delta) : ''));
    return stream.finalMessage();
  };
  return {
    async run(prompt, onPiece = noop) {
      messages.push({ role: 'user', content: prompt });
      for (;;) {
        const { content } = await ask(onPiece);
        messages.push({ role: 'assistant', content });
        const calls = content.filter((block) => block.type === 'tool_use');
        if (calls.length === 0) return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
        const results = calls.map(({ id, input }) => {
          const result = run(getCommand(input));
          return { type: 'tool_result' as const, tool_use_id: id, content: result };
        });
        messages.push({ role: 'user', content: results });
      }
    },
  };
};

/** Contents. */
export const googleLoop: ClientLoop<GoogleGenAI> = (client, { streamed, run }) => {
  const contents: Content[] = [];
  const tools = [{ functionDeclarations: [{ ...toolInfo, parametersJsonSchema: parameters }] }];
  const ask = async (onPiece: (piece: string) => void): Promise<readonly Part[]> => {
    const request = { model: 'm', contents, config: { systemInstruction: 'Help.', tools } };
    if (!streamed) return (await client.models.generateContent(request)).candidates?.[0]?.content?.parts ?? [];
    const parts: Part[] = [];
    for await (const { candidates } of await client.models.generateContentStream(request)) {
      const more = candidates?.[0]?.content?.parts ?? [];
      onPiece(more.map((part) => part.text ?? JSON.stringify(part)).join(''));
      parts.push(...more.filter(({ text }) => text !== ''));
    }
    return parts;
  };
  return {
    async run(prompt, onPiece = noop) {
      contents.push({ role: 'user', parts: [{ text: prompt }] });
      for (;;) {
        const parts = await ask(onPiece);
        contents.push({ role: 'model', parts: [...parts] });
        const made = parts.flatMap(({ functionCall }) => (functionCall ? [functionCall] : []));
        if (made.length === 0) return parts.map(({ text }) => text ?? '').join('');
        const results = made.map(({ args }) => {
          const result = run(getCommand(args));
          const response = result.startsWith('Error') ? { error: result } : { output: result };
          return { functionResponse: { name: 'run', response } };
        });
        contents.push({ role: 'user', parts: results });
      }
    },
  };
};

/** The clients, configured with the URL of a server. */
export const createClient = {
  openai: (url: string): OpenAI => new OpenAI({ apiKey: 'k', baseURL: `${url}/v1`, maxRetries: 0 }),
  anthropic: (url: string): Anthropic => new Anthropic({ apiKey: 'k', baseURL: url, maxRetries: 0 }),
  google: (url: string): GoogleGenAI => new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: url } }),
};
