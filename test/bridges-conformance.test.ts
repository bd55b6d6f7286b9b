// Every bridge for plain clients does the same: one table, and a row for each way in.
import { wrapAnthropic, wrapGoogle, wrapOpenAI } from '../src/bridges/index.ts';
import { conform } from './support/bridge-conformance.ts';
import { anthropicLoop, chatLoop, clients, googleLoop, responsesLoop } from './support/client-loops.ts';

conform([
  {
    name: 'openai, chat completions',
    open: (opening) => chatLoop(wrapOpenAI(clients.openai(opening.url), opening.options), opening),
  },
  {
    name: 'openai, responses',
    open: (opening) => responsesLoop(false)(wrapOpenAI(clients.openai(opening.url), opening.options), opening),
  },
  {
    name: '@anthropic-ai/sdk',
    open: (opening) => anthropicLoop(wrapAnthropic(clients.anthropic(opening.url), opening.options), opening),
  },
  {
    name: '@google/genai',
    open: (opening) => googleLoop(wrapGoogle(clients.google(opening.url), opening.options), opening),
  },
]);
