// Every bridge for plain clients behaves the same: one table, with a row for each entry point.
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
