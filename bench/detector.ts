// Throughput and growth of the injection detector: MB a CPU second on prose and Markdown, and the time for ten times as much hostile text. npm run bench -- --only detector
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createDetector, type Detector } from '../src/guards/detector/index.ts';

const subjects = ['server', 'worker', 'index', 'session', 'parser', 'budget', 'report', 'cache', 'tenant', 'schedule'];
const endings = ['keeps its entries', 'writes a result', 'reads the keys', 'sends all events', 'counts each copy'];

/** Prose with 2,000 different names. */
function createProse(chars: number): string {
  let prose = '';
  for (let i = 0; prose.length < chars; i++) {
    const name = String(i % 2000).replaceAll(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '');
    prose += `The ${subjects[i % 10]} of ${name}shire ${endings[(i % 7) % 5]} when the day ends.${i % 6 === 0 ? '\n\n' : ' '}`;
  }
  return prose.slice(0, chars);
}

const hostile: Readonly<Record<string, (chars: number) => string>> = {
  letters: (chars) => 'a'.repeat(chars),
  'letters and digits': (chars) => 'a1'.repeat(chars / 2),
  'spaced letters': (chars) => 'a '.repeat(chars / 2),
  'combining marks': (chars) => `a${'\u0301'.repeat(chars)}`,
  signs: (chars) => '$'.repeat(chars),
  'look-alike letters': (chars) => `${'\u0430'.repeat(chars)}a`,
};

/** The pages of the documentation. */
function readMarkdown(): string {
  const folder = path.join(import.meta.dirname, '../docs');
  const files = readdirSync(folder).filter((name) => name.endsWith('.md'));
  return files.map((name) => readFileSync(path.join(folder, name), 'utf8')).join('\n');
}

/** The least CPU seconds of some rounds. */
function measure(detector: Detector, text: string, rounds: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const start = process.cpuUsage();
    detector.score(text);
    const { user, system } = process.cpuUsage(start);
    least = Math.min(least, (user + system) / 1e6);
  }
  return least;
}

/** Prints the throughput, with words that are known and with a new detector, and the growth for each kind of hostile text. */
export function benchDetector(rounds: number): void {
  const detector = createDetector();
  const prose = createProse(500_000);
  const mb = prose.length / 1e6;
  measure(detector, prose, 1);
  console.log(`\nDetector: ${(mb / measure(detector, prose, rounds)).toFixed(2)} MB a CPU second (floor 1)`);
  console.log(`Detector, new: ${(mb / measure(createDetector(), prose, 1)).toFixed(2)} MB a CPU second`);
  const markdown = readMarkdown();
  const fresh = createDetector();
  for (const state of ['new', 'words known'])
    console.log(
      `Detector, Markdown, ${state}: ${(markdown.length / 1e6 / measure(fresh, markdown, 1)).toFixed(2)} MB a CPU second (floor 1)`,
    );
  for (const [name, create] of Object.entries(hostile)) {
    const small = measure(detector, create(100_000), rounds);
    const large = measure(detector, create(1_000_000), 1);
    console.log(`Ten times as much hostile text (${name}): ${(large / small).toFixed(1)} times the time (linear: 10)`);
  }
}
