// The proxy guides clients and frameworks that know nothing of it: only their base URL is another.
import { openProxy } from '../src/bridges/index.ts';
import { conform, type Loop, type Row } from './support/bridge-conformance.ts';
import { anthropicLoop, chatLoop, clients, googleLoop, responsesLoop } from './support/client-loops.ts';
import {
  aiSdkAnthropic,
  aiSdkChat,
  aiSdkResponses,
  langChain,
  openaiAgents,
  type Unmodified,
} from './support/unmodified-loops.ts';

/** A row whose model is behind a proxy. */
const proxied = (name: string, loopAt: Unmodified): Row => ({
  name: `${name}, through the proxy`,
  open(opening) {
    const { url: target, options, atEnd } = opening;
    const { limits, system } = options;
    const guiding = { ...(limits ? { limits } : {}), ...(system ? { system } : {}), extensions: [options] };
    const opened = openProxy({ target, port: 0, ...guiding });
    atEnd(async () => (await opened).close());
    let loop: Loop | undefined;
    return {
      async say(prompt, onPiece) {
        loop ??= loopAt((await opened).url, opening);
        return loop.say(prompt, onPiece);
      },
    };
  },
});

conform([
  proxied('openai, chat completions', (url, opening) => chatLoop(clients.openai(url), opening)),
  proxied('openai, responses', (url, opening) => responsesLoop(false)(clients.openai(url), opening)),
  proxied('@anthropic-ai/sdk', (url, opening) => anthropicLoop(clients.anthropic(url), opening)),
  proxied('@google/genai', (url, opening) => googleLoop(clients.google(url), opening)),
  proxied('AI SDK, chat completions', aiSdkChat),
  proxied('AI SDK, responses', aiSdkResponses),
  proxied('AI SDK, Anthropic', aiSdkAnthropic),
  proxied('LangChain', langChain),
  proxied('OpenAI Agents, responses', openaiAgents(true)),
  proxied('OpenAI Agents, chat completions', openaiAgents(false)),
]);
