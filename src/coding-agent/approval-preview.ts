// Adds the preview of a call to the question of a gate: the real diff of its files, its command with the effects, or its arguments.
import {
  escapeInvisibleLine,
  isObject,
  unwrapDeferredCall,
  type ApprovalPreview,
  type Decision,
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
import { commandTools, formatApprovalTitle, parseToolName } from './approval-title.ts';

/** The decision to ask the user. */
type AskDecision = Decision & { readonly type: 'ask' };

/** What previews are created from. */
export type PreviewOptions = {
  readonly workspace: Workspace;
  readonly context: PolicyContext;
  readonly sandbox: Pick<Sandbox, 'name' | 'description'>;
  /** Removes secrets from the lines of files: a preview is recorded. */
  readonly redactor: Pick<Redactor, 'redact'>;
  /** Returns what the question shows about a call besides its input, one sentence each. */
  readonly describe?: (call: Pick<ToolCall, 'tool' | 'input'>) => Promise<readonly string[]>;
};

/** Adds the preview to the question of a gate about a call. */
export async function addPreview(decision: AskDecision, call: ToolCall, options: PreviewOptions): Promise<AskDecision> {
  const { locate } = options.context;
  const unwrapped = unwrapDeferredCall(call);
  const target = typeof unwrapped === 'string' ? call : unwrapped;
  const exact = formatExactCall(target, locate);
  const isExact = decision.question.startsWith(exact);
  const rest = isExact ? decision.question.slice(exact.length) : '';
  const { warning, notes: given } = decision.preview ?? {};
  // A gate that warns says itself what the other lines are: its warning is in the question too.
  const text = warning ? (given ?? []).join('\n') : decision.question;
  const notes = (text.startsWith(exact) ? text.slice(exact.length) : text).split('\n').filter((line) => line !== '');
  const described = (await options.describe?.(target)) ?? [];
  const created = await createPreview(target, [...described, ...notes], options);
  // Only a question of the permission gate can be answered by a rule; what a policy asks about is asked each time.
  const rules = decision.by?.kind === 'permission' ? await findGrantRules(target, options.context) : [];
  const preview: ApprovalPreview = {
    ...created,
    ...(warning ? { warning } : {}),
    ...(rules.length === 0 ? {} : { scopes: rules.map(formatGrantRule) }),
  };
  const files = preview.files?.map((file) => ({ ...file, lines: changedLines(file.diff) }));
  const question = isExact && files ? `${formatFileChange(target, locate, files)}${rest}` : decision.question;
  return { ...decision, question, preview };
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
