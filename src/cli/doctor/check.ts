// Types of the doctor's checks: a name, and a function that tests one part and returns its status.
import type { FairleadError, Provider, Workspace } from '../../core/index.ts';
import type { Sandbox } from '../../guards/index.ts';
import type { ResolvedModel } from '../../coding-agent/models/index.ts';
import type { ModelEndpoint } from '../../coding-agent/state/index.ts';
import type { Settings } from '../../coding-agent/settings/index.ts';

/** The status of a part, and how to fix it. The members are fields of `doctor --json`. */
export type CheckResult = {
  readonly status: 'ok' | 'warn' | 'fail';
  readonly message: string;
  readonly fix?: string;
};

/** The model that is tested. */
export type TargetModel = {
  /** The endpoint of its provider; undefined for a scripted model and for the embedded model. */
  readonly endpoint: ModelEndpoint | undefined;
  /** Undefined if no model can be determined. */
  readonly model: ResolvedModel | undefined;
  /** Why the requested model cannot be used. */
  readonly error?: FairleadError;
  /** Why this model was selected. */
  readonly reason: string;
  /** Asks the provider once: returns its answer, throws the same error for every check, or returns undefined without a provider. */
  readonly testConnection: () => Promise<string | undefined>;
  /** Opens the model once. */
  readonly open: () => Promise<Provider>;
};

/** A working directory, and the sandbox of the model's commands in it. */
export type CommandSandbox = { readonly workspace: Workspace; readonly sandbox: Sandbox };

/** What a check may use. `settings`, `target` and `commandSandbox` throw if they cannot be determined; the report shows that error once. */
export type CheckContext = {
  readonly env: NodeJS.ProcessEnv;
  readonly settings: Settings;
  readonly target: () => Promise<TargetModel>;
  readonly commandSandbox: () => Promise<CommandSandbox>;
  /** The tools of the conversation; absent outside of one. */
  readonly toolNames?: readonly string[];
  readonly signal: AbortSignal;
};

/** A check of one part. */
export type DoctorCheck = {
  readonly name: string;
  /** Whether the check asks the model or its provider. */
  readonly needsNetwork?: boolean;
  run(context: CheckContext): CheckResult | Promise<CheckResult>;
};

/** The part works. */
export const ok = (message: string): CheckResult => ({ status: 'ok', message });

/** The part works in a limited way. */
export const warn = (message: string, fix: string): CheckResult => ({ status: 'warn', message, fix });

/** The part does not work. */
export const fail = (message: string, fix: string): CheckResult => ({ status: 'fail', message, fix });
