// Behaviour 3: reminders, for the whole session, for a message, and bound to a tool.
import assert from 'node:assert/strict';
import { tool, Harness } from 'fairlead';
import {
  builtInReminders,
  defineReminder,
  toolFailures,
  compileRuleSet,
  withReminderSystemPrompt,
} from 'fairlead/rules';
import { memoryLog } from 'fairlead/stores';
import { calls, says, scriptedProvider } from 'fairlead/testing';

const createTool = (name: string, execute: () => string) =>
  tool({ name, description: name, effect: 'read', inputSchema: { type: 'object' }, execute });
const tools = [
  createTool('write_file', () => 'Written.'),
  createTool('run_command', () => {
    throw new Error('Exit code 1.');
  }),
];

const tired = defineReminder({
  name: 'another-way',
  on: 'tool-ended',
  when: ({ state }) => toolFailures(state, 'run_command').inARow >= 2,
  message: ({ state }) => `It failed ${toolFailures(state, 'run_command').inARow} times. Consider an alternative.`,
  cooldown: 10,
  priority: 50,
});
const imports = defineReminder({
  name: 'imports',
  tool: 'write_file',
  message: 'Never import in the middle of a file.',
  once: true,
});
const reminders = [tired, imports, ...builtInReminders({ 'failing-commands': { threshold: 5 } })];

const log = memoryLog();
const provider = scriptedProvider([
  calls('write_file', {}),
  calls('run_command', {}),
  calls('run_command', {}),
  says('Another way it is.'),
]);
const system = withReminderSystemPrompt('You are a programmer.', reminders);
const harness = new Harness({ provider, system, tools, ...compileRuleSet({ name: 'mine', reminders }), runDir: null });
await harness.open(log);
await harness.ask('Make it work.');

const shown = log.events.flatMap((event) =>
  event.type === 'turn-started' ? [event.notes.map(({ key }) => key).join(' ')] : [],
);
assert.deepEqual(shown, ['system-reminders', 'imports', '', 'another-way']);
