// Adds the preview of a call to the question of a gate: the real diff of its files, its command with the effects, or its arguments.
import path from 'node:path';
import {
  escapeInvisibleLine,
  isObject,
  unwrapDeferredCall,
  type ApprovalPreview,
  type Gate,
  type Json,
  type ToolCall,
  type Workspace,
} from '../core/index.ts';
import {
  describeCommand,
  findGrantRules,
  formatGrantRule,
  formatExactCall,
  formatFileChange,
  type PolicyContext,
  type Redactor,
  type Sandbox,
} from '../guards/index.ts';
import { changedLines, previewFileChange } from '../tools/index.ts';

/** What previews are created from. */
export type PreviewOptions = {
  readonly workspace: Workspace;
  readonly context: PolicyContext;
  readonly sandbox: Pick<Sandbox, 'name' | 'description'>;
  /** Removes secrets from the lines of files: a preview is recorded. */
  readonly redactor: Pick<Redactor, 'redact'>;
};

/**
 * Wraps a gate so that each of its questions has a preview. A question about a file change contains the lines that really
 * change: if the file changes before the call runs, the question is another one, and the user is asked again.
 */
export function withPreview(gate: Gate, options: PreviewOptions): Gate {
  const { locate } = options.context;
  return async (call, state) => {
    const decision = await gate(call, state);
    if (decision.type !== 'ask' || decision.preview) return decision;
    const unwrapped = unwrapDeferredCall(call);
    const target = typeof unwrapped === 'string' ? call : unwrapped;
    const exact = formatExactCall(target, locate);
    const isExact = decision.question.startsWith(exact);
    const rest = isExact ? decision.question.slice(exact.length) : '';
    const notes = (isExact ? rest : decision.question).split('\n').filter((line) => line !== '');
    const created = await createPreview(target, notes, options);
    // Only a question of the permission gate can be answered by a rule; what a policy asks about is asked each time.
    const rules = decision.by?.kind === 'permission' ? await findGrantRules(target, options.context) : [];
    const preview = rules.length === 0 ? created : { ...created, scopes: rules.map(formatGrantRule) };
    const files = preview.files?.map((file) => ({ ...file, lines: changedLines(file.diff) }));
    const question = isExact && files ? `${formatFileChange(target, locate, files)}${rest}` : decision.question;
    return { ...decision, question, preview };
  };
}

async function createPreview(
  { tool, input }: Pick<ToolCall, 'tool' | 'input'>,
  notes: readonly string[],
  { workspace, context, sandbox, redactor }: PreviewOptions,
): Promise<ApprovalPreview> {
  const title = formatApprovalTitle({ tool, input });
  const { command } = isObject(input) ? input : {};
  if (typeof command === 'string' && commandTools.has(tool))
    return { title, notes, command: await previewCommand(command, input, context, describeSandbox(tool, sandbox)) };
  const change = await previewFileChange(workspace, { tool, input });
  if (change && 'files' in change) {
    const files = change.files.map((file) => ({ ...file, diff: redactor.redact(file.diff) }));
    const [first] = files;
    const isNew = files.length === 1 && first?.change === 'create';
    return { title: isNew ? title.replace(/^(Write|Edit)/, 'Create') : title, files, notes };
  }
  const failure = change ? [`This call will change nothing: ${escapeInvisibleLine(change.failure)}`] : [];
  return { title, call: { ...parseToolName(tool), input }, notes: [...failure, ...notes] };
}

const commandTools: ReadonlySet<string> = new Set(['run_command', 'execute_sandboxed_command']);

async function previewCommand(
  line: string,
  input: Json,
  context: PolicyContext,
  sandbox: string,
): Promise<NonNullable<ApprovalPreview['command']>> {
  const { background, timeout_s: timeout } = isObject(input) ? input : {};
  return {
    line,
    folder: context.cwd,
    effects: [
      ...(background === true ? ['runs in the background'] : []),
      ...(typeof timeout === 'number' ? [`may run for ${timeout} s`] : []),
      ...(await describeCommand(line, context)),
    ],
    sandbox,
  };
}

const describeSandbox = (tool: string, { name, description }: PreviewOptions['sandbox']): string =>
  tool === 'execute_sandboxed_command'
    ? 'in a container'
    : name === 'none'
      ? `NO SANDBOX: ${description}`
      : `${name}: ${description}`;

/** The parts of the name of an MCP tool: its server and its own name. */
function parseToolName(name: string): { readonly tool: string; readonly server?: string } {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
  return server === undefined || tool === undefined ? { tool: name } : { tool, server };
}

/** Formats the question about a call in a few words: `Run this command?`, `Edit src/a.ts?`. */
export function formatApprovalTitle({ tool, input }: Pick<ToolCall, 'tool' | 'input'>): string {
  const { path: file, paths, url, command } = isObject(input) ? input : {};
  const shown = (text: Json | undefined): string => {
    const line = escapeInvisibleLine(String(text ?? ''));
    return line.length > maxTitleChars ? `…${line.slice(-maxTitleChars)}` : line;
  };
  if (commandTools.has(tool)) return formatCommandTitle(command);
  const verb = fileVerbs[tool];
  if (verb !== undefined && typeof file === 'string') return `${verb} ${shown(path.normalize(file))}?`;
  if (tool === 'apply_patch' && Array.isArray(paths))
    return paths.length === 1 ? `Patch ${shown(paths[0])}?` : `Patch ${paths.length} files?`;
  if (typeof url === 'string') return `Call ${tool} with ${shown(url)}?`;
  const { server, tool: name } = parseToolName(tool);
  return server === undefined ? `Call ${shown(tool)}?` : `Call ${shown(name)} of the MCP server ${shown(server)}?`;
}

/** The number of lines is in the title: the first line alone could be taken for all of it. */
function formatCommandTitle(command: Json | undefined): string {
  const count = typeof command === 'string' ? command.split('\n').length : 1;
  return count === 1 ? 'Run this command?' : `Run this command of ${count} lines?`;
}

const maxTitleChars = 100;

const fileVerbs: Readonly<Record<string, string>> = {
  edit_file: 'Edit',
  write_file: 'Write',
  delete_file: 'Delete',
  read_file: 'Read',
};
