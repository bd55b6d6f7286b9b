// Behaviour 5: gates decide about a call before it runs; the model receives a result with the reason.
import assert from 'node:assert/strict';
import { tool, Harness } from 'fairlead';
import {
  compactAt,
  confirm,
  defineGate,
  exclusive,
  rateLimit,
  readBeforeEdit,
  requireOrder,
  compileRuleSet,
  summarizingCompactor,
  runRuleSetExamples,
} from 'fairlead/rules';
import { memoryLog } from 'fairlead/stores';
import { calls, says, scriptedProvider } from 'fairlead/testing';

const set = {
  name: 'project-rules',
  gates: [
    readBeforeEdit(),
    confirm({ which: ['delete_file'] }),
    rateLimit({ tool: 'run_command', most: 3, per: 'turn', count: 'retries' }),
    requireOrder(['search', 'answer_question']),
    exclusive(['merge', 'rebase']),
    defineGate({
      name: 'no-secrets',
      description: 'Keys stay where they are.',
      decide: ({ input }) =>
        JSON.stringify(input).includes('.env')
          ? { deny: 'That file holds keys. Ask the user for what you need.' }
          : undefined,
      examples: [
        { title: 'a file of keys', call: { tool: 'read_file', input: { path: '.env' } }, decides: 'deny' as const },
      ],
    }),
  ],
};

// Each rule has examples of calls that it must deny and calls that it must allow.
const wrong = (await runRuleSetExamples(set)).filter((trial) => trial.failure !== undefined);
assert.deepEqual(wrong, []);

const edited: string[] = [];
const file = { type: 'object', properties: { path: { type: 'string' } } };
const tools = [
  tool({ name: 'read_file', description: 'Reads.', effect: 'read', inputSchema: file, execute: () => 'const a = 1;' }),
  tool({
    name: 'edit_file',
    description: 'Edits.',
    effect: 'write',
    inputSchema: file,
    execute: ({ path }) => `${edited.push(String(path))}`,
  }),
];
const log = memoryLog();
const edit = calls('edit_file', { path: 'a.ts' });
const provider = scriptedProvider([edit, calls('read_file', { path: 'a.ts' }), edit, says('Done.')]);
const compact = compactAt(0.8, summarizingCompactor());
const harness = new Harness({ provider, system: '', tools, ...compileRuleSet(set), compactor: compact, runDir: null });
await harness.open(log);
await harness.ask('Change a.ts.');

const [refused] = log.events.filter((event) => event.type === 'tool-ended');
assert.equal(refused?.outcome, 'denied');
assert.match(refused?.text ?? '', /a\.ts was not read before\. Read it with read_file/);
assert.deepEqual(edited, ['a.ts']);
