// What language servers know of the code, and what an edit broke in it. They are loaded and started when they are first of use.
import { isObject, type Json, type Tool } from '../../core/index.ts';
import { codeIntelligence } from '../../tools/lsp/code-intelligence.ts';
import {
  builtInServers,
  findServerDefinition,
  parseLanguageServers,
  mergeServerDefinitions,
} from '../../tools/lsp/definition.ts';
import type { RequestServerApproval, LanguageServers, LanguageServerDefinition } from '../../tools/lsp/index.ts';
import { emptyIntegration, type Integration, type IntegrationContext } from './context.ts';

/** The tools whose results tell what they broke. */
const editTools: ReadonlySet<string> = new Set(['write_file', 'edit_file', 'apply_patch']);

/** The tool that asks language servers, and the look at every edit. */
export async function loadLanguageServers(ground: IntegrationContext): Promise<Integration> {
  const { settings, sandboxedWorkspace, sandbox } = ground;
  const user = parseLanguageServers(settings.languageServers.user, 'user');
  const project = parseLanguageServers(settings.languageServers.project, 'project');
  // What the person names comes before what a folder names, and what a folder names never takes its place.
  const own = mergeServerDefinitions(user.servers, project.servers);
  const definitions = mergeServerDefinitions(own, builtInServers);
  const later = createLazyServers(ground, definitions);
  const unable = sandbox.confine === undefined;
  return {
    ...emptyIntegration,
    tools: unable ? [] : [codeIntelligence(sandboxedWorkspace, later)],
    problems: [...user.problems, ...project.problems],
    wrapTool: (tool) => (unable || !editTools.has(tool.name) ? tool : withDiagnostics(tool, ground, later)),
    close: () => later.close(),
  };
}

/** Servers whose program code is loaded with the first of them. */
function createLazyServers(
  ground: IntegrationContext,
  definitions: readonly LanguageServerDefinition[],
): LanguageServers {
  const { sandboxedWorkspace, sandbox, trust } = ground;
  let opened: Promise<LanguageServers> | undefined;
  const servers = (): Promise<LanguageServers> =>
    (opened ??= import('../../tools/lsp/index.ts').then(({ languageServers }) =>
      languageServers(sandboxedWorkspace, {
        servers: definitions,
        builtIn: [],
        requestApproval: createServerApproval(ground),
        isApproved: async (subject, hash) =>
          trust.list().some((each) => each.subject === subject) &&
          trust.check({ subject, hash: await hash() }) === 'approved',
        // Where nothing is confined a server may know our process, and ends with it.
        ...(sandbox.confine && sandbox.name !== 'none' ? { confine: sandbox.confine } : {}),
      }),
    ));
  return {
    supports: (path) => findServerDefinition(path, definitions) !== undefined,
    open: async (path, signal) => (await servers()).open(path, signal),
    getIfReady: async (path, signal) => (await servers()).getIfReady(path, signal),
    close: async () => (await opened?.catch(() => undefined))?.close(),
  };
}

/** A tool whose result tells what it broke; where no server is for its files it is as it was. */
const withDiagnostics = (tool: Tool, { sandboxedWorkspace }: IntegrationContext, servers: LanguageServers): Tool => ({
  ...tool,
  async execute(input, context) {
    if (!getInputPaths(input).some((path) => servers.supports(path))) return tool.execute(input, context);
    const { withDiagnostics } = await import('../../tools/lsp/index.ts');
    return withDiagnostics(sandboxedWorkspace, servers)(tool).execute(input, context);
  },
});

const getInputPaths = (input: Json): readonly string[] =>
  (isObject(input) ? [input['path'], input['paths']].flat() : []).filter((path) => typeof path === 'string');

/** Puts what comes with a folder to the person, once for each content; who says no is not asked again in this session. */
function createServerApproval({ trust, prompter, sandbox }: IntegrationContext): RequestServerApproval {
  const refused = new Set<string>();
  return async (items, signal) => {
    const key = JSON.stringify(items);
    if (refused.has(key) || signal.aborted) return false;
    const how = sandbox.name === 'none' ? 'as you' : 'confined';
    const detail = items.map(({ subject, hash, why }) => `${why}:\n${subject}\nsha256 ${hash}`).join('\n');
    const yes = await prompter.confirm(
      `Start a language server that this folder has a say in? It runs ${how}.`,
      detail,
      signal,
    );
    if (yes) trust.approve(items);
    else if (!signal.aborted) refused.add(key);
    return yes;
  };
}
