// Examples of the reminders we ship: a history at whose end each must speak up, and one at whose end it must keep quiet.
import type { ExampleStep } from '../examples/steps.ts';
import type { ReminderExample } from './definition.ts';
import type { ToolRoles } from './built-in.ts';

type Histories = { readonly speaks: readonly ExampleStep[]; readonly quiet: readonly ExampleStep[] };

const go: ExampleStep = { said: 'go' };
const times = (count: number, step: ExampleStep): readonly ExampleStep[] =>
  Array.from({ length: Math.max(0, count) }, () => step);
const path = 'src/a.ts';

const histories: Readonly<
  Record<string, (threshold: number, tools: Readonly<Record<keyof ToolRoles, string>>) => Histories>
> = {
  'failing-commands': (most, { command }) => {
    const failed: ExampleStep = { called: command, outcome: 'failed', result: 'Exit code 1.' };
    return {
      speaks: [go, ...times(most, failed)],
      quiet: [go, ...times(most - 1, failed), { called: command }, ...times(most - 1, failed)],
    };
  },
  'long-context': (most) => ({
    speaks: [go, { answered: 'ok', usage: { input: most, output: 1 } }],
    quiet: [go, { answered: 'ok', usage: { input: most - 1, output: 1 } }],
  }),
  'much-edited-file': (most, { edit }) => ({
    speaks: [go, ...times(most, { called: edit, input: { path } })],
    quiet: [go, ...times(most - 1, { called: edit, input: { path } }), { called: edit, input: { path: 'src/b.ts' } }],
  }),
  'empty-file': (_, { read }) => ({
    speaks: [
      go,
      { called: read, input: { path }, result: '(The file is empty.)', data: { path, hash: 'h', lines: 0 } },
    ],
    quiet: [go, { called: read, input: { path }, result: 'words', data: { path, hash: 'h', lines: 1 } }],
  }),
  'cut-file': (_, { read }) => ({
    speaks: [go, { called: read, input: { path }, data: { path, hash: 'h', from: 1, to: 2000, lines: 5000 } }],
    quiet: [go, { called: read, input: { path }, data: { path, hash: 'h', from: 1, to: 50, lines: 50 } }],
  }),
  'harmful-code': (_, { read, edit }) => ({
    speaks: [go, { called: read, input: { path } }],
    quiet: [go, { called: edit, input: { path } }],
  }),
  'model-changed': () => ({ speaks: [go, { answered: 'ok' }, { model: 'other' }], quiet: [go, { answered: 'ok' }] }),
  'after-compaction': () => ({
    speaks: [go, { answered: 'ok' }, { compacted: true }],
    quiet: [go, { model: 'other' }],
  }),
  'many-writes': (most, { write }) => ({
    speaks: [go, ...times(most, { called: write, input: { path } })],
    quiet: [go, ...times(most - 1, { called: write, input: { path } })],
  }),
  'edited-unread': (_, { read, edit }) => ({
    speaks: [go, { called: edit, input: { path } }],
    quiet: [go, { called: read, input: { path } }, { called: edit, input: { path } }],
  }),
  'resumed-session': (most) => ({
    speaks: [go, { answered: 'ok' }, { pausedMinutes: most }, { said: 'on', how: 'follow-up' }],
    quiet: [go, { answered: 'ok' }, { said: 'on', how: 'follow-up' }],
  }),
  'no-task-list': (most, { read, task }) => {
    const tools = [{ name: task, description: '', input: {} }];
    const begun: ExampleStep = {
      fact: { type: 'epoch-started', epoch: 2, reason: 'agent-changed', system: '', tools, model: 'm' },
    };
    const look: ExampleStep = { called: read, input: { path } };
    return {
      speaks: [begun, go, ...times(most, look)],
      quiet: [begun, go, { called: task }, ...times(most - 1, look)],
    };
  },
  'half-full': (most) => ({
    speaks: [
      { said: 'go', window: 1000 },
      { answered: 'ok', usage: { input: most * 10, output: 1 } },
    ],
    quiet: [
      { said: 'go', window: 1000 },
      { answered: 'ok', usage: { input: most * 10 - 10, output: 1 } },
    ],
  }),
};

/** An example tells every call: of a threshold that counts more of them there are none. */
const mostTold = 200;
const countsCalls = ['failing-commands', 'much-edited-file', 'many-writes', 'no-task-list'];

/** The examples of a reminder that we ship, for this threshold and these tools. */
export function builtInExamples(name: string, threshold: number, roles: ToolRoles): readonly ReminderExample[] {
  if (countsCalls.includes(name) && !(threshold <= mostTold)) return [];
  const first = ([tool = 'a_tool']: readonly string[]): string => tool;
  const made = histories[name]?.(threshold, {
    command: first(roles.command),
    read: first(roles.read),
    edit: first(roles.edit),
    write: first(roles.write),
    task: first(roles.task),
  });
  if (!made) return [];
  return [
    { title: 'it is time', history: made.speaks, fires: true },
    { title: 'it is not', history: made.quiet, fires: false },
  ];
}
