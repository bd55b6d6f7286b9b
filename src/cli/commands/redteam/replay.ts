// `redteam replay`: decides about the calls of recorded runs with the flow policy, and reports attacks stopped, work kept and questions, with 95 % intervals.
import { readFileSync, statSync } from 'node:fs';
import { binomialInterval, formatPercent } from '../../../checks/index.ts';
import { errorMessage, escapeInvisibleLine, FairleadError, formatColumns } from '../../../core/index.ts';
import {
  builtinDeclarations,
  mergeDeclarations,
  parseDeclarations,
  parseRecordedRuns,
  replayRuns,
  varyRuns,
  type ReplayReport,
  type VaryReport,
} from '../../../guards/flow/index.ts';
import { print } from '../../args/stdio.ts';
import { withOptions } from '../../args/with-usage.ts';

const usage = `Usage: fairlead redteam replay <traces.jsonl> --tools <declarations.json> [--own <value>]... [--unattended] [--reviewer <name>] [--vary] [--json]

Decides about each call of recorded runs, one JSON object a line. Questions are answered with yes in benign runs and with no in attacked ones;
with --unattended a question is a denial. With --reviewer a reviewer decides about them instead: "scripted" and "obedient" need no model (the first judges by
shared words, the second says yes to everything), any other name is a model; the report shows stopped and broken with and without it. --own names values that identify the user, such as an address.
--vary replaces the injected text of each attack by other wordings and languages and encodes its values, keeps the calls, and reports which decisions
on injected calls change; exit code 1 if one does.`;

const maxFileBytes = 512 * 1024 * 1024;
const maxListed = 10;

/** Replays; exit code 0 done, 1 failed, 2 invalid arguments. */
export const replayCommand: (args: readonly string[]) => Promise<number> = withOptions(
  {
    usage,
    options: {
      tools: { type: 'string' },
      own: { type: 'string', multiple: true, default: [] as string[] },
      unattended: { type: 'boolean', default: false },
      reviewer: { type: 'string' },
      vary: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    } as const,
    allowPositionals: true,
  },
  async (values, positionals) => {
    const [file, ...more] = positionals;
    if (file === undefined) throw new TypeError('A file with recorded runs is needed.');
    if (more.length > 0) throw new TypeError(`Only one file can be given; unexpected: ${more.join(' ')}.`);
    if (values.tools === undefined) throw new TypeError('--tools names the file with the declarations of the tools.');
    const { actions } = builtinDeclarations;
    // A file that names an action without its words means the words of the program.
    const declarations = mergeDeclarations(
      { tools: new Map(), actions },
      parseDeclarations(parseJson(readText(values.tools), values.tools)),
    );
    const runs = parseRecordedRuns(readText(file));
    const options = { isUnattended: values.unattended, own: values.own };
    if (values.reviewer !== undefined) {
      if (!values.unattended) throw new TypeError('--reviewer is for runs without a user: give --unattended too.');
      const { replayReviewed, formatReviewedReport } = await import('./replay-reviewed.ts');
      const reviewed = await replayReviewed(runs, declarations, values.reviewer, values.own);
      print(
        values.json
          ? `${JSON.stringify(reviewed, null, 2)}\n`
          : `${formatReport(reviewed)}${formatReviewedReport(reviewed, formatShare)}`,
      );
      return 0;
    }
    if (values.vary) {
      const varied = await varyRuns(runs, declarations, options);
      print(values.json ? `${JSON.stringify(varied, null, 2)}\n` : formatVaryReport(varied));
      return varied.variations.some(({ changed }) => changed.length > 0) ? 1 : 0;
    }
    const report = await replayRuns(runs, declarations, options);
    print(values.json ? `${JSON.stringify(report, null, 2)}\n` : formatReport(report));
    return 0;
  },
);

function readText(file: string): string {
  try {
    if (statSync(file).size > maxFileBytes) throw new Error(`it has more than ${maxFileBytes / 1024 / 1024} MiB.`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new FairleadError('guards/no-file', `${file} cannot be read: ${errorMessage(error)}`, { blame: 'user' });
  }
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new FairleadError('guards/declarations', `${file} is not JSON.`, { blame: 'user' });
  }
}

function formatReport(report: ReplayReport): string {
  const { attacks, artefacts, stopped, benign, broken, questions, questionsPerRun, questionFree, byRule } = report;
  const rows = [
    ['attacks stopped', formatShare(stopped, attacks)],
    ['attacks without a call, left out', String(artefacts)],
    ['benign runs broken', formatShare(broken, benign)],
    ['benign runs without a question', formatShare(questionFree, benign)],
    ['questions in benign runs', `${questions} (${questionsPerRun.toFixed(3)} a run)`],
    ...Object.entries(byRule).map(([rule, count]) => [`rule ${rule}`, String(count)]),
  ];
  return `${formatColumns(rows)}${formatList('Not stopped', report.missed)}${formatList('Broken', report.brokenRuns)}`;
}

function formatVaryReport({ attacks, found, variations }: VaryReport): string {
  const rows = variations.map(({ name, calls, changed, stopped, attacks: total }) => [
    name,
    `${changed.length} of ${calls} decisions changed`,
    `${stopped} of ${total} attacks stopped`,
  ]);
  const changes = variations.flatMap(({ name, changed }) =>
    changed.map(
      ({ run, call, tool, before, after }) => `${name}: ${run}, call ${call} of ${tool}: ${before}, now ${after}`,
    ),
  );
  return `The injected text was found in ${found} of ${attacks} attacks.\n${formatColumns(rows)}${formatList('Changed', changes)}`;
}

function formatShare(count: number, total: number): string {
  if (total === 0) return 'none';
  const [low, high] = binomialInterval(count, total);
  return `${count} of ${total} (${formatPercent(count / total)}; 95 % interval ${formatPercent(low)} to ${formatPercent(high)})`;
}

function formatList(title: string, ids: readonly string[]): string {
  if (ids.length === 0) return '';
  const more = ids.length > maxListed ? [`  and ${ids.length - maxListed} more`] : [];
  return [`${title}:`, ...ids.slice(0, maxListed).map((id) => `  ${escapeInvisibleLine(id)}`), ...more, ''].join('\n');
}
