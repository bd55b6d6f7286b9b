// The flow policy of a coding agent: which mode it has, and one question where the permission gate asks too.
import { existsSync } from 'node:fs';
import type { Check, Gate, NamedView, Tool } from '../core/index.ts';
import { createFlowPolicy, type FlowMode, type PermissionMode } from '../guards/index.ts';
import type { AgentReviewer } from './flow/agent-reviewer.ts';
import { hasMarkedValue } from './dlp/marked-flag.ts';
import type { Settings } from './settings/index.ts';

/** What the flow policy of an agent is created from. */
export type AgentFlowOptions = {
  readonly settings: Pick<Settings, 'flowMode' | 'dirs' | 'all'>;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly cwd: string;
  readonly permissionMode: () => PermissionMode;
  /** Whether no user can be asked. */
  readonly isUnattended: boolean | undefined;
  /** The reviewer of runs without a user; false if none is configured. */
  readonly reviewer: AgentReviewer | false;
};

/** The view, the gate and the check of the policy; none if the user switched it off. */
export function createAgentFlow(options: AgentFlowOptions): {
  readonly views: readonly NamedView<unknown>[];
  readonly checks: readonly Check[];
  readonly gate?: Gate;
} {
  const { settings, tools, cwd, permissionMode, isUnattended, reviewer } = options;
  const { flowMode } = settings;
  const threshold = settings.all.get('detector.threshold')?.value;
  if (flowMode === 'off') return { views: [], checks: [] };
  // Without approvals and without a user, a question would never be answered.
  const mode = (): FlowMode => (flowMode === 'ask' && isUnattended && permissionMode() === 'auto' ? 'deny' : flowMode);
  const { view, gate, check } = createFlowPolicy({
    tools,
    roots: [cwd],
    isPrivateText: hasMarkedValue,
    mode,
    ...(typeof threshold === 'number' ? { detectorThreshold: threshold } : {}),
    declarations: async () =>
      declarationFiles(settings.dirs, cwd).some((file) => existsSync(file))
        ? (await import('./flow/declaration-files.ts')).readDeclarations(settings.dirs, cwd)
        : undefined,
    // Where a user is present, `deny` is what the user wants.
    ...(reviewer && isUnattended ? { review: reviewer.review } : {}),
  });
  return { views: [view, ...(reviewer ? [reviewer.view] : [])], checks: [check], gate };
}

/** The files with declarations, of the user and of the project. */
export const declarationFiles = ({ config }: Pick<Settings['dirs'], 'config'>, cwd: string): readonly string[] => [
  `${config}/declarations.json`,
  `${cwd}/.fairlead/declarations.json`,
];

/** Puts the flow policy behind a gate. If both ask, the user answers one question. */
export function withFlow(next: Gate, flow: Gate | undefined): Gate {
  if (!flow) return next;
  return async (call, state) => {
    const own = await next(call, state);
    if (own.type === 'deny' || own.type === 'rewrite') return own;
    const other = await flow(call, state);
    if (own.type !== 'ask' || other.type === 'deny') return other;
    // A yes to both is in the state of the policy, which then asks no more.
    if (call.granted?.some((question) => question.startsWith(`${own.question}\n`))) return other;
    const { annotations } = other;
    if (other.type !== 'ask') return annotations ? { ...own, annotations } : own;
    return {
      ...own,
      question: `${own.question}\n${other.question}`,
      ...(other.by ? { by: other.by } : {}),
      ...(other.preview ? { preview: { ...other.preview, notes: own.question.split('\n') } } : {}),
    };
  };
}
