// Every bridge for plain clients does the same: one table, and a row for each way in.
import { wrapAnthropic, wrapGoogle, wrapOpenAI } from '../src/bridges/index.ts';
import { testBridges } from './support/bridge-conformance.ts';
import { anthropicLoop, chatLoop, createClient, googleLoop, responsesLoop } from './support/client-loops.ts';

testBridges([
  {
    name: 'openai, chat completions',
    open: (opening) => chatLoop(wrapOpenAI(createClient.openai(opening.url), opening.options), opening),
  },
  {
    name: 'openai, responses',
    open: (opening) => responsesLoop(false)(wrapOpenAI(createClient.openai(opening.url), opening.options), opening),
  },
  {
    name: '@anthropic-ai/sdk',
    open: (opening) => anthropicLoop(wrapAnthropic(createClient.anthropic(opening.url), opening.options), opening),
  },
  {
    name: '@google/genai',
    open: (opening) => googleLoop(wrapGoogle(createClient.google(opening.url), opening.options), opening),
  },
]);
