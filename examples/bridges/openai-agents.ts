// Applies rules to the OpenAI Agents SDK: every agent of the runner, without a change to the agents.
import assert from 'node:assert/strict';
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents';
import { wrapModelProvider } from 'fairlead/bridges/openai-agents';
import { compileRuleSet, requireOrder } from 'fairlead/rules';
import { memoryLog } from 'fairlead/stores';
import { calls, says, scriptedServer } from 'fairlead/testing';
import { z } from 'zod';

await using server = await scriptedServer([
  calls('deploy', { to: 'production' }),
  calls('run_tests', {}),
  calls('deploy', { to: 'production' }),
  says('Tested and deployed.'),
]);
setTracingDisabled(true);
const openai = new OpenAIProvider({ apiKey: 'none', baseURL: `${server.url}/v1`, useResponses: false });

const log = memoryLog();
const rules = compileRuleSet({ name: 'release', gates: [requireOrder(['run_tests', 'deploy'])] });
const runner = new Runner({ modelProvider: wrapModelProvider(openai, { ...rules, log }) });

const done: string[] = [];
const agent = new Agent({
  name: 'release',
  instructions: 'You release.',
  model: 'any-model',
  tools: [
    tool({
      name: 'run_tests',
      description: 'Tests.',
      parameters: z.object({}),
      execute: () => `${done.push('tested')}`,
    }),
    tool({
      name: 'deploy',
      description: 'Deploys.',
      parameters: z.object({ to: z.string() }),
      execute: () => `${done.push('deployed')}`,
    }),
  ],
});
const { finalOutput } = await runner.run(agent, 'Deploy the release to production.');

assert.equal(finalOutput, 'Tested and deployed.');
assert.deepEqual(done, ['tested', 'deployed']);
assert.ok(log.events.some((event) => event.type === 'tool-ended' && event.outcome === 'denied'));
