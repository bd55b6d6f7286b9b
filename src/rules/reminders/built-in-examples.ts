// Examples of the built-in reminders: a history at whose end each must fire, and one at whose end it must not.
import type { ExampleStep } from '../testing/fixture-log.ts';
import type { ReminderExample } from './definition.ts';
import type { ToolRoles } from './built-in.ts';

type ExampleHistories = { readonly fires: readonly ExampleStep[]; readonly silent: readonly ExampleStep[] };

const startStep: ExampleStep = { said: 'go' };
const repeatStep = (count: number, step: ExampleStep): readonly ExampleStep[] =>
  Array.from({ length: Math.max(0, count) }, () => step);
const samplePath = 'src/a.ts';

const exampleHistories: Readonly<
  Record<string, (threshold: number, tools: Readonly<Record<keyof ToolRoles, string>>) => ExampleHistories>
> = {
  'failing-commands': (most, { command }) => {
    const failed: ExampleStep = { called: command, outcome: 'failed', result: 'Exit code 1.' };
    return {
      fires: [startStep, ...repeatStep(most, failed)],
      silent: [startStep, ...repeatStep(most - 1, failed), { called: command }, ...repeatStep(most - 1, failed)],
    };
  },
  'long-context': (most) => ({
    fires: [startStep, { answered: 'ok', usage: { input: most, output: 1 } }],
    silent: [startStep, { answered: 'ok', usage: { input: most - 1, output: 1 } }],
  }),
  'much-edited-file': (most, { edit }) => ({
    fires: [startStep, ...repeatStep(most, { called: edit, input: { path: samplePath } })],
    silent: [
      startStep,
      ...repeatStep(most - 1, { called: edit, input: { path: samplePath } }),
      { called: edit, input: { path: 'src/b.ts' } },
    ],
  }),
  'empty-file': (_, { read }) => ({
    fires: [
      startStep,
      {
        called: read,
        input: { path: samplePath },
        result: '(The file is empty.)',
        data: { path: samplePath, hash: 'h', lines: 0 },
      },
    ],
    silent: [
      startStep,
      { called: read, input: { path: samplePath }, result: 'words', data: { path: samplePath, hash: 'h', lines: 1 } },
    ],
  }),
  'cut-file': (_, { read }) => ({
    fires: [
      startStep,
      {
        called: read,
        input: { path: samplePath },
        data: { path: samplePath, hash: 'h', from: 1, to: 2000, lines: 5000 },
      },
    ],
    silent: [
      startStep,
      { called: read, input: { path: samplePath }, data: { path: samplePath, hash: 'h', from: 1, to: 50, lines: 50 } },
    ],
  }),
  'harmful-code': (_, { read, edit }) => ({
    fires: [startStep, { called: read, input: { path: samplePath } }],
    silent: [startStep, { called: edit, input: { path: samplePath } }],
  }),
  'model-changed': () => ({
    fires: [startStep, { answered: 'ok' }, { model: 'other' }],
    silent: [startStep, { answered: 'ok' }],
  }),
  'after-compaction': () => ({
    fires: [startStep, { answered: 'ok' }, { compacted: true }],
    silent: [startStep, { model: 'other' }],
  }),
  'many-writes': (most, { write }) => ({
    fires: [startStep, ...repeatStep(most, { called: write, input: { path: samplePath } })],
    silent: [startStep, ...repeatStep(most - 1, { called: write, input: { path: samplePath } })],
  }),
  'edited-unread': (_, { read, edit }) => ({
    fires: [startStep, { called: edit, input: { path: samplePath } }],
    silent: [startStep, { called: read, input: { path: samplePath } }, { called: edit, input: { path: samplePath } }],
  }),
  'resumed-session': (most) => ({
    fires: [startStep, { answered: 'ok' }, { pausedMinutes: most }, { said: 'on', how: 'follow-up' }],
    silent: [startStep, { answered: 'ok' }, { said: 'on', how: 'follow-up' }],
  }),
  'no-task-list': (most, { read, task }) => {
    const tools = [{ name: task, description: '', input: {} }];
    const begun: ExampleStep = {
      fact: { type: 'epoch-started', epoch: 2, reason: 'agent-changed', system: '', tools, model: 'm' },
    };
    const look: ExampleStep = { called: read, input: { path: samplePath } };
    return {
      fires: [begun, startStep, ...repeatStep(most, look)],
      silent: [begun, startStep, { called: task }, ...repeatStep(most - 1, look)],
    };
  },
  'half-full': (most) => ({
    fires: [
      { said: 'go', window: 1000 },
      { answered: 'ok', usage: { input: most * 10, output: 1 } },
    ],
    silent: [
      { said: 'go', window: 1000 },
      { answered: 'ok', usage: { input: most * 10 - 10, output: 1 } },
    ],
  }),
};

/** An example contains every call, so higher thresholds have no examples. */
const maxExampleCalls = 200;
const callCountingReminders = ['failing-commands', 'much-edited-file', 'many-writes', 'no-task-list'];

/** Returns the examples of a built-in reminder for this threshold and these tools. */
export function builtInExamples(name: string, threshold: number, roles: ToolRoles): readonly ReminderExample[] {
  if (callCountingReminders.includes(name) && !(threshold <= maxExampleCalls)) return [];
  const first = ([tool = 'a_tool']: readonly string[]): string => tool;
  const made = exampleHistories[name]?.(threshold, {
    command: first(roles.command),
    read: first(roles.read),
    edit: first(roles.edit),
    write: first(roles.write),
    task: first(roles.task),
  });
  if (!made) return [];
  return [
    { title: 'it must fire', history: made.fires, fires: true },
    { title: 'it must not fire', history: made.silent, fires: false },
  ];
}
