// The proxy intercepts unmodified clients and frameworks: only their base URL changes.
import { openProxy } from '../src/bridges/index.ts';
import { testBridges, type BridgeLoop, type BridgeCase } from './support/bridge-conformance.ts';
import { anthropicLoop, chatLoop, createClient, googleLoop, responsesLoop } from './support/client-loops.ts';
import {
  aiSdkAnthropic,
  aiSdkChat,
  aiSdkResponses,
  langChain,
  openaiAgents,
  type UnmodifiedLoop,
} from './support/unmodified-loops.ts';

/** A row whose model is behind a proxy. */
const createProxiedCase = (name: string, loopAt: UnmodifiedLoop): BridgeCase => ({
  name: `${name}, through the proxy`,
  open(opening) {
    const { url: target, options, onEnd } = opening;
    const { limits, system } = options;
    const guiding = { ...(limits ? { limits } : {}), ...(system ? { system } : {}), extensions: [options] };
    const opened = openProxy({ target, port: 0, ...guiding });
    onEnd(async () => (await opened).close());
    let loop: BridgeLoop | undefined;
    return {
      async run(prompt, onPiece) {
        loop ??= loopAt((await opened).url, opening);
        return loop.run(prompt, onPiece);
      },
    };
  },
});

testBridges([
  createProxiedCase('openai, chat completions', (url, opening) => chatLoop(createClient.openai(url), opening)),
  createProxiedCase('openai, responses', (url, opening) => responsesLoop(false)(createClient.openai(url), opening)),
  createProxiedCase('@anthropic-ai/sdk', (url, opening) => anthropicLoop(createClient.anthropic(url), opening)),
  createProxiedCase('@google/genai', (url, opening) => googleLoop(createClient.google(url), opening)),
  createProxiedCase('AI SDK, chat completions', aiSdkChat),
  createProxiedCase('AI SDK, responses', aiSdkResponses),
  createProxiedCase('AI SDK, Anthropic', aiSdkAnthropic),
  createProxiedCase('LangChain', langChain),
  createProxiedCase('OpenAI Agents, responses', openaiAgents(true)),
  createProxiedCase('OpenAI Agents, chat completions', openaiAgents(false)),
]);
