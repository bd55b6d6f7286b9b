// The code_intelligence tool: definitions, references, types, outlines, diagnostics and rename previews from language servers.
import { toolOutput, type Json, type ToolOutput, type Tool, type Workspace } from '../../core/index.ts';
import type { LspAction } from './actions.ts';
import type { CodeQuery } from './request-target.ts';
import type { LanguageServers } from './servers.ts';

const actionNames: readonly LspAction[] = [
  'definition',
  'references',
  'hover',
  'symbols',
  'diagnostics',
  'rename_preview',
];

/** Creates the code_intelligence tool. It is deferred. */
export const codeIntelligence = (workspace: Workspace, servers: LanguageServers): Tool => ({
  name: 'code_intelligence',
  description:
    'Ask what code means: definitions, references, types, problems. It knows where a name is defined, all its references, its type and documentation (hover), the symbols of a file or project, the problems of a file (diagnostics), and what a rename would change. Give a line and column, or just the symbol; lines and columns start at 1. Nothing is changed.',
  input: {
    type: 'object',
    properties: {
      action: { type: 'string', enum: actionNames },
      path: { type: 'string', description: 'The file; for a symbol of the whole project, a folder is enough.' },
      line: { type: 'integer', minimum: 1 },
      column: { type: 'integer', minimum: 1 },
      symbol: { type: 'string', minLength: 1, maxLength: 200, description: 'A name like run or Server.run.' },
      new_name: { type: 'string', minLength: 1, maxLength: 200, description: 'For rename_preview.' },
    },
    required: ['action', 'path'],
    additionalProperties: false,
  },
  effect: 'read',
  untrustedOutput: true,
  deferred: true,
  async execute(input, { signal }) {
    const { action, ...asked } = input as { readonly action: LspAction } & CodeQuery;
    const [{ lspActions }, { resolveTarget }] = await Promise.all([
      import('./actions.ts'),
      import('./request-target.ts'),
    ]);
    const { requiredProvider, run } = lspActions[action];
    const target = await resolveTarget(workspace, servers, asked, signal);
    const { capabilities, name } = target.server.connection;
    if (!capabilities[requiredProvider] && requiredProvider !== 'diagnosticProvider')
      return failedOutput(`The language server ${name} does not support ${action}.`);
    const answer = await run({ ...target, workspace, query: asked, signal });
    if (typeof answer === 'string') return failedOutput(answer);
    return toolOutput({
      text: answer.text,
      data: { action, server: name, ...(answer.data as { readonly [key: string]: Json }) },
    });
  },
});

const failedOutput = (text: string): ToolOutput => toolOutput({ failed: true, text });
