// Formats an audit as JSON lines with a hash chain, and as a Markdown report for readers.
import { createHash } from 'node:crypto';
import { canonicalJson, escapeInvisibleLine, type DecisionSource, type JsonObject } from '../../core/index.ts';
import type { AuditRecord } from './audit-records.ts';
import type { Audit, AuditedSession } from './collect-audit.ts';

/** A change of the releases in use, as the history of releases records it. */
export type AuditedRelease = {
  readonly time: string;
  readonly release: string;
  readonly action: string;
  readonly by: string;
  readonly reason?: string;
};

/** What an audit consists of. */
export type AuditContent = Audit & { readonly releases: readonly AuditedRelease[] };

/** Formats an audit as JSON lines: a header, sessions, releases and records. Each line has the hash of itself and of the line before. */
export function formatAuditLines({ period, sessions, releases, records }: AuditContent): string {
  const lines: readonly JsonObject[] = [
    {
      type: 'audit',
      format: 1,
      ...period,
      sessions: sessions.length,
      releases: releases.length,
      records: records.length,
    },
    ...sessions.map((session) => ({ type: 'session', ...session })),
    ...releases.map((release) => ({ type: 'release', ...release })),
    ...(records as unknown as readonly JsonObject[]),
  ];
  let previous = '0'.repeat(64);
  return lines
    .map((line) => {
      const content = { ...line, previous };
      previous = createHash('sha256').update(canonicalJson(content)).digest('hex');
      return `${JSON.stringify({ ...content, hash: previous })}\n`;
    })
    .join('');
}

/** Returns the number of the first line that is not as it was exported, or that is missing; undefined if all are there. */
export function findChangedLine(text: string): number | undefined {
  const lines = text.trimEnd().split('\n');
  let previous = '0'.repeat(64);
  let count = 1;
  for (const [i, line] of lines.entries()) {
    try {
      const { hash, ...content } = JSON.parse(line) as JsonObject;
      if (content['previous'] !== previous) return i + 1;
      previous = createHash('sha256').update(canonicalJson(content)).digest('hex');
      if (hash !== previous) return i + 1;
      // The chain of a text without its end is not broken: the header says how many lines there are.
      if (i === 0) count = countLines(content);
    } catch {
      return i + 1;
    }
  }
  return lines.length < count ? lines.length + 1 : undefined;
}

/** The number of lines by the header; earlier versions did not count the releases. */
const countLines = (header: JsonObject): number =>
  ['sessions', 'releases', 'records'].reduce((sum, name) => sum + Number(header[name] ?? 0), 1);

const cell = (text: string): string => {
  const line = escapeInvisibleLine(text).replaceAll('|', '\\|').replaceAll('`', "'").replaceAll('<', '&lt;');
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
};

const formatTable = (head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] =>
  rows.length === 0
    ? ['None.', '']
    : [
        `| ${head.join(' | ')} |`,
        `|${head.map(() => '---').join('|')}|`,
        ...rows.map((row) => `| ${row.map(cell).join(' | ')} |`),
        '',
      ];

const formatSource = (source: DecisionSource | undefined): string =>
  source === undefined ? '' : [source.kind, source.name].filter(Boolean).join(' ');

const formatChain = ({ chained, ok }: AuditedSession): string =>
  !chained ? 'no hash chain: store' : ok ? 'verified' : 'broken';

/** The name and the first digits of each hash; the JSON lines have them whole. */
const formatPolicies = (policies: Readonly<Record<string, string>> = {}): string =>
  Object.entries(policies)
    .map(([name, hash]) => `${name} ${hash.slice(0, 12)}`)
    .join(', ');

type RecordOf<T extends AuditRecord['type']> = AuditRecord & { readonly type: T };

/** Formats an audit as a Markdown report. */
export function formatAuditReport({ period, sessions, releases, records }: AuditContent): string {
  const select = <T extends AuditRecord['type']>(type: T): readonly RecordOf<T>[] =>
    records.filter((record): record is RecordOf<T> => record.type === type);
  const [runs, approvals, denials] = [select('run'), select('approval'), select('denial')];
  const damaged = sessions.filter(({ ok }) => !ok);
  const chains = new Map(sessions.map((each) => [each.session, formatChain(each)]));
  const usd = runs.reduce((sum, run) => sum + run.usd, 0);
  return [
    `# Audit from ${period.from} to ${period.to}`,
    '',
    `${sessions.length} sessions, ${runs.length} runs, ${usd.toFixed(4)} US dollars, ${approvals.length} questions to users, ${denials.length} calls denied by a gate.`,
    '',
    damaged.length === 0
      ? `Each session is as it was written: ${sessions.filter(({ chained }) => chained).length} by the hash chain of its file, ${sessions.filter(({ chained }) => !chained).length} in the store of the fleet without one.`
      : `**${damaged.length} sessions are not as they were written.**`,
    '',
    ...(damaged.length === 0
      ? []
      : formatTable(
          ['session', 'problem'],
          damaged.map(({ session, problems }) => [session, problems.join(' ')]),
        )),
    '## Approvals',
    '',
    ...formatTable(
      ['time', 'session', 'tool', 'question', 'asked by', 'decision', 'by'],
      approvals.map((each) => [
        each.time,
        each.session,
        each.tool,
        each.question,
        formatSource(each.askedBy),
        each.decision,
        each.by ?? '',
      ]),
    ),
    '## Denials by gates',
    '',
    ...formatTable(
      ['time', 'session', 'tool', 'denied by', 'reason'],
      denials.map((each) => [each.time, each.session, each.tool, formatSource(each.deniedBy), each.text]),
    ),
    '## Releases',
    '',
    ...formatTable(
      ['time', 'release', 'change', 'by', 'reason'],
      releases.map(({ time, release, action, by, reason = '' }) => [time, release, action, by, reason]),
    ),
    '## Runs',
    '',
    ...formatTable(
      ['time', 'session', 'run', 'release', 'policies', 'model', 'end', 'turns', 'US dollars', 'hash chain'],
      runs.map((each) => [
        each.time,
        each.session,
        each.run,
        each.release ?? '',
        formatPolicies(each.policies),
        each.model,
        each.reason ?? 'active',
        String(each.turns),
        each.usd.toFixed(4),
        chains.get(each.session) ?? '',
      ]),
    ),
  ].join('\n');
}
