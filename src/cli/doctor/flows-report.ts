// `doctor --flows`: names in sentences what an injected text could do with the tools that are configured here, or in the MCP configurations of other programs.
import { escapeInvisibleLine } from '../../core/index.ts';
import { findFlowRisks, formatFlowRisks, type CollectedDeclaration } from '../../guards/flow/index.ts';
import { declareServers, findDeniedTools, listKnownTools, readForeignTools } from '../../coding-agent/flow/index.ts';
import { readSettings } from '../../coding-agent/settings/index.ts';
import { print } from '../args/stdio.ts';

type Report = {
  readonly title: string;
  readonly collected: readonly CollectedDeclaration[];
  readonly unknownServers: readonly string[];
  /** Tools that a policy file denies by name. */
  readonly denied?: readonly string[];
  readonly problems: readonly string[];
};

/** Prints the report of this directory, or of the named configurations. */
export async function printFlowsReport(files: readonly string[], json: boolean): Promise<number> {
  const settings = readSettings();
  const cwd = process.cwd();
  const reports: Report[] = [];
  for (const file of files) reports.push({ title: file, ...(await readForeignTools(file)) });
  if (files.length === 0) {
    const { declarations, servers, unknownServers: names, problems } = await listKnownTools(settings, cwd);
    const { collected, unknownServers } = await declareServers(servers.filter(({ name }) => names.includes(name)));
    const all = [...declarations.collected, ...collected];
    const denied = await findDeniedTools(
      settings,
      cwd,
      all.map(({ tool }) => tool),
    );
    reports.push({
      title: 'this directory',
      collected: all.filter(({ tool }) => !denied.includes(tool)),
      unknownServers,
      denied,
      problems,
    });
  }
  if (json) {
    const all = reports.map(({ title, collected, unknownServers, denied = [], problems }) => ({
      configuration: title,
      flow: settings.flowMode,
      ...findFlowRisks(collected),
      unknownServers,
      denied,
      problems,
    }));
    print(`${JSON.stringify(files.length === 0 ? all[0] : all, undefined, 2)}\n`);
    return 0;
  }
  for (const { title, collected, unknownServers, denied = [], problems } of reports) {
    print(`What an injected text could do with the tools of ${escapeInvisibleLine(title)}:\n`);
    for (const line of formatFlowRisks(findFlowRisks(collected), settings.flowMode, escapeInvisibleLine))
      print(`- ${line}\n`);
    if (unknownServers.length > 0)
      print(
        `- The tools of ${unknownServers.map(escapeInvisibleLine).join(', ')} are not known: each server counts as a source, a holder of private data and a way out.\n`,
      );
    if (denied.length > 0)
      print(`- Your policy denies ${denied.map(escapeInvisibleLine).join(', ')}: left out above.\n`);
    for (const problem of problems) print(`- ${escapeInvisibleLine(problem)}\n`);
  }
  return 0;
}
