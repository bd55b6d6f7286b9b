// `doctor --flows`: names in sentences what an injected text could do with the tools that are configured here, or in the MCP configurations of other programs.
import { escapeInvisibleLine } from '../../core/index.ts';
import { findFlowRisks, formatFlowRisks, type CollectedDeclaration } from '../../guards/flow/index.ts';
import { listKnownTools, readForeignTools } from '../../coding-agent/flow/index.ts';
import { readSettings } from '../../coding-agent/settings/index.ts';
import { print } from '../args/stdio.ts';

type Report = {
  readonly title: string;
  readonly collected: readonly CollectedDeclaration[];
  readonly unknownServers: readonly string[];
  readonly problems: readonly string[];
};

/** Prints the report of this directory, or of the named configurations. */
export async function printFlowsReport(files: readonly string[], json: boolean): Promise<number> {
  const settings = readSettings();
  const reports: Report[] = [];
  for (const file of files) reports.push({ title: file, ...(await readForeignTools(file)) });
  if (files.length === 0) {
    const { declarations, unknownServers, problems } = await listKnownTools(settings, process.cwd());
    reports.push({
      title: 'this directory',
      collected: [
        ...declarations.collected,
        ...unknownServers.map((server): CollectedDeclaration => ({
          tool: `${server}: any tool`,
          origin: 'automatic',
          declaration: { effect: 'external', inputs: {}, output: 'untrusted' },
        })),
      ],
      unknownServers,
      problems,
    });
  }
  if (json) {
    const all = reports.map(({ title, collected, unknownServers, problems }) => ({
      configuration: title,
      flow: settings.flowMode,
      ...findFlowRisks(collected),
      unknownServers,
      problems,
    }));
    print(`${JSON.stringify(files.length === 0 ? all[0] : all, undefined, 2)}\n`);
    return 0;
  }
  for (const { title, collected, unknownServers, problems } of reports) {
    print(`What an injected text could do with the tools of ${escapeInvisibleLine(title)}:\n`);
    for (const line of formatFlowRisks(findFlowRisks(collected), settings.flowMode, escapeInvisibleLine))
      print(`- ${line}\n`);
    if (unknownServers.length > 0)
      print(
        `- The tools of ${unknownServers.map(escapeInvisibleLine).join(', ')} are not known: each server counts as a source, a holder of private data and a way out.\n`,
      );
    for (const problem of problems) print(`- ${escapeInvisibleLine(problem)}\n`);
  }
  return 0;
}
