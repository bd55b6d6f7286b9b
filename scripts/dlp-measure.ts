// Measures data loss prevention on a folder of text files: alarms per megabyte on the untouched text, and recall on generated values at random places in it. Each folder in it is one kind of text.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { hash } from 'node:crypto';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { binomialInterval, formatPercent } from '../src/checks/index.ts';
import { formatColumns } from '../src/core/index.ts';
import { createDlpScanner } from '../src/guards/dlp/index.ts';
import { createRandom, generators, type Random } from './dlp-values.ts';

const usage = `Usage: node scripts/dlp-measure.ts <folder> [--split dev|test] [--values <n>] [--list <kind>] [--seed <n>]

The files of each folder in <folder> are divided into two splits by a hash of their name.`;

const { values: options, positionals } = parseArgs({
  options: {
    split: { type: 'string', default: 'dev' },
    values: { type: 'string', default: '200' },
    list: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
  allowPositionals: true,
});
const [folder] = positionals;
if (folder === undefined || !['dev', 'test'].includes(options.split)) {
  process.stderr.write(`${usage}\n`);
  process.exit(2);
}

const maxFileChars = 1_000_000;
const scanner = createDlpScanner();
const random = createRandom(Number(options.seed));

/** The interval of a rate by Byar's approximation of the Poisson distribution. */
function poissonInterval(count: number): readonly [number, number] {
  const bound = (n: number, z: number): number => (n === 0 ? 0 : n * (1 - 1 / (9 * n) + z / (3 * Math.sqrt(n))) ** 3);
  return [bound(count, -1.96), bound(count + 1, 1.96)];
}

const isInSplit = (file: string): boolean =>
  (Number.parseInt(hash('sha256', path.basename(file)).slice(0, 8), 16) % 2 === 0) === (options.split === 'dev');

const kindsOfText = readdirSync(folder)
  .filter((name) => statSync(path.join(folder, name)).isDirectory())
  .toSorted();
const texts = new Map<string, readonly string[]>(
  kindsOfText.map((kind) => [
    kind,
    readdirSync(path.join(folder, kind), { recursive: true, encoding: 'utf8' })
      .map((name) => path.join(folder, kind, name))
      .filter((file) => statSync(file).isFile() && isInSplit(file))
      .map((file) => readFileSync(file, 'utf8').slice(0, maxFileChars)),
  ]),
);

for (const [kind, files] of texts) {
  const bytes = files.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const counts = new Map<string, number>();
  const startedAt = performance.now();
  for (const text of files)
    for (const { kind: found, category, from, to } of scanner.find(text)) {
      const name = category === 'secret' ? 'secret' : found;
      counts.set(name, (counts.get(name) ?? 0) + 1);
      if (options.list === name || options.list === found)
        process.stdout.write(`${kind}: ${JSON.stringify(text.slice(Math.max(0, from - 40), to + 20))}\n`);
    }
  const megabytes = bytes / 1e6;
  const seconds = (performance.now() - startedAt) / 1000;
  process.stdout.write(
    `\n${kind}: ${files.length} files, ${megabytes.toFixed(2)} MB, ${(megabytes / seconds).toFixed(1)} MB/s\n`,
  );
  const rows = [...counts]
    .toSorted((a, b) => b[1] - a[1])
    .map(([name, count]) => [name, ...formatRate(count, megabytes)]);
  const checked = [...counts].reduce(
    (sum, [name, count]) => sum + (/^(?:email|phone|secret)$/.test(name) ? 0 : count),
    0,
  );
  process.stdout.write(formatColumns([...rows, ['all but email, phone, secret', ...formatRate(checked, megabytes)]]));
}

function formatRate(count: number, megabytes: number): readonly string[] {
  const [low, high] = poissonInterval(count);
  const rate = (value: number): string => (value / megabytes).toFixed(2);
  return [String(count), `${rate(count)} a MB`, `95 % interval ${rate(low)} to ${rate(high)}`];
}

/** What is directly before and after a value: prose, JSON, settings, tables, markup and logs. */
const wrappers: readonly (readonly [string, string])[] = [
  [' ', ' '],
  [' ', '. '],
  [' ', ', '],
  [' "', '",'],
  ["='", "';"],
  ['=', '\n'],
  [':', ';'],
  [' (', ')'],
  ['<td>', '</td>'],
  ['\t', '\t'],
  ['|', '|'],
  ['\n', '\n'],
];

/** Puts a value at a random space of a random text, and returns whether one finding covers it. */
function isFound(value: string, files: readonly string[], source: Random): boolean {
  const text = files[Math.floor(source() * files.length)] ?? '';
  const start = text.indexOf(' ', Math.floor(source() * text.length));
  const at = start < 0 ? text.length : start;
  const [open, close] = wrappers[Math.floor(source() * wrappers.length)] ?? [' ', ' '];
  const before = `${text.slice(Math.max(0, at - 2000), at)}${open}`;
  const after = `${close}${text.slice(at, at + 2000)}`;
  // A word of context is no part of the value.
  const shift = /^(?:BSN|PESEL:|NHS no\.|Tel\.|phone:|mobile) |^password=/.exec(value)?.[0].length ?? 0;
  const [from, to] = [before.length + shift, before.length + value.length];
  return scanner.find(`${before}${value}${after}`).some((each) => each.from <= from && each.to >= to);
}

const perKind = Number(options.values);
process.stdout.write('\nrecall\n');
const all = { found: 0, total: 0 };
const formatRecall = (found: number, total: number): readonly string[] => {
  const [low, high] = binomialInterval(found, total);
  return [
    `${found} of ${total}`,
    formatPercent(found / total),
    `95 % interval ${formatPercent(low)} to ${formatPercent(high)}`,
  ];
};
const rows = Object.entries(generators).map(([name, create]) => {
  let [found, total] = [0, 0];
  for (const files of texts.values())
    for (let i = 0; i < perKind; i++) {
      found += isFound(create(random), files, random) ? 1 : 0;
      total += 1;
    }
  all.found += found;
  all.total += total;
  return [name, ...formatRecall(found, total)];
});
process.stdout.write(formatColumns([...rows, ['all', ...formatRecall(all.found, all.total)]]));
