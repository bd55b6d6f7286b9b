// The options of the verification commands, and the run of a verification with progress, output and exit code.
import { readFileSync } from 'node:fs';
import { errorMessage, escapeInvisible, FairleadError } from '../../../core/index.ts';
import { formatReport, type ReportStyle, type VerificationReport, type VerifyProgress } from '../../../checks/index.ts';
import { maxJudges, readSettings, type Settings } from '../../../coding-agent/settings/index.ts';
import {
  getVerifySettings,
  recordVerificationSession,
  runVerification,
  type VerificationRequest,
} from '../../../coding-agent/verification/index.ts';
import { exitCodes } from '../../args/exit-codes.ts';
import { parseShare } from '../../args/parse-share.ts';
import { onShutdown } from '../../args/shutdown-signals.ts';
import { print, printErr } from '../../args/stdio.ts';
import type { ParsedOptions } from '../../args/with-usage.ts';
import { createTtyHost } from '../../print-mode/tty-prompter.ts';
import { createTextStyles, wantsColors } from '../../tui/ansi-style.ts';

/** The options that the verification commands share. */
export const verifyOptions = {
  against: { type: 'string' },
  model: { type: 'string', short: 'm' },
  judges: { type: 'string' },
  quorum: { type: 'string' },
  independent: { type: 'boolean', default: false },
  'max-error': { type: 'string' },
  'max-requests': { type: 'string' },
  'max-tokens': { type: 'string' },
  'max-budget-usd': { type: 'string' },
  'max-ms': { type: 'string' },
  private: { type: 'boolean', default: false },
  ephemeral: { type: 'boolean', default: false },
  'no-session': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const;

/** The usage of these options. */
export const verifyOptionsUsage = `  --against <folder> documents that decide: a folder or a file
  -m, --model <name> the author: the model that answers, or that wrote the file
  --judges <names>   judges, separated by commas or spaces (default: verify.judges, else one model of each other family)
  --quorum <n>       model families that must agree (default 2)
  --independent      with --against: let what other models remember support claims, too
  --max-error <rate> accept only above the calibrated threshold for this error rate, such as 5%
  --max-requests, --max-tokens, --max-budget-usd, --max-ms <n>
                     the budget; if it does not reach, the result is an abstention
  --private          only models on your own machines
  --ephemeral, --no-session
                     do not record the verification as a session
  --json             the report as JSON

Exit codes: 0 verified, 6 abstained or not verified, 1 an error, 2 invalid arguments.`;

/** Parses a whole number above 0; throws a TypeError for anything else. */
export function parseCount(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,12}$/.test(text.trim()) && Number(text) > 0) return Number(text);
  throw new TypeError(`--${name} is a whole number above 0, not "${text}".`);
}

/** Parses the quorum; it cannot be larger than the number of judges. */
function parseQuorum(text: string | undefined, judges: readonly string[] | undefined): number | undefined {
  const quorum = parseCount('quorum', text);
  if (quorum !== undefined && quorum > maxJudges)
    throw new TypeError(`--quorum is at most ${maxJudges}, the largest number of judges, not ${quorum}.`);
  if (quorum !== undefined && judges !== undefined && quorum > judges.length)
    throw new TypeError(`--quorum is ${quorum}, but --judges names ${judges.length}: a quorum is not possible.`);
  return quorum;
}

function parseRate(text: string | undefined): number | undefined {
  const rate = text === undefined ? undefined : parseShare(text);
  if (text === undefined || (rate !== undefined && rate > 0 && rate < 1)) return rate;
  throw new TypeError(`--max-error is a rate above 0 and below 1, or a percentage, not "${text}".`);
}

function parseAmount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const amount = Number(text);
  if (text.trim() !== '' && Number.isFinite(amount) && amount > 0) return amount;
  throw new TypeError(`--max-budget-usd is a number above 0, not "${text}".`);
}

/** Reads the answer of a file, or of standard input. */
export async function readAnswerFile(file: string): Promise<Pick<VerificationRequest, 'answer' | 'answerFile'>> {
  try {
    if (file !== '-') return { answer: readFileSync(file, 'utf8'), answerFile: file };
    let answer = '';
    process.stdin.setEncoding('utf8');
    for await (const text of process.stdin) answer += String(text);
    return { answer };
  } catch (error) {
    throw new FairleadError('verify/no-file', `The answer cannot be read: ${errorMessage(error)}`, { blame: 'user' });
  }
}

/** What a verification command verifies. */
export type VerifySubject = Pick<
  VerificationRequest,
  'question' | 'answer' | 'answerFile' | 'drafts' | 'samples' | 'chain'
> & {
  /** The number of samples unless the settings have another. */
  readonly defaultSamples?: number;
};

/** Runs a verification, shows its progress and its report, and returns the exit code. */
export async function runVerifyCommand(
  values: ParsedOptions<typeof verifyOptions>,
  { defaultSamples, ...subject }: VerifySubject,
): Promise<number> {
  const settings = readSettings();
  for (const warning of settings.warnings) printErr(`${warning}\n`);
  const budget = {
    requests: parseCount('max-requests', values['max-requests']),
    tokens: parseCount('max-tokens', values['max-tokens']),
    usd: parseAmount(values['max-budget-usd']),
    ms: parseCount('max-ms', values['max-ms']),
  };
  const judges = values.judges?.split(/[\s,]+/).filter((name) => name !== '');
  const quorum = parseQuorum(values.quorum, judges);
  const maxErrorRate = parseRate(values['max-error']);
  const samples = subject.samples ?? (defaultSamples && (getVerifySettings(settings).samples ?? defaultSamples));
  const signals = onShutdown(['SIGINT', 'SIGTERM', 'SIGHUP'], () => {});
  const progress = createProgressLine();
  try {
    const report = await runVerification({
      ...subject,
      settings,
      cwd: process.cwd(),
      host: createTtyHost(printErr),
      signal: signals.signal,
      onProgress: progress.show,
      ...(samples === undefined ? {} : { samples }),
      ...(values.against === undefined ? {} : { against: values.against }),
      ...(values.model === undefined ? {} : { model: values.model }),
      ...(judges === undefined ? {} : { judges }),
      ...(quorum === undefined ? {} : { quorum }),
      ...(values.independent ? { independent: true } : {}),
      ...(maxErrorRate === undefined ? {} : { maxErrorRate }),
      budget: Object.fromEntries(Object.entries(budget).filter(([, limit]) => limit !== undefined)),
      ...(values.private ? { isPrivate: true } : {}),
    });
    progress.clear();
    const session =
      values.ephemeral || values['no-session']
        ? undefined
        : await recordReport(report, subject, settings, values.private);
    printReport(report, values.json, session);
    return report.outcome === 'verified' ? exitCodes.answered : exitCodes.unverified;
  } catch (error) {
    progress.clear();
    if (signals.code !== undefined) return signals.code;
    throw error;
  } finally {
    signals.release();
  }
}

const recordReport = (
  report: VerificationReport,
  { answer, answerFile }: VerifySubject,
  settings: Settings,
  isPrivate: boolean,
): Promise<string> =>
  recordVerificationSession({
    settings,
    report,
    isGiven: answer !== undefined,
    ...(answerFile === undefined ? {} : { answerFile }),
    cwd: process.cwd(),
    isPrivate,
  });

function printReport(report: VerificationReport, json: boolean, session: string | undefined): void {
  if (json) print(`${JSON.stringify({ ...report, session: session ?? null }, null, 2)}\n`);
  else process.stdout.write(formatForOutput(report, process.stdout.isTTY));
  if (session !== undefined && process.stderr.isTTY) printErr(`Recorded in the session ${JSON.stringify(session)}.\n`);
}

/** The report as Markdown for a pipe, or with struck text and colors for a terminal. Control characters of each text are escaped before styles are added. */
export function formatForOutput(
  report: VerificationReport,
  isTerminal: boolean,
  env: NodeJS.ProcessEnv = process.env,
): string {
  if (!isTerminal) return formatReport(report);
  const { bold, dim, green, red, strike, yellow } = createTextStyles(wantsColors(env, true) ? 'colors' : 'attributes');
  const verdictColors = { supported: green, contradicted: red, unverifiable: yellow };
  const style: ReportStyle = {
    text: escapeInvisible,
    struck: (text) => dim(strike(escapeInvisible(text))),
    outcome: (title, outcome) => (outcome === 'verified' ? green : yellow)(bold(title)),
    verdict: (title, verdict) => verdictColors[verdict](title),
    label: bold,
  };
  return formatReport(report, { style });
}

/** One line on standard error that shows what the verification does; nothing if standard error is no terminal. */
function createProgressLine(): { readonly show: (progress: VerifyProgress) => void; readonly clear: () => void } {
  const { stderr } = process;
  return {
    show({ stage, text, done, total }) {
      if (!stderr.isTTY || stage === 'done') return;
      stderr.write(`\r\u001B[K${text}${total > 0 ? ` (${done} of ${total})` : ''}`);
    },
    clear() {
      if (stderr.isTTY) stderr.write('\r\u001B[K');
    },
  };
}
