// Finds the agent files of a user and of a project, with the trust that the user gave to each text.
import { hash } from 'node:crypto';
import path from 'node:path';
import { escapeInvisibleLine } from '../../core/index.ts';
import type { ContentApproval, TrustStore } from '../../guards/index.ts';
import { getAgentDirs, type AgentDir } from '../project-files/agent-dirs.ts';
import { splitFrontmatter } from '../project-files/frontmatter.ts';
import { tryRealPath, type FileProblem } from '../project-files/paths.ts';
import { boundaryError, collectFiles, type ProjectLocation } from '../project-files/search-dirs.ts';
import { readTextFile } from '../project-files/text-file.ts';
import { parseAgentFile } from './parse-agent-file.ts';
import { isRefusal, type Refusal } from './read-fields.ts';
import type { AgentFile, AgentFiles, AgentFileStatus } from './types.ts';

const maxAgents = 200;
/** Files that are opened, whether they can be used or not. */
const maxOpenedFiles = 400;
const maxAgentBytes = 65_536;
/** The frontmatter of all files together: 16 kB of it can take a quarter of a second to parse. */
const maxFrontmatterChars = 500_000;
const maxProblems = 100;
const maxDepth = 3;

/** What agent files are read with: the approvals of the user. */
export type AgentFileOptions = { readonly trust: Pick<TrustStore, 'check'> };

/** Finds the agent files for a working directory. The first of two files with one name counts; the other is reported. */
export async function findAgentFiles(location: ProjectLocation, { trust }: AgentFileOptions): Promise<AgentFiles> {
  const problems: FileProblem[] = [];
  const byName = new Map<string, AgentFile>();
  const seen = new Set<string>();
  const remaining = { frontmatterChars: maxFrontmatterChars };
  for (const dir of getAgentDirs(location))
    for (const { name } of collectFiles(dir.folder, maxDepth, maxOpenedFiles, problems)) {
      const file = path.join(dir.folder, name);
      const real = tryRealPath(file);
      const fileName = getFileName(name, dir);
      if (fileName === undefined || real === undefined || seen.has(real)) continue;
      seen.add(real);
      const agent =
        seen.size > maxOpenedFiles
          ? { why: `was left out: there are more than ${maxOpenedFiles} agent files` }
          : await readAgentFile(file, fileName, dir, trust, remaining);
      const earlier = isRefusal(agent) ? undefined : byName.get(agent.name);
      if (isRefusal(agent)) problems.push({ path: file, why: agent.why });
      else if (earlier) problems.push({ path: file, why: `is hidden by the agent ${agent.name} in ${earlier.file}` });
      else if (byName.size >= maxAgents)
        problems.push({ path: file, why: `was left out: there are more than ${maxAgents} agents` });
      else byName.set(agent.name, agent);
    }
  return {
    agents: [...byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    problems: toShownProblems(problems),
  };
}

/** The first problems, without control characters: the names of files and errors of the file system can have them. */
function toShownProblems(problems: readonly FileProblem[]): readonly FileProblem[] {
  const shown = problems.slice(0, maxProblems).map((problem) => ({
    path: escapeInvisibleLine(problem.path),
    why: escapeInvisibleLine(problem.why),
  }));
  const hidden = problems.length - shown.length;
  return hidden > 0 ? [...shown, { path: 'agent files', why: `${hidden} more cannot be used` }] : shown;
}

/** The name without the extension; undefined if the file is not an agent file. */
function getFileName(name: string, { format }: AgentDir): string | undefined {
  const [, base] = (format === 'github' ? /^(.*?)(?:\.agent)?\.md$/i : /^(.*)\.md$/i).exec(name) ?? [];
  return base === undefined || /(?:^|\/)README$/i.test(base) ? undefined : base;
}

async function readAgentFile(
  file: string,
  fileName: string,
  dir: AgentDir,
  trust: AgentFileOptions['trust'],
  remaining: { frontmatterChars: number },
): Promise<AgentFile | Refusal> {
  const outside = boundaryError(dir, file);
  if (outside) return outside;
  const read = readTextFile(file, maxAgentBytes);
  if ('wrong' in read) return read;
  if (read.cut) return { why: `has ${read.size} bytes; an agent file may have ${maxAgentBytes}` };
  remaining.frontmatterChars -= splitFrontmatter(read.text).yaml?.length ?? 0;
  if (remaining.frontmatterChars < 0)
    return { why: `was left out: all agent files have more than ${maxFrontmatterChars} characters of frontmatter` };
  const definition = await parseAgentFile(read.text, { format: dir.format, fileName });
  if (isRefusal(definition)) return definition;
  const textHash = hash('sha256', read.text);
  const { scope, format } = dir;
  const status = scope === 'personal' ? 'trusted' : getTrust(trust, { file, hash: textHash });
  return { ...definition, file, scope, format, text: read.text, hash: textHash, status };
}

function getTrust(trust: AgentFileOptions['trust'], agent: Pick<AgentFile, 'file' | 'hash'>): AgentFileStatus {
  const status = trust.check(toAgentApproval(agent));
  if (status === 'approved') return 'trusted';
  return trust.check(toAgentRefusal(agent)) === 'approved' ? 'refused' : status;
}

/** The approval of an agent file: it holds for this text only. */
export const toAgentApproval = ({ file, hash: textHash }: Pick<AgentFile, 'file' | 'hash'>): ContentApproval => ({
  subject: `agent ${file}`,
  hash: textHash,
});

/** The refusal of an agent file, which is stored as an approval is: the user is asked once about each text. */
export const toAgentRefusal = (agent: Pick<AgentFile, 'file' | 'hash'>): ContentApproval => {
  const { subject, hash: textHash } = toAgentApproval(agent);
  return { subject: `refused ${subject}`, hash: textHash };
};
