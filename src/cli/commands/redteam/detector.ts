// `redteam detector`: counts the alarms of the injection detector on documents of the user, and finds a threshold for a wanted rate of false alarms.
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { binomialInterval, binomialUpperBound, formatPercent } from '../../../checks/index.ts';
import { errorMessage, escapeInvisibleLine, FairleadError, formatColumns } from '../../../core/index.ts';
import {
  calibrateThreshold,
  createDetector,
  defaultDetectorThreshold,
  readDetectorDocuments,
  scanDocuments,
  type DetectorDocument,
  type DetectorReport,
} from '../../../guards/flow/index.ts';
import { readSettings } from '../../../coding-agent/settings/index.ts';
import { print } from '../../args/stdio.ts';
import { withOptions } from '../../args/with-usage.ts';

const usage = `Usage: fairlead redteam detector <file or folder>... [--threshold <n>] [--rate <share>] [--json]

Scores your own harmless documents with the injection detector: text files, folders, JSONL files with a "text" in each row, and logs of sessions,
of which the results of tools are read. Every alarm on them is a false alarm. --threshold is by default the setting detector.threshold. --rate is the share of false
alarms that you want; the threshold for it is printed. To use it: fairlead config set detector.threshold <n>.`;

const maxFileBytes = 256 * 1024 * 1024;
const maxListed = 10;
const defaultRate = 0.01;
const megabyte = 1_000_000;

/** Scans; exit code 0 done, 1 failed, 2 invalid arguments. */
export const detectorCommand: (args: readonly string[]) => Promise<number> = withOptions(
  {
    usage,
    options: {
      threshold: { type: 'string' },
      rate: { type: 'string' },
      json: { type: 'boolean', default: false },
    } as const,
    allowPositionals: true,
  },
  async (values, positionals) => {
    if (positionals.length === 0) throw new TypeError('A file or a folder is needed.');
    const threshold = parseNumber(values.threshold, 'threshold', -100, 100) ?? readThreshold();
    const rate = parseNumber(values.rate, 'rate', 0, 1) ?? defaultRate;
    const report = scanDocuments(createDetector(), positionals.flatMap(readDocuments), threshold);
    if (report.documents === 0)
      throw new FairleadError('guards/no-documents', 'The files have no text.', { blame: 'user' });
    const summary = summarize(report, rate);
    print(values.json ? `${JSON.stringify(summary, null, 2)}\n` : formatSummary(summary));
    return 0;
  },
);

/** The threshold of the setting, or the default. */
function readThreshold(): number {
  const value = readSettings().all.get('detector.threshold')?.value;
  return typeof value === 'number' ? value : defaultDetectorThreshold;
}

function parseNumber(text: string | undefined, name: string, min: number, max: number): number | undefined {
  if (text === undefined) return undefined;
  const number = text.trim() === '' ? Number.NaN : Number(text);
  if (number >= min && number <= max) return number;
  throw new TypeError(`--${name} is a number from ${min} to ${max}.`);
}

function readDocuments(given: string): readonly DetectorDocument[] {
  if (existsSync(given) && statSync(given).isDirectory())
    return readdirSync(given, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .flatMap((entry) => readDocument(path.join(entry.parentPath, entry.name), true));
  return readDocument(given, false);
}

/** Files of a folder that are no text are left out. */
function readDocument(file: string, isInFolder: boolean): readonly DetectorDocument[] {
  try {
    if (statSync(file).size > maxFileBytes) throw new Error(`it has more than ${maxFileBytes / 1024 / 1024} MiB.`);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
    return isInFolder && text.includes('\0') ? [] : readDetectorDocuments(file, text);
  } catch (error) {
    if (isInFolder && error instanceof TypeError) return [];
    throw new FairleadError('guards/no-file', `${file} cannot be read as text: ${errorMessage(error)}`, {
      blame: 'user',
    });
  }
}

type Summary = Omit<DetectorReport, 'scores' | 'alarms'> & {
  readonly alarms: number;
  readonly interval: readonly [number, number];
  readonly alarmsPerMegabyte: number;
  readonly intervalPerMegabyte: readonly [number, number];
  readonly wanted: {
    readonly rate: number;
    readonly threshold: number;
    readonly alarms: number;
    /** The rate is below this with 95 % confidence. */
    readonly upperBound: number;
  };
  readonly highest: DetectorReport['alarms'];
};

function summarize({ threshold, documents, bytes, alarms, scores }: DetectorReport, rate: number): Summary {
  const interval = binomialInterval(alarms.length, documents);
  const perMegabyte = (count: number): number => (count * megabyte) / bytes;
  const chosen = calibrateThreshold(scores, rate) ?? threshold;
  const above = scores.filter((score) => score > chosen).length;
  return {
    threshold,
    documents,
    bytes,
    alarms: alarms.length,
    interval,
    alarmsPerMegabyte: perMegabyte(alarms.length),
    intervalPerMegabyte: [perMegabyte(interval[0] * documents), perMegabyte(interval[1] * documents)],
    wanted: { rate, threshold: chosen, alarms: above, upperBound: binomialUpperBound(above, documents) },
    highest: alarms.slice(0, maxListed),
  };
}

function formatSummary(summary: Summary): string {
  const { threshold, documents, bytes, alarms, interval, alarmsPerMegabyte, intervalPerMegabyte, wanted } = summary;
  const rows = [
    ['documents', `${documents}, ${(bytes / megabyte).toFixed(2)} MB`],
    [
      `alarms above ${threshold}`,
      `${alarms} (${formatPercent(alarms / documents)} of documents; 95 % interval ${formatPercent(interval[0])} to ${formatPercent(interval[1])})`,
    ],
    [
      'alarms per MB',
      `${alarmsPerMegabyte.toFixed(2)} (95 % interval ${intervalPerMegabyte[0].toFixed(2)} to ${intervalPerMegabyte[1].toFixed(2)})`,
    ],
    [
      `threshold for ${formatPercent(wanted.rate)}`,
      `${wanted.threshold.toFixed(3)} (${wanted.alarms} alarms here; with 95 % confidence below ${formatPercent(wanted.upperBound)})`,
    ],
  ];
  const list = summary.highest.map(({ name, score }) => `  ${score.toFixed(2)}  ${escapeInvisibleLine(name)}`);
  return `${formatColumns(rows)}${list.length > 0 ? ['Highest alarms:', ...list, ''].join('\n') : ''}`;
}
