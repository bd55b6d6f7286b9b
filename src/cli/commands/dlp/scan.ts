// `dlp scan`: reports the kinds and lines of personal data and secrets in files; the values are shown only on request.
import { readFileSync, statSync } from 'node:fs';
import { errorMessage, escapeInvisibleLine, FairleadError } from '../../../core/index.ts';
import { countFindings, formatCounts, type DlpFinding } from '../../../guards/dlp/index.ts';
import { readDlpPolicy } from '../../../coding-agent/dlp/index.ts';
import { readSettings } from '../../../coding-agent/settings/index.ts';
import { print } from '../../args/stdio.ts';
import { withOptions } from '../../args/with-usage.ts';

const usage = `Usage: fairlead dlp scan <files...> [--show] [--json]

Counts personal data, secrets, and the patterns and private values of dlp.json in files; "-" is the standard input.
--show also prints the values. Exit code 0: nothing was found; 1: something was found, or a file cannot be read.`;

const maxFileBytes = 64 * 1024 * 1024;

type ScannedFile = {
  readonly file: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly findings: readonly {
    readonly kind: string;
    readonly category: DlpFinding['category'];
    readonly line: number;
    readonly column: number;
    readonly value?: string;
  }[];
};

/** Scans; exit code 0 nothing found, 1 found or failed, 2 invalid arguments. */
export const scanCommand: (args: readonly string[]) => Promise<number> = withOptions(
  {
    usage,
    options: {
      json: { type: 'boolean', default: false },
      show: { type: 'boolean', default: false },
    } as const,
    allowPositionals: true,
  },
  async (values, files) => {
    if (files.length === 0) throw new TypeError('A file is needed.');
    const { scanner } = readDlpPolicy(readSettings());
    const scanned = files.map((file): ScannedFile => {
      const text = readText(file);
      const findings = scanner.find(text);
      return { file, counts: countFindings(findings), findings: locate(text, findings, values.show) };
    });
    print(values.json ? `${JSON.stringify({ files: scanned }, null, 2)}\n` : scanned.map(formatFile).join(''));
    return scanned.some(({ findings }) => findings.length > 0) ? 1 : 0;
  },
);

function readText(file: string): string {
  try {
    if (file !== '-' && statSync(file).size > maxFileBytes)
      throw new Error(`it has more than ${maxFileBytes / 1024 / 1024} MiB.`);
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new FairleadError('dlp/no-file', `${file} cannot be read: ${errorMessage(error)}`, { blame: 'user' });
  }
}

/** Adds the line and the column of each finding; the findings are in the order of the text. */
function locate(text: string, findings: readonly DlpFinding[], isShown: boolean): ScannedFile['findings'] {
  let [line, start, at] = [1, 0, 0];
  return findings.map(({ from, to, kind, category }) => {
    for (let next = text.indexOf('\n', at); next >= 0 && next < from; next = text.indexOf('\n', at)) {
      line += 1;
      start = next + 1;
      at = start;
    }
    return { kind, category, line, column: from - start + 1, ...(isShown ? { value: text.slice(from, to) } : {}) };
  });
}

function formatFile({ file, counts, findings }: ScannedFile): string {
  const name = escapeInvisibleLine(file);
  if (findings.length === 0) return `${name}: nothing found\n`;
  const lines = findings.map(
    ({ kind, line, column, value }) =>
      `  ${line}:${column}  ${escapeInvisibleLine(kind)}${value === undefined ? '' : `  ${escapeInvisibleLine(value)}`}`,
  );
  return [`${name}: ${escapeInvisibleLine(formatCounts(counts))}`, ...lines, ''].join('\n');
}
