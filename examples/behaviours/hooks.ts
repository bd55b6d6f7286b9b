// Behaviour 7: extensions. Rules are code, or data that compiles to the same objects.
import assert from 'node:assert/strict';
import { Agent, type Extension } from 'fairlead';
import { compileRules, validateRules, compileRuleSet, rulesSchema, runRuleSetExamples } from 'fairlead/rules';
import { says, scriptedProvider } from 'fairlead/testing';

const failed = { called: 'run_command', outcome: 'failed', result: 'Exit code 1.' };
const set = compileRules({
  name: 'project-rules',
  reminders: [
    {
      name: 'read-the-error',
      tool: 'run_command',
      when: { all: [{ fact: 'failures', atLeast: 2 }, { not: { fact: 'contextPercent', atLeast: 90 } }] },
      message: '{tool} failed {failures} times in a row. Read the error.',
      cooldown: { turns: 5 },
      examples: [
        { title: 'twice', history: [{ said: 'go' }, failed, failed], fires: true },
        { title: 'once', history: [{ said: 'go' }, failed], fires: false },
      ],
    },
  ],
  builtIn: { 'half-full': { threshold: 70 } },
  gates: [
    { type: 'read-before-edit' },
    {
      type: 'deny',
      name: 'no-force',
      tools: ['git_remote'],
      when: { fact: 'argument', field: 'flags', contains: '--force' },
      reason: 'Never push with force. Make a new commit.',
    },
  ],
  stops: [
    {
      type: 'any',
      of: [
        { type: 'turns', most: 50 },
        { type: 'stuck', times: 4 },
      ],
    },
  ],
  renderers: [{ as: 'markdown', models: ['gpt-*'] }],
});
assert.ok((await runRuleSetExamples(set)).every((trial) => trial.failure === undefined));

// An error is one sentence; a JSON Schema for editors describes the format.
const faults = validateRules({ name: 'x', stops: [{ type: 'stuk', times: 4 }] });
assert.deepEqual(faults, ['rules.stops[0].type is "stuk", which is unknown; did you mean "stuck".']);
assert.equal(rulesSchema()['title'], 'Fairlead rules');

const extension: Extension = compileRuleSet(set);
const agent = new Agent({ model: scriptedProvider([says('Hello.')]), extensions: [extension] });
assert.equal((await agent.run('Hello?')).text, 'Hello.');
