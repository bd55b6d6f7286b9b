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
  'failing-commands': (threshold, { command }) => {
    const failed: ExampleStep = { called: command, outcome: 'failed', result: 'Exit code 1.' };
    return {
      fires: [startStep, ...repeatStep(threshold, failed)],
      silent: [
        startStep,
        ...repeatStep(threshold - 1, failed),
        { called: command },
        ...repeatStep(threshold - 1, failed),
      ],
    };
  },
  'long-context': (threshold) => ({
    fires: [startStep, { answered: 'ok', usage: { input: threshold, output: 1 } }],
    silent: [startStep, { answered: 'ok', usage: { input: threshold - 1, output: 1 } }],
  }),
  'much-edited-file': (threshold, { edit }) => ({
    fires: [startStep, ...repeatStep(threshold, { called: edit, input: { path: samplePath } })],
    silent: [
      startStep,
      ...repeatStep(threshold - 1, { called: edit, input: { path: samplePath } }),
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
  'many-writes': (threshold, { write }) => ({
    fires: [startStep, ...repeatStep(threshold, { called: write, input: { path: samplePath } })],
    silent: [startStep, ...repeatStep(threshold - 1, { called: write, input: { path: samplePath } })],
  }),
  'edited-unread': (_, { read, edit }) => ({
    fires: [startStep, { called: edit, input: { path: samplePath } }],
    silent: [startStep, { called: read, input: { path: samplePath } }, { called: edit, input: { path: samplePath } }],
  }),
  'resumed-session': (threshold) => ({
    fires: [startStep, { answered: 'ok' }, { pausedMinutes: threshold }, { said: 'on', how: 'follow-up' }],
    silent: [startStep, { answered: 'ok' }, { said: 'on', how: 'follow-up' }],
  }),
  'no-task-list': (threshold, { read, task }) => {
    const tools = [{ name: task, description: '', input: {} }];
    const taskToolStep: ExampleStep = {
      fact: { type: 'epoch-started', epoch: 2, reason: 'agent-changed', system: '', tools, model: 'm' },
    };
    const look: ExampleStep = { called: read, input: { path: samplePath } };
    return {
      fires: [taskToolStep, startStep, ...repeatStep(threshold, look)],
      silent: [taskToolStep, startStep, { called: task }, ...repeatStep(threshold - 1, look)],
    };
  },
  'half-full': (threshold) => ({
    fires: [
      { said: 'go', window: 1000 },
      { answered: 'ok', usage: { input: threshold * 10, output: 1 } },
    ],
    silent: [
      { said: 'go', window: 1000 },
      { answered: 'ok', usage: { input: threshold * 10 - 10, output: 1 } },
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
  const histories = exampleHistories[name]?.(threshold, {
    command: first(roles.command),
    read: first(roles.read),
    edit: first(roles.edit),
    write: first(roles.write),
    task: first(roles.task),
  });
  if (!histories) return [];
  return [
    { title: 'it must fire', history: histories.fires, fires: true },
    { title: 'it must not fire', history: histories.silent, fires: false },
  ];
}
