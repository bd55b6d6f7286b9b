// The same small agent in unmodified frameworks: only their base URL points to the proxy.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { AIMessageChunk, HumanMessage, type BaseMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import {
  Agent,
  OpenAIProvider,
  Runner,
  setTracingDisabled,
  tool as agentTool,
  type AgentInputItem,
} from '@openai/agents';
import { generateText, isStepCount, streamText, tool as sdkTool, type LanguageModel, type ModelMessage } from 'ai';
import { createAgent, tool as chainTool } from 'langchain';
import { z } from 'zod';
import type { BridgeLoop, BridgeLoopOptions } from './bridge-conformance.ts';

/** A framework's agent, at a base URL. */
export type UnmodifiedLoop = (url: string, opening: Pick<BridgeLoopOptions, 'streamed' | 'run'>) => BridgeLoop;

const schema = z.object({ command: z.string() });
const toolInfo = { name: 'run', description: 'Runs a command.' };
const noop = (): void => {};

const createAiSdkLoop =
  (modelAt: (url: string) => LanguageModel): UnmodifiedLoop =>
  (url, { streamed, run }) => {
    const model = modelAt(url);
    const tools = { run: sdkTool({ ...toolInfo, inputSchema: schema, execute: ({ command }) => run(command) }) };
    const messages: ModelMessage[] = [];
    return {
      async run(prompt, onPiece = noop) {
        messages.push({ role: 'user', content: prompt });
        const call = { model, tools, instructions: 'Help.', messages, stopWhen: isStepCount(20), maxRetries: 0 };
        const result = streamed ? streamText(call) : await generateText(call);
        if ('stream' in result)
          for await (const part of result.stream) {
            if (part.type === 'text-delta') onPiece(part.text);
            else if (part.type === 'tool-input-delta') onPiece(part.delta);
            else if (part.type === 'error') throw part.error;
          }
        for (const step of await result.steps) messages.push(...step.response.messages);
        return result.text;
      },
    };
  };

/** The AI SDK on chat completions. */
export const aiSdkChat: UnmodifiedLoop = createAiSdkLoop((url) =>
  createOpenAI({ apiKey: 'k', baseURL: `${url}/v1` }).chat('m'),
);

/** The AI SDK on responses, its default for OpenAI. */
export const aiSdkResponses: UnmodifiedLoop = createAiSdkLoop((url) =>
  createOpenAI({ apiKey: 'k', baseURL: `${url}/v1` })('m'),
);

/** The AI SDK on messages. */
export const aiSdkAnthropic: UnmodifiedLoop = createAiSdkLoop((url) =>
  createAnthropic({ apiKey: 'k', baseURL: `${url}/v1` })('claude-m'),
);

/** LangChain's agent, which is a LangGraph graph. */
export const langChain: UnmodifiedLoop = (url, { streamed, run }) => {
  const model = new ChatOpenAI({ apiKey: 'k', model: 'm', maxRetries: 0, configuration: { baseURL: `${url}/v1` } });
  const tools = [chainTool(({ command }: { command: string }) => run(command), { ...toolInfo, schema })];
  const agent = createAgent({ model, tools, systemPrompt: 'Help.' });
  let history: readonly BaseMessage[] = [];
  return {
    async run(prompt, onPiece = noop) {
      const state = { messages: [...history, new HumanMessage(prompt)] };
      const config = { recursionLimit: 50 };
      if (!streamed) ({ messages: history } = await agent.invoke(state, config));
      else
        for await (const [mode, data] of await agent.stream(state, { ...config, streamMode: ['messages', 'values'] })) {
          if (mode === 'values') ({ messages: history } = data as { messages: BaseMessage[] });
          else if (mode === 'messages' && AIMessageChunk.isInstance(data[0]))
            onPiece(data[0].text + JSON.stringify(data[0].tool_call_chunks ?? []));
        }
      return history.at(-1)?.text ?? '';
    },
  };
};

/** OpenAI's Agents SDK, on responses or on chat completions. */
export const openaiAgents =
  (useResponses: boolean): UnmodifiedLoop =>
  (url, { streamed, run }) => {
    setTracingDisabled(true);
    const modelProvider = new OpenAIProvider({ apiKey: 'k', baseURL: `${url}/v1`, useResponses });
    const runner = new Runner({ modelProvider });
    const tools = [agentTool({ ...toolInfo, parameters: schema, execute: ({ command }) => run(command) })];
    const agent = new Agent({ name: 'a', instructions: 'Help.', model: 'm', tools });
    let history: AgentInputItem[] = [];
    return {
      async run(prompt, onPiece = noop) {
        const input: AgentInputItem[] = [...history, { role: 'user', content: prompt }];
        if (!streamed) {
          const result = await runner.run(agent, input, { maxTurns: 20 });
          ({ history } = result);
          return result.finalOutput ?? '';
        }
        const result = await runner.run(agent, input, { maxTurns: 20, stream: true });
        for await (const event of result)
          if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta')
            onPiece(event.data.delta);
        await result.completed;
        ({ history } = result);
        return result.finalOutput ?? '';
      },
    };
  };
