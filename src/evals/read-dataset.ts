// Reads a dataset from a file or a folder: JSON lines, comma-separated values or Markdown, by the ending of the name, or a session log.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { errorMessage, FairleadError } from '../core/index.ts';
import { parseCsvDataset } from './dataset-csv.ts';
import { parseMarkdownDataset } from './dataset-markdown.ts';
import { maxDatasetChars, parseDataset, recordingEnding, type EvalCase } from './dataset.ts';
import { readRecordedEvents } from './recorded-sessions.ts';
import { toSessionCases } from './session-case.ts';

const taskEnding = /\.tasks\.jsonl$/i;
const endings = /\.(?:jsonl|ndjson|csv|tsv|md|markdown)$/i;

/** Reads the cases of a file, or of the files of a folder in alphabetical order. */
export async function readDataset(file: string): Promise<readonly EvalCase[]> {
  const files = listFiles(file);
  const cases: EvalCase[] = [];
  const known = new Map<string, string>();
  for (const each of files)
    for (const evalCase of await readCases(each)) {
      const other = known.get(evalCase.id);
      if (other !== undefined)
        throw new FairleadError('eval/bad-dataset', `${other} and ${each} both have a case ${evalCase.id}.`, {
          blame: 'user',
        });
      known.set(evalCase.id, each);
      const { session } = evalCase;
      if (session && !existsSync(path.resolve(path.dirname(each), session.file)))
        throw new FairleadError(
          'eval/bad-dataset',
          `The recording ${session.file} of the case ${evalCase.id} is not beside ${each}.`,
          { blame: 'user' },
        );
      cases.push(
        session
          ? { ...evalCase, session: { ...session, file: path.resolve(path.dirname(each), session.file) } }
          : evalCase,
      );
    }
  return cases;
}

/** A session log is a dataset: each of its prompts is a case. */
async function readCases(file: string): Promise<readonly EvalCase[]> {
  const text = readText(file);
  if (!/^\{"fairlead":\d/.test(text)) return parseDatasetText(text, file);
  const name = path.basename(file).replace(/(?:\.session)?\.jsonl$/, '');
  return toSessionCases(await readRecordedEvents({ name, file }), file, name);
}

/** Parses the cases of a text; the ending of the name says the format, JSON lines by default. */
export async function parseDatasetText(text: string, name: string): Promise<readonly EvalCase[]> {
  if (taskEnding.test(name)) {
    const { parseRepositoryTasks } = await import('./repository-tasks.ts');
    return (await parseRepositoryTasks(text, name, path.dirname(path.resolve(name)))).map(({ evalCase }) => evalCase);
  }
  if (/\.(?:csv|tsv)$/i.test(name)) return parseCsvDataset(text, name);
  return /\.(?:md|markdown)$/i.test(name) ? parseMarkdownDataset(text, name) : parseDataset(text, name);
}

function listFiles(file: string): readonly string[] {
  if (!statSync(file, { throwIfNoEntry: false })?.isDirectory()) return [file];
  const names = readdirSync(file, { recursive: true, encoding: 'utf8' }).filter(
    (name) => endings.test(name) && !name.endsWith(recordingEnding),
  );
  // The folders of repository tasks are beside their file: what they contain are no datasets.
  const tasks = names.filter((name) => taskEnding.test(name) && path.dirname(name) === '.');
  const chosen = tasks.length > 0 ? tasks : names;
  if (chosen.length > 0) return chosen.toSorted().map((name) => path.join(file, name));
  throw new FairleadError('eval/no-dataset', `The folder ${file} has no dataset.`, {
    blame: 'user',
    hint: 'A dataset is a file .jsonl, .csv or .md.',
  });
}

function readText(file: string): string {
  try {
    const { size } = statSync(file);
    if (size > 4 * maxDatasetChars) throw new Error(`it has more than ${4 * maxDatasetChars} bytes`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new FairleadError('eval/no-dataset', `The dataset cannot be read: ${errorMessage(error)}`, { blame: 'user' });
  }
}
