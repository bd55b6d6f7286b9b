// Language servers: a tool that queries them, and the diagnostics after an edit. Their code is loaded, and they are started, on first use.
import { FairleadError, isObject, type Json, type Tool } from '../../core/index.ts';
import {
  codeIntelligence,
  builtInServers,
  findServerDefinition,
  parseLanguageServers,
  mergeServerDefinitions,
  type RequestServerApproval,
  type LanguageServers,
  type LanguageServerDefinition,
} from '../../tools/lsp/index.ts';
import { emptyIntegration, type Integration, type IntegrationContext } from './context.ts';

/** The tools whose results contain the diagnostics of the changed files. */
const editTools: ReadonlySet<string> = new Set(['write_file', 'edit_file', 'apply_patch']);

/** Loads the tool that queries language servers, and adds diagnostics to edit tools. */
export async function loadLanguageServers(context: IntegrationContext): Promise<Integration> {
  const { settings, sandboxedWorkspace, sandbox } = context;
  const user = parseLanguageServers(settings.languageServers.user, 'user');
  const project = parseLanguageServers(settings.languageServers.project, 'project');
  // A server of the user comes before one of the project and is never replaced by it.
  const configured = mergeServerDefinitions(user.servers, project.servers);
  const definitions = mergeServerDefinitions(configured, builtInServers);
  const isUnavailable = sandbox.confine === undefined;
  const servers = isUnavailable
    ? createUnavailableServers(sandbox.name, definitions)
    : createLazyServers(context, definitions);
  return {
    ...emptyIntegration,
    tools: [codeIntelligence(sandboxedWorkspace, servers)],
    problems: [...user.problems, ...project.problems],
    wrapTool: (tool) => (isUnavailable || !editTools.has(tool.name) ? tool : withDiagnostics(tool, context, servers)),
    close: () => servers.close(),
  };
}

/** Language servers of a sandbox that cannot start them: a query is answered with the reason. */
const createUnavailableServers = (
  sandbox: string,
  definitions: readonly LanguageServerDefinition[],
): LanguageServers => ({
  supports: (path) => findServerDefinition(path, definitions) !== undefined,
  open: () =>
    Promise.reject(
      new FairleadError(
        'lsp/no-sandbox',
        sandbox === 'refused'
          ? 'Language servers are not started: there is no sandbox to confine them.'
          : `Language servers cannot run in the sandbox ${sandbox}: they need the programs of this machine.`,
        {
          blame: 'user',
          hint: 'Use bubblewrap or util-linux on Linux ("fairlead doctor" says what is missing), or --no-sandbox.',
        },
      ),
    ),
  getIfReady: async () => undefined,
  close: async () => {},
});

/** Language servers whose client code is loaded when the first one is opened. */
function createLazyServers(
  context: IntegrationContext,
  definitions: readonly LanguageServerDefinition[],
): LanguageServers {
  const { sandboxedWorkspace, sandbox, trust } = context;
  let opened: Promise<LanguageServers> | undefined;
  const servers = (): Promise<LanguageServers> =>
    (opened ??= import('../../tools/lsp/index.ts').then(({ languageServers }) =>
      languageServers(sandboxedWorkspace, {
        servers: definitions,
        builtIn: [],
        requestApproval: createServerApproval(context),
        isApproved: async (subject, hash) =>
          trust.list().some((each) => each.subject === subject) &&
          trust.check({ subject, hash: await hash() }) === 'approved',
        // Without a sandbox the server knows the id of this process and ends with it.
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

/** Adds diagnostics to the result of a tool if a server supports its files. */
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

/** Asks the user about servers that the project configures, once for each content; after a refusal they are not asked again in this session. */
function createServerApproval({ trust, prompter, sandbox }: IntegrationContext): RequestServerApproval {
  const refused = new Set<string>();
  return async (items, signal) => {
    const key = JSON.stringify(items);
    if (refused.has(key) || signal.aborted) return false;
    const confinement = sandbox.name === 'none' ? 'as you' : 'confined';
    const detail = items.map(({ subject, hash, why }) => `${why}:\n${subject}\nsha256 ${hash}`).join('\n');
    const isApproved = await prompter.confirm(
      `Start a language server that this project configures? It runs ${confinement}.`,
      detail,
      signal,
    );
    if (isApproved) trust.approve(items);
    else if (!signal.aborted) refused.add(key);
    return isApproved;
  };
}
