// The same small agent in every framework that has a bridge: a model that may call `run`, driven by the framework's own loop.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import * as messages from '@langchain/core/messages';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import {
  Agent,
  OpenAIProvider,
  Runner,
  setTracingDisabled,
  tool as agentTool,
  type AgentInputItem,
} from '@openai/agents';
import { generateText, isStepCount, streamText, tool as sdkTool, wrapLanguageModel, type ModelMessage } from 'ai';
import { createAgent, tool as chainTool } from 'langchain';
import { z } from 'zod';
import { fairleadMiddleware } from '../../src/bridges/ai-sdk/index.ts';
import type { BridgeOptions } from '../../src/bridges/model-intercept/options.ts';
import { fairleadMiddleware as agentMiddleware, wrapChatModel } from '../../src/bridges/langchain/index.ts';
import { wrapModel as guideAgentModel, wrapModelProvider } from '../../src/bridges/openai-agents/index.ts';

/** A user of an agent: sends a prompt and reads the answer, to its end or until it stops reading. */
export type FrameworkLoop = {
  /** Returns the final text. `onPiece` gets each text chunk and the name and arguments of each call that the framework shows. */
  run(prompt: string, onPiece?: (piece: string) => void, signal?: AbortSignal): Promise<string>;
};

/** The options of a loop. */
export type FrameworkLoopOptions = {
  readonly url: string;
  readonly options: BridgeOptions;
  readonly streamed: boolean;
  readonly run: (command: string) => string;
};

/** A framework by name: opened once, it supports any number of conversations. */
export type FrameworkCase = { readonly name: string; open(opening: FrameworkLoopOptions): () => FrameworkLoop };

const schema = z.object({ command: z.string() });
const toolInfo = { name: 'run', description: 'Runs a command.' };
const noop = (): void => {};

function createAiSdkLoop(
  opening: FrameworkLoopOptions,
  given: Parameters<typeof wrapLanguageModel>[0]['model'],
): () => FrameworkLoop {
  const { options, streamed, run } = opening;
  const model = wrapLanguageModel({ model: given, middleware: fairleadMiddleware(options) });
  const tools = { run: sdkTool({ ...toolInfo, inputSchema: schema, execute: ({ command }) => run(command) }) };
  return () => {
    const history: ModelMessage[] = [];
    return {
      async run(prompt, onPiece = noop, signal = new AbortController().signal) {
        history.push({ role: 'user', content: prompt });
        const call = {
          model,
          tools,
          instructions: 'Help.',
          messages: history,
          stopWhen: isStepCount(20),
          maxRetries: 0,
          abortSignal: signal,
        };
        const result = streamed ? streamText({ ...call, onError: noop }) : await generateText(call);
        if ('stream' in result)
          for await (const part of result.stream) {
            if (part.type === 'text-delta') onPiece(part.text);
            else if (part.type === 'tool-input-delta') onPiece(part.delta);
            else if (part.type === 'error') throw part.error;
          }
        const steps = await result.steps;
        history.push(...steps.flatMap((step) => step.response.messages));
        return result.text;
      },
    };
  };
}

const createChainModel = (url: string): ChatOpenAI =>
  new ChatOpenAI({ apiKey: 'k', model: 'm', maxRetries: 0, configuration: { baseURL: `${url}/v1` } });

const createChainTool = (run: FrameworkLoopOptions['run']) =>
  chainTool(({ command }: { command: string }) => run(command), { ...toolInfo, schema });

type Chunk = { readonly text: string; readonly tool_call_chunks?: readonly { readonly args?: string | undefined }[] };

function emitChunk(chunk: Chunk, onPiece: (piece: string) => void): void {
  if (chunk.text) onPiece(chunk.text);
  for (const { args } of chunk.tool_call_chunks ?? []) if (args) onPiece(args);
}

/** Any LangGraph runnable with messages as its state. */
type Graph = {
  invoke(state: object, config: object): Promise<{ readonly messages: messages.BaseMessage[] }>;
  stream(state: object, config: object): Promise<AsyncIterable<readonly [string, unknown]>>;
};

const createGraphLoop = (graph: Graph, streamed: boolean) => (): FrameworkLoop => {
  let history: messages.BaseMessage[] = [];
  return {
    async run(prompt, onPiece = noop, signal) {
      const state = { messages: [...history, new messages.HumanMessage(prompt)] };
      const config = { recursionLimit: 50, ...(signal ? { signal } : {}) };
      if (streamed)
        for await (const [mode, data] of await graph.stream(state, { ...config, streamMode: ['messages', 'values'] })) {
          if (mode === 'messages') {
            const [message] = data as [messages.BaseMessage];
            if (message.type === 'ai') emitChunk(message, onPiece);
          } else ({ messages: history } = data as { messages: messages.BaseMessage[] });
        }
      else ({ messages: history } = await graph.invoke(state, config));
      return history.at(-1)?.text ?? '';
    },
  };
};

const createAgentsTool = (run: FrameworkLoopOptions['run']) =>
  agentTool({ ...toolInfo, parameters: schema, execute: ({ command }) => run(command) });

const createAgentsLoop = (runner: Runner, agent: Agent, streamed: boolean) => (): FrameworkLoop => {
  let history: AgentInputItem[] = [];
  return {
    async run(prompt, onPiece = noop, signal = new AbortController().signal) {
      const input: AgentInputItem[] = [...history, { role: 'user', content: prompt }];
      if (!streamed) {
        const result = await runner.run(agent, input, { maxTurns: 20, signal });
        ({ history } = result);
        return result.finalOutput ?? '';
      }
      const result = await runner.run(agent, input, { maxTurns: 20, stream: true, signal });
      for await (const event of result)
        if (event.type === 'raw_model_stream_event') {
          if (event.data.type === 'output_text_delta') onPiece(event.data.delta);
          else if (event.data.type === 'model') onPiece(JSON.stringify(event.data.event));
        }
      await result.completed;
      ({ history } = result);
      return result.finalOutput ?? '';
    },
  };
};

setTracingDisabled(true);

/** Every framework that has a bridge, with every entry point. */
export const frameworkCases: readonly FrameworkCase[] = [
  {
    name: 'AI SDK, chat completions',
    open: (opening) =>
      createAiSdkLoop(
        opening,
        createOpenAICompatible({ name: 'x', baseURL: `${opening.url}/v1`, includeUsage: true })('m'),
      ),
  },
  {
    name: 'AI SDK, Anthropic',
    open: (opening) =>
      createAiSdkLoop(opening, createAnthropic({ apiKey: 'k', baseURL: `${opening.url}/v1` })('claude-x')),
  },
  {
    name: 'LangChain agent with a middleware',
    open: ({ url, options, streamed, run }) =>
      createGraphLoop(
        createAgent({
          model: createChainModel(url),
          tools: [createChainTool(run)],
          systemPrompt: 'Help.',
          middleware: [agentMiddleware({ ...options, messages })],
        }) as unknown as Graph,
        streamed,
      ),
  },
  {
    name: 'LangGraph with a wrapped model',
    open({ url, options, streamed, run }) {
      const tools = [createChainTool(run)];
      const model = wrapChatModel(createChainModel(url), { ...options, messages }).bindTools(tools);
      const ask = async ({ messages: said }: typeof MessagesAnnotation.State) => ({
        messages: [await model.invoke([new messages.SystemMessage('Help.'), ...said])],
      });
      const graph = new StateGraph(MessagesAnnotation)
        .addNode('model', ask)
        .addNode('tools', new ToolNode(tools))
        .addEdge(START, 'model')
        .addEdge('tools', 'model')
        .addConditionalEdges('model', ({ messages: said }) => {
          const last = said.at(-1);
          return last && messages.AIMessage.isInstance(last) && last.tool_calls?.length ? 'tools' : END;
        });
      return createGraphLoop(graph.compile() as unknown as Graph, streamed);
    },
  },
  {
    name: 'OpenAI Agents, a wrapped model',
    open({ url, options, streamed, run }) {
      const provider = new OpenAIProvider({ apiKey: 'k', baseURL: `${url}/v1`, useResponses: false });
      const model = provider.getModel('m').then((each) => guideAgentModel(each, options));
      const runner = new Runner({ modelProvider: { getModel: () => model } });
      return createAgentsLoop(
        runner,
        new Agent({ name: 'a', instructions: 'Help.', model: 'm', tools: [createAgentsTool(run)] }),
        streamed,
      );
    },
  },
  {
    name: 'OpenAI Agents, a wrapped provider',
    open({ url, options, streamed, run }) {
      const provider = new OpenAIProvider({ apiKey: 'k', baseURL: `${url}/v1`, useResponses: true });
      const runner = new Runner({ modelProvider: wrapModelProvider(provider, options) });
      return createAgentsLoop(
        runner,
        new Agent({ name: 'a', instructions: 'Help.', model: 'gpt-x', tools: [createAgentsTool(run)] }),
        streamed,
      );
    },
  },
];
