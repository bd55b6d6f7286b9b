// The `evals from-session` command: turns a turn of a recorded session into a regression case.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isObject } from '../../../core/index.ts';
import { readSettings } from '../../../coding-agent/settings/index.ts';
import { createSessionCase, findRecordedSessions, readRecordedEvents, writeSessionCase } from '../../../evals/index.ts';
import { print } from '../../args/stdio.ts';
import { withOptions } from '../../args/with-usage.ts';

const usage = `Usage: fairlead evals from-session <session> --at <turn> [--output <case.md>] [--id <id>] [--expect <json>]
       [--file <path>]... [--tag <tag>]... [--recorded]

Writes a case that starts before this turn of the session: what came before is replayed without a model, and the turn is run
again. A copy of the recording is written beside it. Without --expect, the tools or the answer of the recorded turn must not
be repeated; edit the file to say what is right. --recorded: the model and the tools answer as in the recording.`;

const options = {
  at: { type: 'string' },
  output: { type: 'string' },
  id: { type: 'string' },
  expect: { type: 'string' },
  file: { type: 'string', multiple: true },
  tag: { type: 'string', multiple: true },
  recorded: { type: 'boolean', default: false },
} as const;

/** Writes a case of a session; exit code 0 written, 1 no such session or turn, 2 invalid arguments. */
export const fromSessionCommand: (args: readonly string[]) => Promise<number> = withOptions(
  { usage, options, allowPositionals: true },
  async (values, positionals) => {
    const [name, ...more] = positionals;
    if (name === undefined || more.length > 0) throw new TypeError('Name one session.');
    if (!/^[1-9]\d{0,8}$/.test(values.at ?? '')) throw new TypeError('--at is the number of a turn, from 1.');
    const at = Number(values.at);
    const [session] = findRecordedSessions([name], readSettings());
    if (!session) throw new TypeError(`${name} has no session.`);
    const id = values.id ?? `${toFileName(session.name)}-turn-${at}`;
    if (id !== toFileName(id)) throw new TypeError('--id has letters, digits, dots, dashes and underscores only.');
    const output = values.output ?? `${id}.md`;
    if (!/\.(?:md|markdown)$/i.test(output)) throw new TypeError('--output is a file .md.');
    const given = createSessionCase({
      events: await readRecordedEvents(session),
      at,
      id,
      mode: values.recorded ? 'recorded' : 'live',
      files: Object.fromEntries((values.file ?? []).map((file) => [toCasePath(file), readFileSync(file, 'utf8')])),
      ...(values.expect === undefined ? {} : { expect: parseExpect(values.expect) }),
      ...(values.tag ? { tags: values.tag } : {}),
    });
    await writeSessionCase(output, session.file, given);
    print(
      `${output}: starts before turn ${at}; expects ${JSON.stringify(given.expect)}.\nRun it: fairlead evals ${output}\n`,
    );
    return 0;
  },
);

/** A name for files: a session may have any. */
const toFileName = (name: string): string =>
  name
    .replace(/\.jsonl$/, '')
    .replaceAll(/[^\p{L}\p{N}._-]+/gu, '-')
    .slice(0, 100) || 'session';

/** The path of a file in the directory of the case: relative, or its name alone. */
const toCasePath = (file: string): string =>
  path.isAbsolute(file) || file.startsWith('..') ? path.basename(file) : path.normalize(file);

function parseExpect(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Reported below.
  }
  throw new TypeError('--expect is a JSON object, such as {"toolNotUsed":"run_command"}.');
}
